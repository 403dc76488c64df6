//! Whole requests on a virtual desktop, and what ends them from outside.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{World, has_desktop};

const EDITOR_SCRIPT: &str = r#"
[[turn]]
title = "launch the editor"
agent = "HostAgent"
expect = 'write the greeting'
reply = '''
{"observation": "an empty desktop", "thought": "the editor is not open", "status": "ASSIGN",
 "current_subtask": "type the greeting", "function": "launch_application", "arguments": {"name": "mousepad"}}
'''

[[turn]]
title = "type"
agent = "AppAgent"
expect = 'window "Untitled'
reply = '''
{"observation": "an empty document", "thought": "type it", "status": "FINISH",
 "action": [{"function": "type_text", "arguments": {"text": "{{var "greeting"}}"}}], "result": "typed"}
'''

[[turn]]
title = "done"
agent = "HostAgent"
expect = 'FINISHED'
reply = '''
{"observation": "it stands there", "thought": "all done", "status": "FINISH", "result": "the greeting is written"}
'''
"#;

#[test]
fn a_request_runs_to_its_end_and_replays() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("turns.toml", EDITOR_SCRIPT);
    let output = world
        .command(&[
            "run",
            "write the greeting",
            "--model",
            "script:turns.toml",
            "--script-var",
            "greeting=Guten Tag",
        ])
        .args(["--desktop", "virtual", "--json", "--screenshot", "end.png"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", world.shown(&output));
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        // A desktop that starts slowly is waited for before the header.
        .skip_while(|line: &Value| line["kind"] == "waiting")
        .collect();
    assert_eq!(lines[0]["kind"], "header");
    let summary = lines.last().unwrap();
    assert_eq!(summary["kind"], "summary");
    assert_eq!(summary["outcome"], "finished");
    assert_eq!(summary["reason"], "the greeting is written");
    assert_eq!((&summary["steps"], &summary["model_calls"]), (&3.into(), &3.into()));
    assert_eq!(summary["exit_code"], 0);
    for key in
        ["prompt_tokens", "desktop_start_ms", "framework_ms", "framework_ms_per_step_p50", "elapsed_ms"]
    {
        assert!(summary[key].as_u64().is_some_and(|value| value > 0), "{key} in {summary}");
    }
    let phases = &summary["phases_ms"];
    assert!(["observe", "ask", "act", "record"].iter().all(|phase| phases[phase].is_u64()), "{summary}");
    let picture = fs::metadata(world.path().join("end.png")).unwrap();
    assert_eq!(picture.permissions().mode() & 0o777, 0o600, "for its owner alone");
    assert!(std::path::Path::new(summary["session_path"].as_str().unwrap()).join("journal.jsonl").is_file());
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(progress.contains("Guten Tag") && progress.contains("\nFinished "), "{progress}");

    assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"));
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_script_that_does_not_fit_is_an_error_with_its_own_exit_code() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.file("turns.toml", EDITOR_SCRIPT);
    let shown =
        world.run(&["run", "something else", "--model", "script:turns.toml", "--script-var", "greeting=x"]);
    assert!(shown.starts_with("exit 13\n") && shown.contains("write the greeting"), "{shown}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}

/// How long a request to the model may take; an interrupted request must not wait for it.
const MODEL_TIMEOUT: Duration = Duration::from_mins(5);

/// Starts a request whose model never answers, interrupts it while it waits, and returns how it ended.
async fn interrupted(world: &World, interrupt: impl AsyncFnOnce(Pid, MockEndpoint)) -> String {
    let endpoint = MockEndpoint::start([Behaviour::Hang]).await.unwrap();
    let child: Child = world
        .command(&["run", "wait", "--model", "openai:mock", "--base-url", &endpoint.base_url()])
        .env("DESKHAND__MODEL__TIMEOUT_S", MODEL_TIMEOUT.as_secs().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&child);
    endpoint.wait_for_requests(1).await;
    let begun = Instant::now();
    interrupt(pid, endpoint).await;
    let output = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
    assert!(begun.elapsed() < MODEL_TIMEOUT, "it waited for the model: {:?}", begun.elapsed());
    world.shown(&output)
}

#[tokio::test(flavor = "multi_thread")]
async fn control_c_and_termination_end_a_request_and_leave_nothing_behind() {
    if !has_desktop() {
        return;
    }
    for (signal, reason) in
        [(Signal::INT, "stopped by the user"), (Signal::TERM, "the process was told to end")]
    {
        let world = World::new();
        let shown = interrupted(&world, async |pid, _endpoint| kill_process(pid, signal).unwrap()).await;
        assert!(shown.starts_with("exit 130\n") && shown.contains(reason), "{shown}");
        assert_eq!(world.orphans(), Vec::<String>::new());
        let story = world.run(&["show", "last"]);
        let expected = if signal == Signal::INT { "Outcome: cancelled" } else { "suspended" };
        assert!(story.contains(expected), "{story}");
        assert!(world.run(&["replay", "last"]).starts_with("exit 0\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_dies_ends_the_request_with_an_error() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    world.configure("[model]\nattempts_max = 2\n");
    let shown = interrupted(&world, async |_pid, mut endpoint| endpoint.kill().await).await;
    assert!(shown.starts_with("exit 13\n") && shown.contains("deskhand show"), "{shown}");
    assert_eq!(world.orphans(), Vec::<String>::new());
}
