//! `follow` and `batch`.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{World, has_desktop};

/// A task that the HostAgent finishes or fails itself, depending on the request.
const ALONE: &str = r#"
[[turn]]
title = "say how it ends"
agent = "HostAgent"
expect = 'Request|request'
reply = '''
{"observation": "an empty desktop", "thought": "{{var "why"}}", "status": "{{var "status"}}", "result": "{{var "why"}}"}
'''
"#;

fn results(world: &World, id: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(world.path().join(format!("tasks/results/{id}.json"))).unwrap())
        .unwrap()
}

#[test]
fn batch_runs_in_parallel_and_resumes() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("turns.toml", ALONE);
    world.file("tasks/one.txt", "look at the desktop\n");
    world.file("tasks/two.json", r#"{"request": "look again", "limits": {"steps_max": 5}}"#);
    world.file("tasks/notes.md", "no task");
    let batch = |more: &[&str]| {
        let mut command = world.command(&[
            "batch",
            "--trust",
            "tasks",
            "--model",
            "script:turns.toml",
            "--desktop",
            "virtual",
        ]);
        command.args(["--script-var", "status=FINISH", "--script-var", "why=seen"]).args(more);
        world.shown(&command.output().unwrap())
    };
    let shown = batch(&["--parallel", "2"]);
    assert!(shown.starts_with("exit 0\n") && shown.contains("2 of 2 finished"), "{shown}");
    for (id, request) in [("one", "look at the desktop"), ("two", "look again")] {
        let result = results(&world, id);
        assert_eq!(
            (&result["outcome"], &result["request"]),
            (&"finished".into(), &request.into()),
            "{result}"
        );
        assert_eq!(
            (&result["steps"], &result["model_calls"], &result["exit_code"]),
            (&1.into(), &1.into(), &0.into())
        );
        assert!(fs::metadata(result["session_path"].as_str().unwrap()).unwrap().is_dir());
    }
    assert!(batch(&[]).starts_with("exit 2\n"), "results are never written over");

    // A new task and one that ended in an error run; the others are skipped.
    world.file("tasks/three.txt", "look a third time");
    let broken = fs::read_to_string(world.path().join("tasks/results/two.json")).unwrap();
    world.file("tasks/results/two.json", &broken.replace("\"finished\"", "\"error\""));
    let shown = batch(&["--resume", "--json"]);
    assert!(shown.starts_with("exit 0\n") && shown.contains("3 of 3 finished"), "{shown}");
    let lines: Vec<Value> = shown
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["result", "result", "batch_summary"]);
    assert_eq!((&lines[2]["tasks"], &lines[2]["left_out"]), (&3.into(), &1.into()), "{}", lines[2]);
    assert_eq!(results(&world, "two")["outcome"], "finished");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn batch_with_a_failure_has_a_negative_exit_code() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("turns.toml", ALONE);
    world.file("tasks.jsonl", "{\"request\": \"reach the moon\", \"id\": \"moon\"}\n");
    let mut command = world.command(&[
        "batch",
        "--trust",
        "tasks.jsonl",
        "--model",
        "script:turns.toml",
        "--desktop",
        "virtual",
    ]);
    command.args(["--script-var", "status=FAIL", "--script-var", "why=it is too far", "-q"]);
    let shown = world.shown(&command.output().unwrap());
    assert!(shown.starts_with("exit 1\n") && shown.contains("0 of 1 finished"), "{shown}");
    let result = fs::read_to_string(world.path().join("tasks.jsonl.results/moon.json")).unwrap();
    assert!(result.contains("it is too far"), "{result}");
}

#[test]
fn invalid_tasks_are_reported_before_anything_starts() {
    let world = World::new();
    world.file("turns.toml", ALONE);
    world.file("plan.json", r#"{"task": "write", "steps": "type"}"#);
    world.file("tasks/one.json", r#"{"request": "read it", "open": ["gone.odt"]}"#);
    let run = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        world.shown(
            &command
                .args([
                    "--model",
                    "script:turns.toml",
                    "--script-var",
                    "status=FAIL",
                    "--script-var",
                    "why=x",
                ])
                .output()
                .unwrap(),
        )
    };
    assert_snapshot!(run(&["follow", "--trust", "plan.json"]), @r#"
    exit 2
    --- error
    error: `steps` in plan.json is not valid: invalid type: string "type", expected a sequence at line 1 column 33
    help: see `deskhand batch --help` and `deskhand follow --help` for the fields
    "#);
    assert_snapshot!(run(&["follow", "--trust", "none.json"]), @r"
    exit 1
    --- error
    error: failed to read none.json: No such file or directory (os error 2)
    help: check the path; nothing was started
    ");
    assert_snapshot!(run(&["batch", "--trust", "tasks"]), @r"
    exit 1
    --- error
    tasks is not trusted: somebody else made it, or it was changed since. What it does:
      Asks agents
        read it
      Starts and opens
        gone.odt (tasks/one.json)
    error: tasks/one.json: failed to open tasks/gone.odt: No such file or directory (os error 2)
    help: check the path; nothing was started
    ");
    assert_snapshot!(run(&["batch", "--trust", "tasks", "--parallel", "2", "--desktop", "current"]), @r"
    exit 1
    --- error
    error: no display to work on: neither WAYLAND_DISPLAY nor DISPLAY is set
    help: use a private desktop with `--desktop virtual`, or run this in a graphical session
    ");
}

const STEPS: &str = r#"
[[turn]]
title = "the first step"
agent = "AppAgent"
expect = ['type the greeting', 'letter.txt']
reply = '''
{"observation": "an empty letter", "thought": "type it", "status": "FINISH", "result": "greeted",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "Dear Ada,"}}]}
'''

[[turn]]
title = "the second step"
agent = "AppAgent"
expect = ['type the name', 'Dear Ada,']
reply = '''
{"observation": "the greeting", "thought": "type it", "status": "FINISH", "result": "signed",
 "action": [{"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": " yours, Ben"}}]}
'''

[[turn]]
title = "judge"
agent = "HostAgent"
reply = '''
{"observation": "the letter", "thought": "all steps are done", "status": "FINISH", "result": "both steps are done"}
'''
"#;

#[test]
fn plan_is_followed_step_by_step_in_its_document() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("turns.toml", STEPS);
    world.file("plans/letter.txt", "");
    let plan = r#"{"task": "write a letter", "steps": ["type the greeting", "type the name"], "object": "letter.txt", "close": true}"#;
    world.file("plans/letter.json", plan);
    let follow = |what: &str| {
        let mut command = world.command(&[
            "follow",
            "--trust",
            what,
            "--model",
            "script:turns.toml",
            "--desktop",
            "virtual",
        ]);
        world.shown(&command.output().unwrap())
    };
    let shown = follow("plans/letter.json");
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    let (first, second) = (shown.find("Dear Ada,").unwrap(), shown.find("yours, Ben").unwrap());
    assert!(first < second, "{shown}");
    assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"));

    // A folder: each plan in its own session.
    world.file("plans/other.txt", "");
    world.file("plans/other.json", &plan.replace("letter.txt", "other.txt"));
    let shown = follow("plans");
    // The script is written for the letter, so the other plan ends in an error and the table says so.
    assert!(shown.starts_with("exit 1\n") && shown.contains("1 of 2 finished"), "{shown}");
    assert_eq!(world.run(&["sessions"]).matches("write a letter").count(), 3, "{}", world.run(&["sessions"]));
    assert_eq!(world.orphans(), Vec::<String>::new());
}
