//! The tool `recall`: what the session has read, seen and written down, out of its journal.

use std::collections::BTreeMap;

use deskhand_desktop::Desktop;
use deskhand_machine::{
    command::ToolListingLevel,
    intent::Does,
    known_tools::{RECALL, RUN_WORKFLOW},
    observation::Observation,
    record::{JournalEntry, JournalRecord},
    reply::extract_json,
    session::{Effect, SessionEvent},
};
use deskhand_ui::{
    WindowView,
    ids::{EffectId, ReadingId},
    text::excerpt,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolResult};
use crate::journal::{JournalError, SessionFolder};

/// The characters of a reading that are shown at once.
const PAGE_CHARS: usize = 5_000;
/// The most places that are shown.
const PLACES_MAX: usize = 12;
/// The most places that are kept while a journal is searched.
const KEPT_MAX: usize = 400;
/// The longest text of a place, in characters.
const PLACE_CHARS_MAX: usize = 300;
/// The most words that are looked for.
const WORDS_MAX: usize = 12;
/// Number of neighbours returned with an element, before and after it.
const NEIGHBOURS: (usize, usize) = (2, 4);

/// Shows what this session read before: one reading whole by its id, or all places with some words, in any application.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Recall {
    /// Such as r12.
    id: Option<String>,
    words: Option<String>,
    /// The character to go on from.
    #[serde(default)]
    from: usize,
}

impl<D: Desktop> Tool<D> for Recall {
    const NAME: &'static str = RECALL;
    const DOES: Does = Does::Read;
    const LISTING: ToolListingLevel = ToolListingLevel::Nothing;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let reply = |text: String| ToolError::Reply(text);
        let Some(folder) = context.session.cloned() else {
            return Err(reply("there is no session whose journal could be looked up".to_owned()));
        };
        let words = input.words.as_deref().map(words_of).unwrap_or_default();
        let id = input.id.map(|id| id.trim().parse::<ReadingId>()).transpose();
        let id = id.map_err(|error| reply(error.to_string()))?;
        if id.is_none() && words.is_empty() {
            return Err(reply(
                "give the `id` of a reading, or `words` that stood in what was read".to_owned(),
            ));
        }
        let looked = spawn_blocking(move || match id {
            Some(id) => reading(&folder, id, input.from),
            None => places(&folder, &words),
        });
        let failed = |problem: &dyn std::fmt::Display| reply(format!("failed to look it up: {problem}"));
        looked.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?
    }
}

/// The words of a query, in lower case.
fn words_of(query: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if !words.contains(&word) && words.len() < WORDS_MAX {
            words.push(word);
        }
    }
    words
}

/// A call that was sent, until its result comes.
struct UnansweredCall {
    step: u32,
    by: String,
    call: String,
}

impl UnansweredCall {
    /// The call of a line, if it has one.
    fn of(line: &JournalEntry) -> Option<(EffectId, Self)> {
        let JournalRecord::Effect(record) = &line.record else { return None };
        let Effect::Call { command } = &record.effect else { return None };
        let (step, by) =
            record.step.as_ref().map_or((0, String::new()), |step| (step.number, step.agent.to_string()));
        Some((record.id, Self { step, by, call: command.to_line() }))
    }
}

/// One reading from a character on.
fn reading(folder: &SessionFolder, id: ReadingId, from: usize) -> Result<ToolResult, JournalError> {
    let mut sent = None;
    let mut text = None;
    folder.read_lines(&mut |line| {
        if let Some((_, call)) = UnansweredCall::of(line).filter(|(effect, _)| ReadingId::from(*effect) == id)
        {
            sent = Some(call);
        }
        if let JournalRecord::Event(record) = &line.record
            && record.effect.map(ReadingId::from) == Some(id)
            && let SessionEvent::Returned { result } = &record.event
        {
            text = Some(whole_text(&result.output));
        }
    })?;
    let (Some(UnansweredCall { step, by, call }), Some(text)) = (sent, text) else {
        let problem = format!("nothing was read as `{id}`; give `words` to search what was read");
        return Ok(Err(ToolError::Reply(problem)));
    };
    let all = text.chars().count();
    let page: String = text.chars().skip(from).take(PAGE_CHARS).collect();
    let to = from.saturating_add(page.chars().count());
    let go_on_from = (to < all).then_some(to);
    let output =
        json!({"id": id, "step": step, "by": by, "call": call, "text": page, "go_on_from": go_on_from});
    Ok(Ok(ToolOutput::read(format!("read {id}, characters {from} to {to} of {all}"), output)))
}

/// Returns the output of a call as one text.
fn whole_text(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            output.to_string()
        }
    }
}

/// A place where some words stand.
struct RecallHit {
    /// Number of the words found.
    words: usize,
    step: u32,
    by: String,
    what: String,
    id: Option<ReadingId>,
    text: String,
}

/// The places with the most of the words, the latest first among equals.
struct RecallSearch<'a> {
    words: &'a [String],
    found: Vec<RecallHit>,
    sent: BTreeMap<EffectId, UnansweredCall>,
    step: u32,
    by: String,
}

/// All places with these words.
fn places(folder: &SessionFolder, words: &[String]) -> Result<ToolResult, JournalError> {
    let mut search =
        RecallSearch { words, found: Vec::new(), sent: BTreeMap::new(), step: 0, by: "the user".to_owned() };
    folder.read_lines(&mut |line| search.line(line))?;
    search.prune(KEPT_MAX);
    let all = search.found.len();
    let shown: Vec<Value> = search.found.iter().take(PLACES_MAX).map(RecallHit::to_json).collect();
    let message = match all {
        0 => format!("nothing that was read or seen has any of the words {}", words.join(", ")),
        _ => format!("{} of {all} places, those with the most of the words first", shown.len()),
    };
    Ok(Ok(ToolOutput::read(message, json!(shown))))
}

impl RecallHit {
    fn to_json(&self) -> Value {
        json!({"id": self.id, "step": self.step, "by": self.by, "where": self.what, "text": self.text})
    }
}

impl RecallSearch<'_> {
    fn line(&mut self, line: &JournalEntry) {
        match &line.record {
            JournalRecord::Effect(record) => {
                if let Some(step) = &record.step {
                    (self.step, self.by) = (step.number, step.agent.to_string());
                }
                if let Some((id, sent)) = UnansweredCall::of(line) {
                    self.sent.insert(id, sent);
                }
            }
            JournalRecord::Event(record) => self.event(record.effect, &record.event),
            JournalRecord::Header(_) | JournalRecord::Changed(_) => {}
        }
    }

    fn event(&mut self, effect: Option<EffectId>, event: &SessionEvent) {
        match event {
            SessionEvent::Requested { text, .. } => self.add("the request", None, text),
            SessionEvent::Answered { answers } => {
                answers.iter().for_each(|answer| self.add("an answer of the user", None, answer));
            }
            SessionEvent::Observed { observation: Observation::Window(view) } => self.view(view),
            SessionEvent::Observed { observation: Observation::Agent(view) } => {
                view.text.lines().for_each(|text| self.add("what the agent observed", None, text));
            }
            SessionEvent::Replied { reply, .. } => self.reply(&reply.text),
            SessionEvent::Returned { result } => {
                let sent = effect.and_then(|effect| self.sent.remove(&effect));
                let call = sent.map(|sent| sent.call).unwrap_or_default();
                // What was looked up stood elsewhere before. What a workflow is, nobody has read.
                if !call.starts_with(RECALL) && !call.starts_with(RUN_WORKFLOW) {
                    let id = effect.map(ReadingId::from);
                    let mut lines = Vec::new();
                    lines_of(&result.output, &mut lines);
                    lines.iter().for_each(|text| self.add(&call, id, text));
                }
            }
            SessionEvent::Delegated { report } => self.add("a report", None, &report.result),
            SessionEvent::Told { text, .. } => self.add("the user's words", None, text),
            SessionEvent::HandedBack { acts, note, .. } => {
                self.add("what the user did by hand", None, &acts.join("\n"));
                self.add("the user's words", None, note.as_deref().unwrap_or_default());
            }
            SessionEvent::Ended
            | SessionEvent::Observed { observation: Observation::Desktop(_) }
            | SessionEvent::ObserveFailed { .. }
            | SessionEvent::Ranked { .. }
            | SessionEvent::Retrieved { .. }
            | SessionEvent::ModelFailed { .. }
            | SessionEvent::Unanswered { .. }
            | SessionEvent::Approved { .. }
            | SessionEvent::Rejected { .. }
            | SessionEvent::Disclosed { .. }
            | SessionEvent::Acknowledged { .. }
            | SessionEvent::Stopped { .. }
            | SessionEvent::Suspended { .. }
            | SessionEvent::TakenOver { .. }
            | SessionEvent::Resumed { .. } => {}
        }
    }

    /// Searches the view of a window: each element with its neighbours, which say what a value belongs to.
    fn view(&mut self, view: &WindowView) {
        for surface in &view.surfaces {
            let what = format!("what {} of {} showed", surface.window.label(), surface.window.app.name);
            let texts: Vec<String> = surface
                .tree
                .elements
                .iter()
                .map(|element| {
                    let text = element.text.as_deref().unwrap_or_default();
                    if text == element.name { text.to_owned() } else { format!("{} {text}", element.name) }
                })
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
                .collect();
            for (at, text) in texts.iter().enumerate() {
                if self.fits(text) == 0 {
                    continue;
                }
                let (before, after) = NEIGHBOURS;
                let near = texts.iter().skip(at.saturating_sub(before)).take(at.min(before) + 1 + after);
                self.add(&what, None, &near.map(String::as_str).collect::<Vec<_>>().join(" · "));
            }
        }
    }

    /// Searches the reply of an agent: its observations, findings and notes.
    fn reply(&mut self, text: &str) {
        let Ok(reply) = extract_json(text) else { return };
        for field in ["notes", "note", "observation", "Observation", "result", "Result"] {
            let mut lines = Vec::new();
            lines_of(reply.value.get(field).unwrap_or(&Value::Null), &mut lines);
            lines.iter().for_each(|line| self.add("what the agent said", None, line));
        }
    }

    /// Counts the words that occur in a text.
    fn fits(&self, text: &str) -> usize {
        let text = text.to_lowercase();
        self.words.iter().filter(|word| text.contains(word.as_str())).count()
    }

    fn add(&mut self, what: &str, id: Option<ReadingId>, text: &str) {
        let words = self.fits(text);
        if words == 0 {
            return;
        }
        let text = around(text, self.words);
        let (step, by) = (self.step, self.by.clone());
        self.found.push(RecallHit { words, step, by, what: excerpt(what, PLACE_CHARS_MAX), id, text });
        if self.found.len() > 2 * KEPT_MAX {
            self.prune(KEPT_MAX);
        }
    }

    /// Keeps the best places, each text once.
    fn prune(&mut self, most: usize) {
        self.found.sort_by_key(|place| std::cmp::Reverse((place.words, place.step)));
        let mut texts = std::collections::HashSet::new();
        self.found.retain(|place| texts.insert(place.text.clone()));
        self.found.truncate(most);
    }
}

/// The part of a text around the first of the words.
fn around(text: &str, words: &[String]) -> String {
    let lower = text.to_lowercase();
    let first = words.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or(0);
    let before = lower.get(..first).map_or(0, |before| before.chars().count());
    let skipped = before.saturating_sub(PLACE_CHARS_MAX / 3);
    let part: String = text.chars().skip(skipped).collect();
    let cut = if skipped > 0 { "…" } else { "" };
    format!("{cut}{}", excerpt(&part, PLACE_CHARS_MAX))
}

/// The texts of a value, a line each; a list of values, such as the row of a table, is one line.
fn lines_of(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.extend(text.lines().map(str::to_owned)),
        Value::Array(values) if values.iter().all(|value| !value.is_array() && !value.is_object()) => {
            let texts = values.iter().map(whole_text);
            into.push(texts.collect::<Vec<_>>().join(" | "));
        }
        Value::Array(values) => values.iter().for_each(|value| lines_of(value, into)),
        Value::Object(fields) if fields.values().all(|value| !value.is_array() && !value.is_object()) => {
            let texts = fields.iter().map(|(name, value)| format!("{name}: {}", whole_text(value)));
            into.push(texts.collect::<Vec<_>>().join(" | "));
        }
        Value::Object(fields) => fields.values().for_each(|value| lines_of(value, into)),
        Value::Number(_) | Value::Bool(_) => into.push(value.to_string()),
        Value::Null => {}
    }
}
