//! Scripts of sessions, and what their journals say, read from the disk without code of the product.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// A mark that stands in the thought of one step and nowhere else.
pub(super) fn mark(session: usize, step: usize) -> String {
    format!("mark-{session}-{step}.")
}

/// Writes a script that types a word into an editor in each of so many steps, and says a mark with it.
pub(super) fn script(home: &Path, session: usize, steps: usize) -> Result<PathBuf> {
    let mut script = String::new();
    let mut turn = |agent: &str, reply: &Value| {
        let reply = reply.to_string().replace("@text@", "{{element \"text\" \"\"}}");
        let _ = write!(script, "[[turn]]\nagent = \"{agent}\"\nreply = '''\n{reply}\n'''\n\n");
    };
    turn(
        "HostAgent",
        &json!({"thought": "open the editor", "status": "ASSIGN", "current_subtask": "type the words",
            "function": "launch_application", "arguments": {"name": "mousepad"}}),
    );
    for step in 1..=steps {
        let action =
            json!([{"function": "type_text", "arguments": {"id": "@text@", "text": format!("w{step} ")}}]);
        turn("AppAgent", &json!({"thought": mark(session, step), "status": "CONTINUE", "action": action}));
    }
    turn("AppAgent", &json!({"thought": "done", "status": "FINISH", "result": "typed"}));
    turn("HostAgent", &json!({"thought": "done", "status": "FINISH", "result": "typed"}));
    let file = home.join(format!("session-{session}-{steps}.toml"));
    fs::write(&file, script).context("write a script")?;
    Ok(file)
}

/// The records of a session that are whole on the disk.
pub(super) fn records(sessions: &Path, id: &str) -> Vec<Value> {
    let journal = fs::read_to_string(sessions.join(id).join("journal.jsonl")).unwrap_or_default();
    journal.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The number of a record.
pub(super) fn seq(record: &Value) -> u64 {
    record.get("seq").and_then(Value::as_u64).unwrap_or_default()
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// How the session ended, if it did.
pub(super) fn outcome(records: &[Value]) -> Option<String> {
    let end = records.iter().rfind(|record| text(record, "/record/effect/want") == "finish")?;
    let part = |name: &str| text(end, &format!("/record/effect/outcome/{name}")).to_owned();
    Some(part("kind") + ": " + &part("reason"))
}

/// Returns `true` if nothing more will be recorded.
pub(super) fn has_ended(records: &[Value]) -> bool {
    records.last().is_some_and(|record| text(record, "/record/event/came") == "ended")
}

/// When each question to the model was recorded, in milliseconds: one a step.
pub(super) fn asked_ms(records: &[Value]) -> Vec<u64> {
    let asked = records.iter().filter(|record| text(record, "/record/effect/want") == "ask");
    asked.filter_map(|record| record.get("at_ms").and_then(Value::as_u64)).collect()
}

/// Writes a script that asks its user a question in each of so many steps.
pub(super) fn asking_script(home: &Path, steps: usize) -> Result<PathBuf> {
    let mut script = String::new();
    let mut turn = |agent: &str, reply: &Value| {
        let _ = write!(script, "[[turn]]\nagent = \"{agent}\"\nreply = '''\n{reply}\n'''\n\n");
    };
    turn(
        "HostAgent",
        &json!({"thought": "open the editor", "status": "ASSIGN", "current_subtask": "ask",
            "function": "launch_application", "arguments": {"name": "mousepad"}}),
    );
    for step in 1..=steps {
        turn(
            "AppAgent",
            &json!({"thought": format!("ask {step}"), "status": "PENDING", "questions": [format!("Question {step}?")]}),
        );
    }
    let file = home.join("asking.toml");
    fs::write(&file, script).context("write a script")?;
    Ok(file)
}
