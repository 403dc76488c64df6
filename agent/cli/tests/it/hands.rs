//! A person takes over on a real desktop, works with hands of another process, and hands back: the next question to the model has what they
//! did and what came of it.

use std::{fs, path::Path, thread::park_timeout, time::Duration};

use deskhand_desktop_linux::DesktopHandle;
use serde_json::{Value, json};

use crate::{
    passwords::no_file_has_it,
    support::{World, has_programs},
    talk::Program,
};

const FORM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/secrets/login.py");
const PASSWORD: &str = "hunter2-Zaun&7";
/// How long a person looks before the next click.
const GLANCE: Duration = Duration::from_millis(600);

const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"thought": "start the form", "status": "CONTINUE",
 "function": "launch_application", "arguments": {"name": "/usr/bin/python3", "files": ["-B", "{{var "form"}}", "{{var "log"}}"]}}
'''

[[turn]]
agent = "HostAgent"
expect = 'Log in'
reply = '{"thought": "go on", "status": "ASSIGN", "current_subtask": "log in", "control_label": "{{window "Log in"}}"}'

[[turn]]
agent = "AppAgent"
reply = '{"thought": "I know no name", "status": "PENDING", "questions": ["Who are you?"]}'

[[turn]]
agent = "AppAgent"
expect = ['what the user did', 'ada-by-hand']
reply = '''
{"thought": "send it", "status": "CONTINUE", "action": [
 {"function": "click_element", "arguments": {"id": "{{element "push button" "Send"}}", "name": "Send"}}]}
'''

[[turn]]
agent = "AppAgent"
expect = 'Welcome'
reply = '{"thought": "done", "status": "FINISH", "result": "logged in"}'

[[turn]]
agent = "HostAgent"
expect = 'FINISHED'
reply = '{"thought": "done", "status": "FINISH", "result": "logged in"}'
"#;

/// The only session of a world.
fn session(world: &World) -> std::path::PathBuf {
    let folders = fs::read_dir(world.store().root()).unwrap().map(|entry| entry.unwrap().path());
    folders.into_iter().find(|folder| folder.join("journal.jsonl").is_file()).unwrap()
}

/// How programs reach the desktop of a session.
fn desktop_of(session: &Path) -> DesktopHandle {
    let note: Value = serde_json::from_slice(&fs::read(session.join("desktop.json")).unwrap()).unwrap();
    serde_json::from_value(note["handle"].clone()).unwrap()
}

/// Acts with the mouse and keyboard of another process, and looks at what comes of it.
fn acts(world: &World, desktop: &DesktopHandle, arguments: &[&str]) {
    let mut command = world.command(&["act", "--window", "Log in"]);
    command.args(arguments).envs(desktop.variables()).env("DESKHAND__DESKTOP__KIND", "current");
    let shown = world.shown(&command.output().unwrap());
    assert!(!shown.contains("error:"), "{arguments:?}: {shown}");
    park_timeout(GLANCE);
}

/// The questions to a model, each as one text.
fn questions(journal: &str) -> Vec<String> {
    let records = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let asked = records.filter(|line| line["record"]["effect"]["want"] == "ask");
    let texts = |line: Value| -> String {
        let messages = line["record"]["effect"]["request"]["messages"].as_array().unwrap().clone();
        let parts = messages.iter().flat_map(|message| message["parts"].as_array().unwrap().clone());
        parts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect::<Vec<_>>().join("\n")
    };
    asked.map(texts).collect()
}

#[test]
fn what_is_typed_by_hand_is_told_and_the_password_never() {
    if !has_programs(&["python3"]) {
        return;
    }
    let world = World::new();
    let log = world.file("oracle/log.json", "");
    world.file("turns.toml", TURNS);
    world.configure("[people]\napprovals = \"all\"\n");
    let mut command =
        world.command(&["run", "log in", "--model", "script:turns.toml", "--desktop", "virtual", "--json"]);
    command.args([
        "--script-var",
        &format!("form={FORM}"),
        "--script-var",
        &format!("log={}", log.display()),
    ]);
    let mut program = Program::start(command);
    let asked = program.wait_for("questions");
    program.say(&json!({"do": "say", "text": "my name starts with a"}));
    program.say(&json!({"do": "take_over"}));
    assert_eq!(program.wait_for("withdrawn")["id"], asked["id"]);
    let taken = program.wait_for("taken_over");
    assert_eq!(taken["watched"], true, "{taken}");

    let folder = session(&world);
    let desktop = desktop_of(&folder);
    acts(&world, &desktop, &["click", "User"]);
    acts(&world, &desktop, &["type", "ada-by-hand"]);
    acts(&world, &desktop, &["click", "Password"]);
    acts(&world, &desktop, &["type", PASSWORD]);
    program.say(&json!({"do": "hand_back", "note": "I am logged in as soon as it is sent"}));
    program.wait_for("handed_back");
    let again = program.wait_for("questions");
    assert_ne!(again["id"], asked["id"], "what was asked before cannot be answered any more");
    program.say(&json!({"do": "answer", "id": again["id"], "answers": ["Ada"]}));
    let summary = program.wait_for("summary");
    let journal = fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let handed = journal.lines().find(|line| line.contains("\"came\":\"handed_back\"")).unwrap();
    assert_eq!(summary["outcome"], "finished", "{summary}\n{handed}");
    program.end();

    // The form got what the person typed, and the agent only pressed the button.
    let arrived: Value = serde_json::from_str(&fs::read_to_string(&log).unwrap()).unwrap();
    assert_eq!(arrived, json!({"user": "ada-by-hand", "password": PASSWORD, "token": ""}));
    let calls = journal.lines().filter(|line| line.contains("\"want\":\"call\""));
    assert!(calls.into_iter().all(|line| !line.contains("type_text") && !line.contains("set_value")));

    let questions = questions(&journal);
    let next = questions.iter().find(|text| text.contains("took over")).expect("the model is told");
    let did = next.split("and did this themselves:").nth(1).unwrap().split("</untrusted").next().unwrap();
    assert!(did.contains("ada-by-hand") && did.contains("User"), "{did}");
    assert!(did.contains("a password was typed into “Password”"), "{did}");
    let shows = |line: &str| {
        line.trim_start().starts_with('[') && line.contains("\"User\"") && line.contains("ada-by-hand")
    };
    assert!(next.lines().any(shows), "the new state: {next}");
    for said in ["my name starts with a", "I am logged in as soon as it is sent"] {
        assert!(next.contains(said), "{said} in {next}");
    }
    for arguments in [&["replay", "last"][..], &["verify", "last"]] {
        assert!(world.run(arguments).starts_with("exit 0\n"), "{arguments:?}");
    }
    let story = world.run(&["show", "last"]);
    assert!(story.contains("ada-by-hand") && story.contains("my name starts with a"), "{story}");
    assert!(!journal.contains("hunter2"), "the title of the window has it at the end");
    no_file_has_it(world.path(), &log);
    assert_eq!(world.orphans(), Vec::<String>::new());
}
