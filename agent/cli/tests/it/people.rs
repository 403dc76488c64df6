//! The user of a request, on a terminal or over JSON lines: questions, approvals, pause, stop, conversations.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    support::{World, has_desktop},
    talk::{Program, Terminal},
};

/// An agent that asks for the greeting, wants approval before it types, and is approved at the second attempt.
pub(crate) const GREETING: &str = r#"
[[turn]]
title = "launch the editor"
agent = "HostAgent"
expect = 'write the greeting'
reply = '''
{"observation": "an empty desktop", "thought": "the editor is not open", "status": "ASSIGN",
 "current_subtask": "type the greeting", "function": "launch_application", "arguments": {"name": "mousepad"}}
'''

[[turn]]
title = "ask"
agent = "AppAgent"
expect = 'window "Untitled'
reply = '''
{"observation": "an empty document", "thought": "I do not know the greeting", "status": "PENDING",
 "questions": [{"question": "Which greeting?", "choices": ["Hello", "Guten Tag"], "default": "Hello"},
               {"question": "To whom?", "required": true}]}
'''

[[turn]]
title = "want approval"
agent = "AppAgent"
expect = ['Guten Tag', 'Ada']
reply = '''
{"observation": "an empty document", "thought": "typing changes the document", "status": "CONFIRM",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "Guten Tag, Ada"}}]}
'''

[[turn]]
title = "want approval of what was said instead"
agent = "AppAgent"
expect = 'write it in capitals'
reply = '''
{"observation": "an empty document", "thought": "the user wants capitals", "status": "CONFIRM",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "GUTEN TAG, ADA"}}]}
'''

[[turn]]
title = "want approval of the like of it"
agent = "AppAgent"
expect = 'GUTEN TAG, ADA'
reply = '''
{"observation": "the greeting", "thought": "a mark is missing", "status": "CONFIRM",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "!"}}]}
'''

[[turn]]
title = "typed"
agent = "AppAgent"
expect = 'ADA!'
reply = '''
{"observation": "it stands there", "thought": "done", "status": "FINISH", "result": "typed"}
'''

[[turn]]
title = "done"
agent = "HostAgent"
expect = 'FINISHED'
reply = '''
{"observation": "it stands there", "thought": "all done", "status": "FINISH", "result": "the greeting is written"}
'''

[[turn]]
title = "the second request knows the first"
agent = "HostAgent"
expect = ['say it again', 'write the greeting']
reply = '''
{"observation": "the editor", "thought": "I remember", "status": "FINISH", "result": "GUTEN TAG, ADA!"}
'''
"#;

/// How often the agent tries another action before the script ends.
const TRIES: usize = 25;

fn run(world: &World, arguments: &[&str]) -> Command {
    let mut turns = GREETING.to_owned();
    // A long request: one try per step, each different, so that it does not count as repetition.
    for number in 1..=TRIES {
        turns.push_str(&format!(
            r#"
[[turn]]
title = "try {number}"
agent = "HostAgent"
expect = 'look around'
reply = '''
{{"observation": "the editor", "thought": "not yet", "status": "CONTINUE", "function": "launch_application",
 "arguments": {{"name": "no-such-program-{number}"}}}}
'''
"#
        ));
    }
    world.file("turns.toml", &turns);
    // A program that is no application is asked about otherwise.
    world.configure("[[policy.rules]]\nlabel = \"no-such-program-*\"\ndecision = \"allow\"\n");
    let mut command = world.command(&["run", "--model", "script:turns.toml", "--desktop", "virtual"]);
    command.args(arguments);
    command
}

#[test]
fn program_controls_a_session_over_json_lines() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let mut program = Program::start(run(&world, &["--json", "--quiet"]));
    // An invalid line is answered with an error and has no other effect.
    for (number, bad) in
        ["garbage", "{\"do\": \"dance\"}", "{\"do\": \"answer\", \"id\": 7, \"answers\": []}"]
            .into_iter()
            .enumerate()
    {
        program.write(bad);
        let error = program.wait_for("error");
        assert_eq!(error["line"], number + 1, "{error}");
    }
    program.wait_for("awaiting_request");
    program.say(&json!({"do": "pause"}));
    program.say(&json!({"do": "request", "text": "write the greeting"}));
    assert_eq!(program.wait_for("paused")["before"], "looking at the screen");
    program.say(&json!({"do": "resume"}));
    program.wait_for("resumed");

    let asked = program.wait_for("questions");
    assert_eq!(asked["questions"][0]["choices"], json!(["Hello", "Guten Tag"]), "{asked}");
    assert_eq!((&asked["questions"][1]["required"], &asked["timeout_ms"]), (&json!(true), &Value::Null));
    program.say(&json!({"do": "answer", "id": asked["id"], "answers": ["Bonjour", "Ada"]}));
    assert!(program.wait_for("error")["message"].as_str().unwrap().contains("not one of the choices"));
    program.say(&json!({"do": "answer", "id": asked["id"], "answers": ["Guten Tag", "Ada"]}));

    let first = program.wait_for("approval");
    assert_eq!(first["actions"][0]["command"]["arguments"]["text"], "Guten Tag, Ada", "{first}");
    assert_eq!(
        (&first["actions"][0]["application"], &first["asked_by"]["by"]),
        (&json!("Mousepad"), &json!("model"))
    );
    program.say(&json!({"do": "decide", "id": asked["id"], "approve": "once"}));
    program.wait_for("error");
    let instruction = "write it in capitals";
    program.say(&json!({"do": "decide", "id": first["id"], "approve": "no", "instruction": instruction}));
    let second = program.wait_for("approval");
    assert_eq!(second["actions"][0]["command"]["arguments"]["text"], "GUTEN TAG, ADA", "{second}");
    program.say(&json!({"do": "decide", "id": second["id"], "approve": "session"}));

    // The approval covers this text alone, and said so.
    assert!(second["covers"][0].as_str().unwrap().contains("GUTEN TAG, ADA"), "{second}");
    let third = program.wait_for("approval");
    assert_eq!(third["actions"][0]["command"]["arguments"]["text"], "!", "{third}");
    program.say(&json!({"do": "decide", "id": third["id"], "approve": "once"}));

    let outcome = program.wait_for("outcome");
    assert_eq!((&outcome["round"], &outcome["outcome"]), (&json!(1), &json!("finished")), "{outcome}");
    assert_eq!(outcome["reason"], "the greeting is written");
    assert_eq!(program.count("approval"), 3);

    program.wait_for("awaiting_request");
    program.say(&json!({"do": "request", "text": "say it again"}));
    let outcome = program.wait_for("outcome");
    assert_eq!((&outcome["round"], &outcome["reason"]), (&json!(2), &json!("GUTEN TAG, ADA!")), "{outcome}");
    assert_eq!(outcome["used"]["steps"], 1, "what one request used up, not all of them: {outcome}");
    // A stop ends the request and not the session, even while it is paused.
    program.wait_for("awaiting_request");
    program.say(&json!({"do": "pause"}));
    program.say(&json!({"do": "request", "text": "look around"}));
    program.wait_for("paused");
    program.say(&json!({"do": "stop"}));
    assert_eq!(program.wait_for("outcome")["outcome"], "cancelled");
    program.wait_for("awaiting_request");
    program.say(&json!({"do": "end"}));
    let summary = program.wait_for("summary");
    assert_eq!((&summary["rounds"], &summary["outcome"]), (&json!(3), &json!("cancelled")), "{summary}");
    assert_eq!(program.end(), Some(130));
    assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"));
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn closed_input_answers_no_question_and_approves_nothing() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("turns.toml", include_str!("unattended.script.toml"));
    for arguments in [&["--json"][..], &["--ask", "never", "--approve", "none"][..]] {
        let mut command = world.command(&[
            "run",
            "write the greeting",
            "--model",
            "script:turns.toml",
            "--desktop",
            "virtual",
        ]);
        let output = command.args(arguments).output().unwrap();
        let shown = world.shown(&output);
        assert!(shown.starts_with("exit 10\n"), "{shown}");
        let story = world.run(&["show", "last"]);
        let typed = story.lines().any(|line| line.starts_with("  does") && line.contains("type_text"));
        assert!(!typed && story.contains("type_text"), "it is asked for, and not done: {story}");
    }
}

#[test]
fn questions_and_approvals_time_out() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let waits = ["write the greeting", "--json", "--question-timeout", "1"];
    let mut program = Program::start(run(&world, &waits));
    let asked = program.wait_for("questions");
    assert_eq!(asked["timeout_ms"], 1000);
    assert_eq!(program.wait_for("withdrawn")["id"], asked["id"]);
    // One of them is required: the sub-task fails. The script has no turn for that.
    assert_eq!(program.wait_for("summary")["outcome"], "error");
    let shown = world.run(&["show", "last"]);
    assert!(shown.contains("nobody answered"), "{shown}");
    assert_eq!(program.end(), Some(13));
}

#[test]
fn stop_ends_a_session_that_waits_for_an_answer() {
    if !has_desktop() {
        return;
    }
    for (signal, reason) in
        [(Signal::INT, "stopped by the user"), (Signal::TERM, "the process was told to end")]
    {
        let world = World::new();
        let mut program = Program::start(run(&world, &["write the greeting", "--json"]));
        program.wait_for("questions");
        kill_process(Pid::from_child(&program.child), signal).unwrap();
        program.wait_for("withdrawn");
        let summary = program.wait_for("summary");
        assert!(summary["reason"].as_str().unwrap().contains(reason), "{summary}");
        assert_eq!(program.end(), Some(130));
        assert_eq!(world.orphans(), Vec::<String>::new());
        assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"));
    }
}

#[test]
fn user_controls_a_session_on_a_terminal() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let mut terminal = Terminal::start(run(&world, &[]));
    terminal.wait_for("request> ");
    terminal.write("write the greeting");
    terminal.wait_for("Which greeting?");
    terminal.wait_for("2  Guten Tag");
    terminal.wait_for("[Hello] > ");
    terminal.write("2");
    terminal.wait_for("To whom?");
    terminal.write("");
    terminal.wait_for("this question needs an answer");
    terminal.write("Ada");
    terminal.wait_for("type text “Guten Tag, Ada”");
    terminal.wait_for("because");
    terminal.wait_for("typing changes the document");
    terminal.wait_for("the model (AppAgent of mousepad)");
    terminal.wait_for("> ");
    terminal.write("");
    terminal.wait_for("please answer: ");
    terminal.write("write it in capitals");
    terminal.wait_for("type text “GUTEN TAG, ADA”");
    terminal.wait_for("> ");
    terminal.write("a");
    terminal.wait_for("a approves for this session: type_text on text");
    terminal.wait_for("> ");
    terminal.write("y");
    terminal.wait_for("the greeting is written");
    terminal.wait_for("request> ");
    terminal.write("say it again");
    terminal.wait_for("GUTEN TAG, ADA!");
    terminal.wait_for("request> ");
    terminal.write("look around");
    terminal.wait_for("launch no-such-program-1");
    terminal.write("p");
    terminal.wait_for("paused");
    terminal.write("r");
    terminal.wait_for("resumed");
    // Ctrl-C ends the request; the conversation continues.
    kill_process(Pid::from_child(&terminal.child), Signal::INT).unwrap();
    terminal.wait_for("Cancelled");
    terminal.wait_for("request> ");
    terminal.write("N");
    assert_eq!(terminal.end(), Some(130));
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn requests_are_edited_completed_and_remembered() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let done = r#"{"thought": "done", "status": "FINISH", "result": "nothing to do"}"#;
    world.file("done.toml", &format!("[[turn]]\nreply = '{done}'\n").repeat(4));
    world.file("quarterly report.txt", "");
    let talk = || {
        let mut command = world.command(&["run", "--model", "script:done.toml"]);
        command.env("NO_COLOR", "1");
        Terminal::start_as("xterm", command)
    };
    let mut terminal = talk();
    // Letters are taken back, and the cursor goes to the start of the line.
    for line in ["a lost\u{7f}\u{7f}\u{7f}ist\u{1}make ", "read quart\t"] {
        terminal.wait_for("request> ");
        terminal.write(line);
        terminal.wait_for("Finished");
    }
    terminal.wait_for("request> ");
    terminal.write("N");
    assert_eq!(terminal.end(), Some(0));
    // The next conversation remembers: up, past `N` and the second request.
    let mut terminal = talk();
    terminal.wait_for("request> ");
    terminal.write("\u{1b}[A\u{1b}[A\u{1b}[A");
    terminal.wait_for("Finished");
    terminal.wait_for("request> ");
    // Ctrl-D on an empty line ends it.
    terminal.keys("\u{4}");
    assert_eq!(terminal.end(), Some(0));
    let asked = |session: &str| {
        let journal = fs::read_to_string(world.store().find(session).unwrap().journal_path()).unwrap();
        let texts = journal.split(r#""came":"requested","text":""#).skip(1);
        texts.map(|text| text.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let sessions = world.store().list().unwrap();
    let mut all: Vec<Vec<String>> = sessions.iter().map(|id| asked(&id.0)).collect();
    all.sort();
    assert_eq!(all, [vec!["make a list"], vec!["make a list", "read quarterly report.txt"]]);
    let history = world.path().join(".local/state/deskhand/history");
    assert_eq!(fs::metadata(history).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn conversation_needs_a_user() {
    let world = World::new();
    let output = run(&world, &[]).output().unwrap();
    let shown = world.shown(&output);
    assert!(shown.starts_with("exit 2\n") && shown.contains("no request, and no terminal"), "{shown}");
    if has_desktop() {
        let output = run(&world, &["--json"]).output().unwrap();
        let shown = world.shown(&output);
        assert!(shown.starts_with("exit 0\n") && shown.contains("\"rounds\":0"), "{shown}");
    }
}
