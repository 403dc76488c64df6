//! What a run prints and reports for its user: comments as they come, times, where the time went, and the picture of the end.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{fs, process::Output};

use serde_json::Value;

use crate::support::{World, has_desktop};

/// How long the agent waits for something that does not come.
const WAITED_S: u64 = 4;
const SCRIPT: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"observation": "an empty desktop", "thought": "the editor is not open", "status": "ASSIGN", "comment": "I open an editor.",
 "current_subtask": "type the greeting", "function": "launch_application", "arguments": {"name": "mousepad"}}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"observation": "an empty document", "thought": "look first", "status": "CONTINUE", "comment": "I wait for a sign.",
 "action": [{"function": "wait_for", "arguments": {"name": "no such thing", "seconds": 4}}]}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"observation": "an empty document", "thought": "type it", "status": "FINISH", "result": "typed",
 "action": [{"function": "type_text", "arguments": {"text": "Guten Tag"}}]}
'''

[[turn]]
agent = "HostAgent"
reply = '{"observation": "it stands there", "thought": "all done", "status": "FINISH", "result": "written"}'
"#;

/// A run in Tokyo, and what it printed.
fn run(world: &World) -> Output {
    world.file("turns.toml", SCRIPT);
    let mut command = world.command(&["run", "greet", "--model", "script:turns.toml", "--json"]);
    let output = command.env("TZ", "Asia/Tokyo").output().unwrap();
    assert!(output.status.success(), "{}", world.shown(&output));
    output
}

/// What a later command prints in Tokyo.
fn later(world: &World, arguments: &[&str]) -> String {
    let output = world.command(arguments).env("TZ", "Asia/Tokyo").output().unwrap();
    assert!(output.status.success(), "{}", world.shown(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn comments_times_waits_and_the_end_are_told() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let output = run(&world);
    let progress = String::from_utf8_lossy(&output.stderr);
    let at = |text: &str| progress.find(text).unwrap_or_else(|| panic!("{text}: {progress}"));
    assert!(at("I open an editor.") < at("I wait for a sign."), "{progress}");
    assert!(at("I wait for a sign.") < at("Guten Tag"), "before what follows: {progress}");

    let printed = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = lines.last().unwrap();
    let ms = |key: &str| summary[key].as_u64().unwrap();
    assert!(ms("elapsed_ms") >= WAITED_S * 1_000, "{summary}");
    assert!(ms("framework_ms") + WAITED_S * 1_000 <= ms("elapsed_ms"), "a wait is no work: {summary}");

    // People read the time of their zone, programs one that does not depend on it.
    let story = later(&world, &["show", "last"]);
    assert!(story.contains(" +09:00"), "{story}");
    let sessions: Value = serde_json::from_str(&later(&world, &["sessions", "--json"])).unwrap();
    assert!(sessions.to_string().contains("Z\""), "{sessions}");

    later(&world, &["report", "last", "--format", "html", "--output", "report.html"]);
    let page = fs::read_to_string(world.path().join("report.html")).unwrap();
    assert!(page.contains(" +09:00") && page.contains(r#"class="end""#), "{} bytes", page.len());
    later(&world, &["report", "last", "--format", "markdown", "--output", "report.md"]);
    let report = fs::read_to_string(world.path().join("report.md")).unwrap();
    let picture = report.split("![At the end of request 1](").nth(1).and_then(|rest| rest.split(')').next());
    let picture = picture.unwrap_or_else(|| panic!("{report}"));
    assert!(fs::read(world.path().join(picture)).unwrap().starts_with(b"\x89PNG"), "{picture}");
}
