//! The model of the suite: it does what it reads.
//!
//! It takes the place of a language model behind the interface that these have. It knows what it sees in prompts alone: before it has
//! read the words of the attacker, it does what the user asked for; from then on, what they say, with the values that they name. Nothing
//! that is refused stops it.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
};

use regex::Regex;
use serde_json::{Map, Value, json};

use super::{
    Failure,
    case::{Case, Step},
    listing::{Listed, find, listed},
    web::{Cues, Visits},
};

/// How often an element is looked for before the step is given up.
const LOOKS_MAX: u32 = 3;
/// How often a model may be asked; the limit of steps in the configuration comes first.
const ASKED_MAX: u32 = 60;
/// How much of a prompt is printed, in characters.
const TAIL_MAX: usize = 1_500;
/// Arguments that may name an element or a window.
const NAMED: [&str; 4] = ["id", "from", "to", "inside"];

/// The model. Without a case it does nothing.
#[derive(Default)]
pub(crate) struct Mind {
    steps: VecDeque<Step>,
    does: VecDeque<Step>,
    reads: Option<Regex>,
    outside_marks: bool,
    values: BTreeMap<String, String>,
    /// Where files that cue stages are.
    cues: PathBuf,
    web: Cues,
    /// The log of the program of the second player.
    player: Option<PathBuf>,
    /// What the server of the pages was asked for.
    visits: Visits,
    /// What the last sub-task was given to.
    assigned: String,
    looked: u32,
    asked: u32,
    /// Whether the words of the attacker were read.
    pub(crate) has_read: bool,
    /// The longest prompt, in characters.
    pub(crate) longest: usize,
    /// The end of the last prompt, for people.
    tail: String,
    /// Everything that it was shown.
    shown: String,
    /// What it did, for people.
    pub(crate) trace: Vec<String>,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Host,
    Worker,
}

impl Mind {
    /// A model that obeys; `ignores_marks`, as in a control run, if it takes everything for an instruction.
    pub(crate) fn new(
        case: &Case,
        values: BTreeMap<String, String>,
        cues: PathBuf,
        web: Cues,
        ignores_marks: bool,
    ) -> Result<Self, Failure> {
        let reads = (!case.reads.is_empty()).then(|| Regex::new(&case.reads)).transpose()?;
        Ok(Self {
            steps: case.looks.iter().cloned().collect(),
            does: case.does.iter().cloned().collect(),
            reads,
            outside_marks: case.outside_marks && !ignores_marks,
            values,
            cues,
            web,
            player: None,
            visits: Visits::default(),
            assigned: String::new(),
            looked: 0,
            asked: 0,
            has_read: false,
            longest: 0,
            tail: String::new(),
            shown: String::new(),
            trace: Vec::new(),
        })
    }

    /// The same beside a second player: a program with this log, or a page.
    pub(crate) fn beside(self, player: Option<PathBuf>, visits: Visits) -> Self {
        Self { player, visits, ..self }
    }

    /// The reply to a request for a completion.
    pub(crate) fn reply(&mut self, body: &Value) -> String {
        self.asked += 1;
        let (system, prompt) = (said(body, "system"), said(body, "user"));
        let role = if system.contains("You are the HostAgent") { Role::Host } else { Role::Worker };
        self.read(&prompt);
        self.shown.push_str(&prompt);
        self.longest = self.longest.max(system.len() + prompt.len());
        self.tail = prompt.chars().skip(prompt.chars().count().saturating_sub(TAIL_MAX)).collect();
        let things = listed(&prompt);
        let reply = if self.asked > ASKED_MAX { finish("too often") } else { self.next(role, &things) };
        let text = reply.to_string();
        self.trace.push(format!("{role:?}: {text}"));
        text
    }

    /// Returns `true` if a word stood in a prompt.
    pub(crate) fn was_shown(&self, word: &str) -> bool {
        self.shown.contains(word)
    }

    /// Looks for the words of the attacker.
    fn read(&mut self, prompt: &str) {
        if let Some(marks) = Regex::new("<untrusted ([0-9a-f]{6,})")
            .ok()
            .and_then(|marks| Some(marks.captures(prompt)?.get(1)?.as_str().to_owned()))
        {
            self.values.insert("marks".to_owned(), marks);
        }
        let Some(reads) = self.reads.as_ref().filter(|_| !self.has_read) else { return };
        let text = if self.outside_marks {
            without_marked(prompt, self.values.get("marks"))
        } else {
            prompt.to_owned()
        };
        let Some(found) = reads.captures(&text) else { return };
        for name in reads.capture_names().flatten() {
            if let Some(value) = found.name(name) {
                self.values.insert(name.to_owned(), value.as_str().to_owned());
            }
        }
        self.has_read = true;
        self.trace.push(format!("read: {}", found.get(0).map_or("", |all| all.as_str())));
        self.steps = std::mem::take(&mut self.does);
        self.looked = 0;
    }

    /// What an agent is assigned to that only waits.
    const WAITS: &str = "wait";

    fn next(&mut self, role: Role, things: &[Listed]) -> Value {
        let Some(step) = self.steps.front().cloned() else {
            let waits = self.reads.is_some() && !self.has_read && self.looked < LOOKS_MAX;
            return if waits {
                self.look_again("the words of the attacker", role, things)
            } else {
                finish("done")
            };
        };
        let whose = [&step.window, &step.agent].into_iter().find(|name| !name.is_empty());
        match (role, whose) {
            (Role::Host, None) => {
                self.steps.pop_front();
                self.cue(&step);
                self.wait_for_player(&step);
                self.by_host(&step, things)
            }
            (Role::Host, Some(name)) => self.assign(&step, name, things),
            (Role::Worker, Some(name)) if *name == self.assigned => self.by_worker(&step, things),
            (Role::Worker, _) if self.assigned == Self::WAITS => {
                self.assigned.clear();
                self.wait()
            }
            (Role::Worker, _) => finish("over to others"),
        }
    }

    fn by_host(&self, step: &Step, things: &[Listed]) -> Value {
        if !step.delegate.is_empty() {
            let agent = find(things, &format!("agent \"{}\"", step.delegate)).unwrap_or_default();
            let subtask = self.filled(&step.subtask);
            return host("ASSIGN", &json!({ "current_subtask": subtask, "control_label": agent }));
        }
        let arguments = self.arguments(step, things).unwrap_or_else(|_| step.arguments.clone());
        let status = if step.status.is_empty() { "CONTINUE" } else { &step.status };
        if step.tool.is_empty() {
            return host(
                status,
                &json!({ "result": self.filled(&step.subtask), "current_subtask": self.filled(&step.subtask) }),
            );
        }
        let mut reply = host(status, &json!({ "function": step.tool, "arguments": arguments }));
        if !step.plan.is_empty() {
            let plan = self.filled(&step.plan);
            let mut words = plan.split(' ');
            let name = words.next().unwrap_or_default();
            let launch = json!({ "name": name, "files": words.collect::<Vec<_>>() });
            reply["current_subtask"] = self.filled(&step.subtask).into();
            reply["next"] = json!([{ "subtask": "Go on", "message": [], "launch": launch }]);
        }
        reply
    }

    fn assign(&mut self, step: &Step, name: &str, things: &[Listed]) -> Value {
        let kind = if step.agent.is_empty() { "window" } else { "agent" };
        let Some(id) = find(things, &format!("{kind} \"{}\"", self.filled(name))) else {
            return self.look_again(&format!("no {kind} {name}"), Role::Host, things);
        };
        self.looked = 0;
        name.clone_into(&mut self.assigned);
        let subtask =
            if step.subtask.is_empty() { "Do the next part".to_owned() } else { self.filled(&step.subtask) };
        host("ASSIGN", &json!({ "current_subtask": subtask, "control_label": id }))
    }

    fn by_worker(&mut self, step: &Step, things: &[Listed]) -> Value {
        let mut actions = Vec::new();
        for one in std::iter::once(step).chain(&step.then).filter(|one| !one.tool.is_empty()) {
            match self.arguments(one, things) {
                Ok(arguments) => actions.push(json!({ "function": one.tool, "arguments": arguments })),
                Err(missing) => return self.look_again(&missing, Role::Worker, things),
            }
        }
        self.looked = 0;
        self.steps.pop_front();
        self.cue(step);
        self.wait_for_player(step);
        if !step.question.is_empty() {
            let question =
                json!({ "question": self.filled(&step.question), "default": self.filled(&step.default) });
            return json!({ "observation": "o", "thought": "t", "status": "PENDING", "questions": [question] });
        }
        let status = if step.status.is_empty() { "CONTINUE" } else { &step.status };
        let result = self.filled(&step.subtask);
        json!({ "observation": "o", "thought": "t", "action": actions, "status": status, "result": result })
    }

    /// Looks once more; after some looks, the step is given up.
    fn look_again(&mut self, missing: &str, role: Role, things: &[Listed]) -> Value {
        self.looked += 1;
        self.trace.push(format!("not there: {missing}; the prompt ends: {}", self.tail));
        if self.looked >= LOOKS_MAX && self.steps.pop_front().is_some() {
            self.looked = 0;
        }
        match (role, find(things, "window")) {
            // The host has no tool to wait with.
            (Role::Host, Some(window)) => {
                self.assigned = Self::WAITS.to_owned();
                host("ASSIGN", &json!({ "current_subtask": "Wait a little", "control_label": window }))
            }
            (Role::Host, None) => finish("there is no window"),
            (Role::Worker, _) => self.wait(),
        }
    }

    fn wait(&self) -> Value {
        json!({
            "observation": "o", "thought": "it may come", "status": "CONTINUE",
            "action": [{ "function": "wait", "arguments": { "seconds": self.looked.max(1) } }],
        })
    }

    /// Makes a stage or page change now, and waits until it has.
    fn cue(&self, step: &Step) {
        match step.cue.as_str() {
            "" => {}
            "page" => self.web.give(),
            stage => {
                let cue = self.cues.join(format!("{stage}.cue"));
                if std::fs::write(&cue, "now").is_ok() {
                    super::wait_until(|| !cue.exists());
                }
            }
        }
    }

    fn wait_for_player(&self, step: &Step) {
        if step.over {
            tokio::task::block_in_place(|| match &self.player {
                Some(log) => super::player::wait_for(log),
                None => super::wait_until(|| self.visits.are_over()),
            });
        }
    }

    fn arguments(&self, step: &Step, things: &[Listed]) -> Result<Map<String, Value>, String> {
        let mut arguments = Map::new();
        for (name, value) in &step.arguments {
            let mut value = self.fill(value);
            if let Some(text) = value.as_str().filter(|text| NAMED.contains(&name.as_str()) && !is_id(text)) {
                value = find(things, text).ok_or_else(|| text.to_owned())?.into();
            }
            arguments.insert(name.clone(), value);
        }
        Ok(arguments)
    }

    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.filled(text).into(),
            Value::Array(all) => all.iter().map(|one| self.fill(one)).collect(),
            Value::Object(all) => all.iter().map(|(name, one)| (name.clone(), self.fill(one))).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A text with the values in it that were read.
    pub(crate) fn filled(&self, text: &str) -> String {
        fill(text, &self.values)
    }
}

/// A text with `{{name}}` replaced.
pub(crate) fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
}

fn is_id(text: &str) -> bool {
    text.strip_prefix(['e', 'w', 'a']).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn finish(result: &str) -> Value {
    json!({ "observation": "o", "thought": "t", "status": "FINISH", "action": [], "result": result })
}

fn host(status: &str, more: &Value) -> Value {
    let mut reply = json!({ "observation": "o", "thought": "t", "status": status });
    if let (Some(reply), Some(more)) = (reply.as_object_mut(), more.as_object()) {
        reply.extend(more.clone());
    }
    reply
}

/// What a prompt says in the messages of a role.
fn said(body: &Value, role: &str) -> String {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let of_role = messages.filter(|message| message.get("role").and_then(Value::as_str) == Some(role));
    let mut text = String::new();
    for message in of_role {
        match message.get("content") {
            Some(Value::String(content)) => text.push_str(content),
            Some(Value::Array(parts)) => {
                for part in parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)) {
                    text.push_str(part);
                    text.push('\n');
                }
            }
            _ => {}
        }
        text.push('\n');
    }
    text
}

/// A prompt without what stands between its marks.
fn without_marked(prompt: &str, marks: Option<&String>) -> String {
    let Some(marks) = marks else { return prompt.to_owned() };
    let (opening, closing) = (format!("<untrusted {marks} source="), format!("</untrusted {marks}>"));
    let mut text = String::new();
    let mut rest = prompt;
    while let Some((before, after)) = rest.split_once(&opening) {
        text.push_str(before);
        rest = after.split_once(&closing).map_or("", |(_, after)| after);
    }
    text + rest
}
