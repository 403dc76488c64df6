//! Tasks whose effects can be counted in their documents: each types its name once.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// What the model answers: the word is typed and saved, and then the window is looked at for a while.
const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
expect = 'Write (?<what>\S+) into the note'
reply = '''
{"observation": "An editor is open.", "thought": "It can be used as it is.", "status": "ASSIGN", "current_subtask": "Type {{capture "what"}}",
 "control_label": "{{window "Mousepad"}}", "next": []}
'''

[[turn]]
agent = "AppAgent"
expect = 'Type (?<what>\S+)'
reply = '''
{"observation": "A document.", "thought": "Type, save, and see that it is saved.", "status": "FINISH", "result": "saved", "action": [
 {"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "{{capture "what"}} "}},
 {"function": "press_keys", "arguments": {"keys": "ctrl+s"}},
 {"function": "wait_for", "arguments": {"title": "Mousepad", "seconds": 60}}]}
'''

[[turn]]
agent = "HostAgent"
repeat = true
reply = '''
{"observation": "The note is written.", "thought": "Nothing is left.", "status": "FINISH", "result": "written"}
'''
"#;

/// Makes the home of somebody whose model is a script.
pub(super) fn configure(home: &Path) -> Result<()> {
    let settings = home.join(".config/deskhand");
    fs::create_dir_all(&settings)?;
    fs::write(home.join("turns.toml"), TURNS)?;
    let script = home.join("turns.toml");
    fs::write(
        settings.join("config.toml"),
        format!("[model]\nprovider = \"script\"\nscript = {script:?}\n"),
    )?;
    Ok(())
}

/// The name of a task.
fn name(number: usize) -> String {
    format!("note-{number}")
}

/// Writes the tasks with their documents.
pub(super) fn write(home: &Path, count: usize) -> Result<()> {
    let folder = home.join("tasks");
    fs::create_dir_all(&folder)?;
    for name in (1..=count).map(name) {
        let task =
            json!({ "request": format!("Write {name} into the note"), "open": [format!("{name}.md")] });
        fs::write(folder.join(format!("{name}.json")), task.to_string())?;
        fs::write(folder.join(format!("{name}.md")), "")?;
    }
    Ok(())
}

/// What the results say.
pub(super) struct Verdict {
    /// How many tasks were done exactly once.
    pub(super) once: usize,
    pub(super) lines: Vec<String>,
    /// Who ended which task.
    pub(super) workers: BTreeMap<String, String>,
}

/// Counts how often each task was done, by what stands in its document.
pub(super) fn judge(results: &Path, count: usize) -> Result<Verdict> {
    let mut verdict = Verdict { once: 0, lines: Vec::new(), workers: BTreeMap::new() };
    for name in (1..=count).map(name) {
        let folder = results.join(&name);
        let text = fs::read_to_string(folder.join("result.json"))
            .with_context(|| format!("the result of {name}"))?;
        let result: Value = serde_json::from_str(&text)?;
        let worker = result.pointer("/result/worker").and_then(Value::as_str).unwrap_or("nobody");
        let finished = result.get("finished").and_then(Value::as_bool) == Some(true);
        let document =
            fs::read_to_string(folder.join("documents").join(format!("{name}.md"))).unwrap_or_default();
        let times = document.split_whitespace().filter(|word| *word == name).count();
        let is_once = finished && document.trim() == name;
        verdict.once += usize::from(is_once);
        let short: String = worker.split('-').take(2).collect::<Vec<_>>().join("-");
        verdict.lines.push(format!("{name:10} typed {times} times, ended by {short}, finished: {finished}"));
        verdict.workers.insert(name, short);
    }
    Ok(verdict)
}
