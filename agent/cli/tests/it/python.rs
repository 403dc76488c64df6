//! The Python client against a real service: the example of its README, and a session that is steered while the service is killed and
//! started again. What was read is compared with the journal on disk.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread::park_timeout,
    time::Duration,
};

use serde_json::Value;

use crate::{
    page::{Ending, Service},
    people::GREETING,
    support::{World, has_desktop},
};

/// The client, below this crate.
const CLIENT: &str = "../../clients/python";

fn python() -> Command {
    let mut command = Command::new("python3");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    command.env("PYTHONPATH", here.join(CLIENT).join("src")).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// A script in Python that runs, and is ended with this.
struct Script {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Script {
    fn start(name: &str, service: &Service, model: &str, records: &Path) -> Self {
        let mut command = python();
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name));
        command.arg(format!("http://{}", service.address)).args([&service.token, model]).arg(records);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits for a line that begins so, and returns what follows.
    fn waits_for(&mut self, beginning: &str) -> String {
        let mut seen = Vec::new();
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if let Some(rest) = line.strip_prefix(beginning) {
                return rest.to_owned();
            }
            seen.push(line);
        }
        panic!("the script ended without `{beginning}`: {seen:?}")
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn no_line_is_lost_or_doubled_while_the_service_is_killed() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    let model = format!("script:{}", world.file("turns.toml", GREETING).display());
    let records = world.path().join("records.jsonl");
    let service = Service::start(&world, &[]);
    let port = service.address.rsplit(':').next().unwrap().to_owned();
    let mut script = Script::start("client.py", &service, &model, &records);
    let id = script.waits_for("session ");
    let journal = world.path().join(".local/state/deskhand/sessions").join(&id).join("journal.jsonl");
    // Once while lines come, and once while it is asked something.
    script.waits_for("answered");
    service.kill();
    let service = Service::start_at(&world, &port, &[]);
    script.waits_for("asked");
    service.kill();
    let service = Service::start_at(&world, &port, &[]);
    // It is read before it is removed.
    let mut kept = fs::File::open(&journal).unwrap();
    writeln!(script.child.stdin.as_mut().unwrap(), "killed").unwrap();
    script.waits_for("done");
    assert!(script.child.wait().unwrap().success());

    let numbers = |line: String| {
        let line: Value = serde_json::from_str(&line).unwrap();
        (line["seq"].as_u64().unwrap(), line["at_ms"].as_u64().unwrap())
    };
    let read: Vec<_> =
        fs::read_to_string(&records).unwrap().lines().map(|line| numbers(line.to_owned())).collect();
    let written: Vec<_> = BufReader::new(&mut kept).lines().map(|line| numbers(line.unwrap())).collect();
    assert!(written.len() > 30, "{written:?}");
    assert_eq!(read, written, "what was read is what was written");
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}

/// How often the service is killed at most, and how many tries the session has meanwhile.
const KILLS: u32 = 50;
const TRIES: u32 = 400;

/// A turn of the HostAgent.
fn turn(more: &str) -> String {
    format!(
        "[[turn]]\nagent = \"HostAgent\"\nexpect = 'look around'\nreply = '''\n\
         {{\"observation\": \"nothing\", \"thought\": \"more\", {more}}}\n'''\n\n"
    )
}

#[test]
fn fifty_kills_lose_no_line_and_stop_no_session() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    world.configure(
        "[limits]\nsteps_max = 2000\nmodel_calls_max = 2000\n\n\
         [[policy.rules]]\nlabel = \"no-such-program-*\"\ndecision = \"allow\"\n",
    );
    let tries = (1..=TRIES).map(|number| {
        turn(&format!(
            "\"status\": \"CONTINUE\", \"function\": \"launch_application\", \
             \"arguments\": {{\"name\": \"no-such-program-{number}\"}}"
        ))
    });
    let last = turn("\"status\": \"FINISH\", \"result\": \"seen\"");
    let script = world.file("turns.toml", &tries.chain([last]).collect::<String>());
    let records = world.path().join("records");
    let mut service = Service::start(&world, &[]);
    let port = service.address.rsplit(':').next().unwrap().to_owned();
    let model = format!("script:{}", script.display());
    let mut script = Script::start("followers.py", &service, &model, &records);
    let id = script.waits_for("session ");
    let mut kills = 0;
    while kills < KILLS && script.child.try_wait().unwrap().is_none() {
        service.kill();
        service = Service::start_at(&world, &port, &[]);
        kills += 1;
        // Each time at another moment of what the session and its followers do.
        park_timeout(Duration::from_millis(u64::from(kills * 37 % 120)));
    }
    script.waits_for("done");
    assert!(kills >= KILLS / 2, "the session was over after {kills} kills: it needs more tries");
    let folder = world.path().join(".local/state/deskhand/sessions").join(&id);
    let journal = fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let written: Vec<String> = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| format!("{} {}", line["seq"], line["at_ms"]))
        .collect();
    for number in 0..3 {
        let read = fs::read_to_string(format!("{}{number}", records.display())).unwrap();
        assert_eq!(read.lines().collect::<Vec<_>>(), written, "follower {number}");
    }
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn the_example_of_the_readme_runs() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    // The same without what is refused.
    let turns: Vec<&str> = GREETING.split("[[turn]]").collect();
    let kept: Vec<String> =
        [1, 2, 3, 6, 7].iter().map(|turn| turns[*turn].replace("ADA!", "Guten Tag, Ada")).collect();
    let script = world.file("turns.toml", &format!("[[turn]]{}", kept.join("[[turn]]")));
    let service = Service::start(&world, &[]);
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(CLIENT).join("README.md")).unwrap();
    let example = readme.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let output = python()
        .args(["-c", example])
        .env("DESKHAND_URL", format!("http://{}", service.address))
        .env("DESKHAND_TOKEN", &service.token)
        .env("DESKHAND_MODEL", format!("script:{}", script.display()))
        .output()
        .unwrap();
    let (said, problem) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        said.contains("allowed: type_text") && said.contains("finished - the greeting is written"),
        "{said}{problem}"
    );
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}
