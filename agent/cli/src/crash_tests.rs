//! What a process leaves behind that crashes after a secret was read and typed.
//!
//! The test starts itself again as the process that crashes, with the panic hook and the log of the program.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use deskhand_desktop_act::{ActLimits, VeiledDesktop};
use deskhand_desktop_fake::{FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_machine::{
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord},
    session::{Effect, SessionConfig, SessionEvent},
};
use deskhand_model::Script;
use deskhand_runtime::{
    ReportFormat, SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits, agents::EnabledAgents,
    people::People, verify, write_report,
};
use deskhand_secret::{ReadValue, SecretReader, SecretValue, Secrets, Veil};
use deskhand_ui::{Role, secret::SecretPermit};
use rustix::process::{DumpableBehavior, Resource, Rlimit, dumpable_behavior, setrlimit};

/// With characters that are escaped where it is quoted.
const CANARY: &str = "Kanarie-\"7f3a\" <Käfig>";
/// A part of it that is nothing else.
const PART: &str = "Kanarie-";
/// What is to happen in the process that crashes.
const HAPPENS: &str = "DESKHAND_TEST_CRASH";
/// Its exit code where it ends by itself.
const CRASHED: i32 = 101;

const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "t", "status": "ASSIGN", "current_subtask": "log in", "control_label": "{{window "Log in"}}"}'

[[turn]]
agent = "AppAgent"
reply = '{"thought": "t", "status": "CONTINUE", "action": [{"function": "type_text", "arguments": {"id": "{{element "entry" "Token"}}", "text": "secret:shop"}}]}'

[[turn]]
agent = "AppAgent"
reply = '{"thought": "t", "status": "FINISH", "result": "typed"}'
"#;

struct Canary;

impl SecretReader for Canary {
    fn read<'a>(&'a self, _: &'a str) -> ReadValue<'a> {
        Box::pin(async { Ok(SecretValue::new(CANARY).unwrap()) })
    }
}

/// Types a secret in a session, and calls `crash` once it was typed.
fn types(place: &Path, crash: &(dyn Fn() + Sync)) {
    let store = SessionStore::at(place.join("sessions"), place.join("seals"));
    let secrets = Secrets::new(Canary, Veil::of_process());
    let field = FakeElement::new(Role::ENTRY, "Token").key("field").at(20, 100, 300, 30);
    let desktop = FakeDesktop::new(
        [FakeApp::new("Shop", "shop", [FakeWindow::normal("Log in").elements([field])])],
        [],
    );
    let desktop = VeiledDesktop::new(desktop, secrets.veil().clone());
    let tools = Toolbox::standard(ActLimits::default()).unwrap().with_secrets(secrets);
    let model = Script::parse("turns.toml", TURNS, BTreeMap::new()).unwrap();
    let permit = SecretPermit {
        name: "shop".to_owned(),
        application: "Shop".to_owned(),
        role: "entry".to_owned(),
        host: None,
        window: "*".to_owned(),
    };
    let options = SessionRunOptions {
        id: None,
        store: &store,
        desktop: &desktop,
        desktop_name: "fake".to_owned(),
        model: &model,
        tools: &tools,
        agents: EnabledAgents::default(),
        config: SessionConfig { secrets: vec![permit], ..SessionConfig::default() },
        prompts: PromptSet::default(),
        requests: vec!["log in".into()],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test 1".to_owned(),
        setup: serde_json::Value::Null,
    };
    let mut typed = false;
    let mut observer = |line: &JournalEntry| match &line.record {
        JournalRecord::Effect(record) => {
            typed |= matches!(&record.effect, Effect::Call { command } if command.tool == "type_text");
        }
        JournalRecord::Event(record) if typed && matches!(record.event, SessionEvent::Returned { .. }) => {
            tracing::error!(value = CANARY, "it was typed");
            crash();
        }
        JournalRecord::Event(_) | JournalRecord::Header(_) | JournalRecord::Changed(_) => {}
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(deskhand_runtime::run(options, &mut observer)).unwrap();
}

/// The process that crashes.
fn happens(what: &str) {
    super::start_log();
    super::hide_in_panics();
    // As large as it may be.
    setrlimit(Resource::Core, Rlimit { current: None, maximum: None }).ok();
    let place = env::current_dir().unwrap();
    let panics = |text: String| std::thread::spawn(move || panic!("{text}")).join().unwrap_err();
    match what {
        "abort without a secret" => std::process::abort(),
        "panic" => types(&place, &|| panic!("the field has {CANARY}")),
        "panic with an error" => types(&place, &|| {
            let failed = CANARY.parse::<u32>().map_err(|error| format!("{CANARY:?}: {error}"));
            failed.unwrap();
        }),
        "panic in a thread, then abort" => types(&place, &|| {
            // Or a program that collects core files would get it.
            assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
            drop(panics(format!("{CANARY} and again {CANARY}")));
            std::process::abort()
        }),
        other => panic!("{other}"),
    }
}

/// Runs this test again in a folder of its own, where it crashes.
fn crashes(what: &str) -> (Output, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "crash_tests::a_crash_shows_no_secret", "--nocapture"])
        .current_dir(place.path());
    command.env(HAPPENS, what).env("DESKHAND_LOG", "trace").env("RUST_BACKTRACE", "full");
    (command.output().unwrap(), place)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}

fn is_core(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("core"))
}

#[track_caller]
fn clean(what: &str, bytes: &[u8]) {
    let at = bytes.windows(PART.len()).position(|part| part == PART.as_bytes());
    assert_eq!(at, None, "{what}: {}", String::from_utf8_lossy(bytes));
}

#[test]
fn a_crash_shows_no_secret() {
    if let Ok(what) = env::var(HAPPENS) {
        happens(&what);
        return;
    }
    // Where core files are not collected by a program, a process without a secret leaves one.
    let (_, place) = crashes("abort without a secret");
    let leaves_cores = files(place.path()).iter().any(|file| is_core(file));
    let is_collected = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap().contains(['|', '/']);
    assert!(leaves_cores || is_collected, "no core file in {:?}", files(place.path()));

    for what in ["panic", "panic with an error", "panic in a thread, then abort"] {
        let (output, place) = crashes(what);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        clean(what, &output.stderr);
        clean(what, &output.stdout);
        assert!(errors.contains("it was typed") && errors.contains("panicked at"), "{what}: {errors}");
        assert!(errors.matches("secret:shop").count() >= 2, "{what}: {errors}");
        let is_aborted = what.ends_with("abort");
        assert_eq!(output.status.code(), Some(CRASHED).filter(|_| !is_aborted), "{what}: {errors}");

        let store = SessionStore::at(place.path().join("sessions"), place.path().join("seals"));
        let folder = store.find("last").unwrap();
        assert_eq!(verify(&folder).unwrap().findings, [], "{what}");
        for format in ReportFormat::ALL {
            write_report(&folder, format, None).unwrap();
        }
        let all = files(place.path());
        assert!(all.iter().any(|file| file.ends_with("journal.jsonl")), "{all:?}");
        for file in all {
            assert!(!is_core(&file), "{what}: {}", file.display());
            clean(&file.display().to_string(), &fs::read(&file).unwrap());
        }
    }
}
