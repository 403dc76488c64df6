//! Kills the main job on real Writer and Calc at a record and resumes it: the final file must be the same, and no cell may be
//! typed twice. The model survives, as one at an endpoint does, and acts carefully: it looks first.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::{Arc, Mutex},
};

use deskhand_machine::{
    agent::AgentRef,
    model::{MessagePart, ModelRequest},
};
use deskhand_model::Script;
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use deskhand_testkit_models::request::model_request;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{World, has_programs};

const REQUEST: &str = "Extract the sales table from the Writer document and create a bar chart of it in Calc";
const CHART: &str = "make a bar chart of it, and save";

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sales").join(name)
}

/// A model that follows the script of the demo, and continues from what it sees after an interruption.
struct Careful {
    text: String,
    variables: BTreeMap<String, String>,
    script: Script,
    /// How many turns have replied.
    turns: usize,
    last: Option<(String, Value)>,
    /// The action of the last reply that was in progress when the process died.
    out: Option<usize>,
    /// What to do once the cells were read.
    checking: Option<Vec<Value>>,
}

impl Careful {
    fn new(output: &Path) -> Self {
        let text = fs::read_to_string(example("demo.script.toml")).unwrap();
        // After a crash it may know from an observation instead of a result that the cells are there.
        let text = text.replace(", '15 of 15 cells'", "");
        let variables = BTreeMap::from([("output".to_owned(), output.display().to_string())]);
        let script = Script::parse("demo", &text, variables.clone()).unwrap();
        Self { text, variables, script, turns: 0, last: None, out: None, checking: None }
    }

    fn answer(&mut self, request: &ModelRequest) -> Result<String, String> {
        let prompt = text_of(request);
        if let Some((asked, reply)) = &self.last
            && *asked == prompt
        {
            return Ok(reply.to_string());
        }
        // Over the wire, only the prompt says who asks.
        let host = prompt.contains("You are the HostAgent");
        let agent = AgentRef::from_name(if host { "HostAgent" } else { "AppAgent" });
        let reply = self.reply(&ModelRequest { agent, ..request.clone() }, &prompt)?;
        self.last = Some((prompt, reply.clone()));
        Ok(reply.to_string())
    }

    fn reply(&mut self, request: &ModelRequest, prompt: &str) -> Result<Value, String> {
        if let Some(rest) = self.checking.take() {
            return Ok(self.go_on_with(&after_the_look(&rest, prompt)));
        }
        if let Some(index) = self.out.take() {
            assert!(
                prompt.contains("it may be half done"),
                "the agent learns what was in progress: {prompt}"
            );
            if request.agent == AgentRef::HostAgent {
                return self.host(request, prompt);
            }
            return Ok(self.rest_of_turn(request, prompt, index));
        }
        match self.script.answer(request) {
            Ok(reply) => {
                self.turns += 1;
                serde_json::from_str(&reply.text).map_err(|error| error.to_string())
            }
            Err(_) if request.agent == AgentRef::HostAgent => self.host(request, prompt),
            Err(error) if self.turns < 3 => Err(error.message),
            // The repeated action failed; continue from what is visible.
            Err(_) => Ok(self.rest_of_turn(request, prompt, 0)),
        }
    }

    /// What the HostAgent does when the script no longer matches.
    fn host(&self, request: &ModelRequest, prompt: &str) -> Result<Value, String> {
        let done =
            |subtask: &str| prompt.lines().any(|line| line.contains(subtask) && line.contains("FINISHED"));
        if done(CHART) {
            return Ok(json!({"thought": "it is saved", "status": "FINISH", "result": "charted and saved"}));
        }
        let turn = |reply: &str| format!("[[turn]]\nagent = \"HostAgent\"\nreply = '''{reply}'''\n");
        let chart = format!("Enter the table from the blackboard at A1, {CHART} the spreadsheet");
        let mut ways = Vec::new();
        if done("Read the sales table") {
            ways.push(format!(
                r#"{{"thought": "Calc is open", "status": "ASSIGN", "current_subtask": "{chart}", "control_label": "{{{{window "LibreOffice Calc"}}}}"}}"#
            ));
            ways.push(format!(
                r#"{{"thought": "Calc is not open", "status": "ASSIGN", "current_subtask": "{chart}", "function": "launch_application", "arguments": {{"name": "LibreOffice Calc"}}}}"#
            ));
        } else {
            ways.push(
                r#"{"thought": "again", "status": "ASSIGN", "current_subtask": "Read the sales table of the document", "control_label": "{{window "LibreOffice Writer"}}"}"#
                    .to_owned(),
            );
        }
        let answers = ways.iter().map(|way| {
            let script = Script::parse("host", &turn(way), self.variables.clone()).unwrap();
            script.answer(request).map_err(|error| error.message)
        });
        let first = answers.reduce(Result::or).unwrap()?;
        serde_json::from_str(&first.text).map_err(|error| error.to_string())
    }

    /// The actions of the last turn from `index` on whose effect is not visible.
    fn rest_of_turn(&mut self, request: &ModelRequest, prompt: &str, index: usize) -> Value {
        // Elements have new ids; the turn resolves them again if it matches the prompt.
        let again = Script::parse("demo", &self.text, self.variables.clone()).unwrap();
        again.skip(self.turns - 1).unwrap();
        let before = &self.last.as_ref().unwrap().1;
        let given = before["action"].as_array().cloned().unwrap_or_default();
        let fresh: Option<Value> =
            again.answer(request).ok().and_then(|reply| serde_json::from_str(&reply.text).ok());
        let all = match &fresh {
            Some(reply) => reply["action"].as_array().cloned().unwrap_or_default(),
            None => given.clone(),
        };
        // The last reply may itself be the rest of the turn.
        let skipped = all.len().saturating_sub(given.len()) + index;
        let mut rest: Vec<Value> = all.into_iter().skip(skipped).collect();
        while rest.first().is_some_and(|action| is_done(action, prompt)) {
            rest.remove(0);
        }
        if rest.first().is_some_and(|action| action["function"] == "write_table") {
            self.checking = Some(rest);
            return json!({
                "thought": "cells may have been written already", "status": "CONTINUE",
                "action": [{"function": "read_table", "arguments": {"range": "A1:C5"}}],
            });
        }
        self.go_on_with(&rest)
    }

    /// The last reply of the script with these actions instead.
    fn go_on_with(&self, actions: &[Value]) -> Value {
        let finishes = self.turns == 2 || self.turns == 5;
        json!({
            "thought": "what is left", "action": actions, "status": if finishes { "FINISH" } else { "CONTINUE" },
            "result": "done",
        })
    }
}

fn text_of(request: &ModelRequest) -> String {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match part {
        MessagePart::Text { text } => Some(text.as_str()),
        MessagePart::Picture { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns `true` if the prompt shows that an action was carried out. Actions that can safely be repeated count as not done.
fn is_done(action: &Value, prompt: &str) -> bool {
    let (wizard, save) = (prompt.contains("window \"Chart Type\""), prompt.contains("window \"Save"));
    match (action["function"].as_str().unwrap_or_default(), action["arguments"]["name"].as_str()) {
        ("visit", _) => wizard,
        ("click_element", Some("Finish")) => !wizard,
        ("press_keys", _) => save,
        ("click_element", Some("Save")) => !save,
        _ => false,
    }
}

/// The rows of the last table in a prompt.
fn rows_in(prompt: &str) -> Vec<Vec<Value>> {
    let at = prompt.rfind("\"rows\":[[").map(|at| at + "\"rows\":".len());
    let Some(rest) = at.and_then(|at| prompt.get(at..)) else { return Vec::new() };
    let end = rest.find("]]").map_or(rest.len(), |end| end + 2);
    serde_json::from_str(&rest[..end]).unwrap_or_default()
}

/// What is left to do once the cells were read: writes only the missing ones.
fn after_the_look(rest: &[Value], prompt: &str) -> Vec<Value> {
    let wanted: Vec<Vec<Value>> = serde_json::from_value(rest[0]["arguments"]["rows"].clone()).unwrap();
    let there = rows_in(prompt.split("# Your steps on this sub-task so far").last().unwrap_or_default());
    let cell = |row: usize, column: usize| there.get(row).and_then(|cells| cells.get(column));
    let same = |row: usize, column: usize, value: &Value| {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        cell(row, column).is_some_and(|found| text(found) == text(value))
    };
    let mut left = Vec::new();
    for (row, cells) in wanted.iter().enumerate() {
        let from = cells.iter().enumerate().position(|(column, value)| !same(row, column, value));
        if let Some(from) = from {
            let start = format!("{}{}", char::from(b'A' + u8::try_from(from).unwrap()), row + 1);
            left.push(
                json!({"function": "write_table", "arguments": {"start": start, "rows": [&cells[from..]]}}),
            );
        }
    }
    if left.len() == wanted.len() {
        left = vec![rest[0].clone()];
    }
    left.extend(rest[1..].iter().cloned());
    left
}

/// The parts of a spreadsheet with a chart that must be equal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Essence {
    cells: Vec<String>,
    chart: Vec<String>,
}

pub(crate) fn essence(file: &Path) -> Essence {
    let mut archive = zip::ZipArchive::new(fs::File::open(file).unwrap()).unwrap();
    let mut read = |name: &str| {
        let mut text = String::new();
        archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
        text
    };
    let between = |text: &str, start: &str, end: &str| {
        let parts = text.split(start).skip(1);
        parts.map(|part| part.split(end).next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let chart = read("Object 1/content.xml");
    let mut ranges = between(&chart, "values-cell-range-address=\"", "\"");
    ranges.extend(
        between(&chart, "<chart:chart ", ">").iter().flat_map(|head| between(head, "chart:class=\"", "\"")),
    );
    Essence { cells: between(&read("content.xml"), "<text:p>", "</text:p>"), chart: ranges }
}

pub(crate) fn expected() -> Essence {
    let cells = "Region Units Revenue North-East 70 2800 North 120 4800 South 95 3800 West 140 5600";
    let chart = ["Sheet1.B2:Sheet1.B5", "Sheet1.C2:Sheet1.C5", "chart:bar"];
    Essence { cells: cells.split(' ').map(str::to_owned).collect(), chart: chart.map(str::to_owned).to_vec() }
}

/// Every line of the journal, as JSON.
fn journal(world: &World) -> Vec<Value> {
    let sessions = world.path().join(".local/state/deskhand/sessions");
    let folder = fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn is_call(line: &Value) -> bool {
    line["record"]["kind"] == "effect" && line["record"]["effect"]["want"] == "call"
}

/// The action of its step that was in progress at the end of the journal.
fn out(lines: &[Value]) -> Option<usize> {
    let last = lines.last().filter(|line| is_call(line))?;
    let step = |line: &Value| line["record"]["step"]["number"].clone();
    Some(lines.iter().filter(|line| is_call(line) && step(line) == step(last)).count() - 1)
}

/// Asserts that no cell was written twice with an effect that was seen.
fn no_cell_is_typed_twice(lines: &[Value]) {
    let mut typed = Vec::new();
    for pair in lines.windows(2) {
        let command = &pair[0]["record"]["effect"]["command"];
        let result = &pair[1]["record"]["event"]["result"];
        if is_call(&pair[0]) && command["tool"] == "write_table" && result["effect"] == "seen" {
            let start = command["arguments"]["start"].as_str().unwrap();
            let (column, row) = (start.as_bytes()[0], start[1..].parse::<usize>().unwrap());
            for (down, cells) in command["arguments"]["rows"].as_array().unwrap().iter().enumerate() {
                for across in 0..cells.as_array().unwrap().len() {
                    let cell = (usize::from(column) + across, row + down);
                    assert!(!typed.contains(&cell), "cell {cell:?} is typed twice");
                    typed.push(cell);
                }
            }
        }
    }
}

fn shown(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Kills the process once its journal has a record that contains `mark` or has that number, and resumes it. Returns false if
/// the session ended before.
async fn killed_at(mark: &str) -> bool {
    if !has_programs(&["soffice"]) {
        return true;
    }
    let world = World::new();
    fs::copy(example("sales.odt"), world.path().join("sales.odt")).unwrap();
    let file = world.path().join("sales.ods");
    let model = Arc::new(Mutex::new(Careful::new(&file)));
    let asked = Arc::clone(&model);
    let endpoint =
        MockEndpoint::answering(move |body| match asked.lock().unwrap().answer(&model_request(body)) {
            Ok(reply) => Behaviour::reply(reply),
            Err(message) => Behaviour::error(400, "script", &message),
        })
        .await
        .unwrap();
    let mut command =
        world.command(&["run", REQUEST, "--open", "sales.odt", "--desktop", "virtual", "--json"]);
    command.args(["--model", "openai:mock", "--base-url", &endpoint.base_url()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mark = mark.to_owned();
    let killed = tokio::task::spawn_blocking(move || {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains(&mark) {
            line.clear();
            if lines.read_line(&mut line).unwrap() == 0 {
                child.wait().unwrap();
                return false;
            }
        }
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        true
    });
    if !killed.await.unwrap() {
        return false;
    }
    let before = journal(&world);
    if before.last().is_some_and(|line| line["record"]["event"]["came"] == "ended") {
        assert_eq!(essence(&file), expected());
        return false;
    }
    model.lock().unwrap().out = out(&before);
    let mut command = world.command(&["resume", "last"]);
    command.stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let lines = journal(&world);
    let show =
        || format!("{}\nkilled after {}\n{}", shown(&output), before.len(), world.run(&["show", "last"]));
    assert_eq!(output.status.code(), Some(0), "{}", show());
    assert_eq!(essence(&file), expected(), "{}", show());
    assert_eq!(
        lines[before.len()]["record"]["event"],
        json!({"came": "resumed", "desktop_kept": true}),
        "{}",
        show()
    );
    no_cell_is_typed_twice(&lines);
    for command in ["replay", "verify"] {
        let checked = world.run(&[command, "last"]);
        assert!(checked.starts_with("exit 0\n"), "{checked}");
    }
    assert_eq!(world.orphans(), Vec::<String>::new());
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_table_is_read() {
    assert!(killed_at("\"tool\":\"read_table\"").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_cells_are_written() {
    assert!(killed_at("\"tool\":\"write_table\"").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_chart_is_finished() {
    assert!(killed_at("\"name\":\"Finish\"").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_file_is_saved() {
    assert!(killed_at("\"name\":\"Save\"").await);
}

/// Half a minute for each record: all of them with `DESKHAND_CRASH_EVERYWHERE` in the environment, else the first.
#[tokio::test(flavor = "multi_thread")]
async fn killed_at_the_first_record_or_at_every_one() {
    let everywhere = std::env::var_os("DESKHAND_CRASH_EVERYWHERE").is_some();
    let (last, expected) = if everywhere { (usize::MAX, 28) } else { (3, 1) };
    let mut killed = 0;
    for record in 3..=last {
        if !killed_at(&format!("\"seq\":{record},")).await {
            break;
        }
        killed += 1;
    }
    assert!(killed >= expected, "{killed}");
}
