//! The prompts of recorded sessions: as they were recorded, and as they would be today.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_machine::{
    agent::AgentRef,
    model::{MessagePart, ModelMessage, ModelReply, ModelRequest, Speaker},
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord},
    session::{Effect, Session, SessionEvent},
};
use deskhand_runtime::{SessionStore, Toolbox};
use deskhand_ui::{ids::SessionId, text::tokens};
use flate2::read::GzDecoder;
use serde::Serialize;
use serde_json::Value;

/// Tokens by part of a prompt.
pub(crate) type Parts = BTreeMap<String, usize>;

/// A session, measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Measured {
    /// The name of the recording.
    pub(crate) name: String,
    /// Questions to the model.
    pub(crate) questions: usize,
    /// Estimated tokens of all prompts, as they were recorded.
    pub(crate) before: Parts,
    /// The same with the prompts of today.
    pub(crate) after: Parts,
    /// Of the prompts of today, from the second question of each agent on: how many tokens there are, and how many of them begin an
    /// earlier prompt in the same way, so that a cache would serve them.
    pub(crate) later: usize,
    pub(crate) cached: usize,
    /// The last prompt of an AppAgent, as of today.
    #[serde(skip)]
    pub(crate) last: String,
    /// Words of decisions that the recorded prompt had and today's has not.
    pub(crate) missing: Vec<String>,
}

impl Measured {
    /// The figures of all recordings together.
    pub(crate) fn all(sessions: &[Self]) -> Self {
        let mut all = Self { name: "all".to_owned(), ..Self::default() };
        for session in sessions {
            all.questions += session.questions;
            all.later += session.later;
            all.cached += session.cached;
            all.missing.extend(session.missing.iter().cloned());
            for (mine, theirs) in [(&mut all.before, &session.before), (&mut all.after, &session.after)] {
                for (part, tokens) in theirs {
                    *mine.entry(part.clone()).or_default() += tokens;
                }
            }
        }
        all
    }
}

/// The recordings in a folder, by name.
pub(crate) fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("the folder of the recordings").map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "gz")).collect();
    files.sort();
    files
}

/// Measures a recording: folds its journal with the prompts of today, as far as the session machine of today wants the same effects.
pub(crate) fn measure(file: &Path) -> Measured {
    let name = file.file_name().unwrap().to_string_lossy().replace(".jsonl.gz", "");
    let mut measured = Measured { name, ..Measured::default() };
    let home = tempfile::tempdir().unwrap();
    let store = SessionStore::at(home.path().join("sessions"), home.path().join("seals"));
    let folder = store.create(&SessionId(measured.name.clone())).unwrap();
    let mut journal = File::create(folder.journal_path()).unwrap();
    io::copy(&mut GzDecoder::new(File::open(file).unwrap()), &mut journal).unwrap();
    let mut reading = Reading::default();
    folder.read_lines(&mut |line| reading.take(line, &mut measured)).expect("a journal");
    measured
}

/// A journal as far as it was read.
#[derive(Default)]
struct Reading {
    session: Option<Session>,
    /// The last question, as it was recorded and as it would be.
    last: Option<(ModelRequest, ModelRequest)>,
    earlier: Vec<(AgentRef, String)>,
}

impl Reading {
    fn take(&mut self, line: &JournalEntry, measured: &mut Measured) {
        match &line.record {
            JournalRecord::Header(header) => {
                let mut config = header.config.clone();
                let tools = Toolbox::<LinuxDesktop>::standard(ActLimits::default()).unwrap();
                (config.host_tools, config.app_tools) = (tools.host_specs(), tools.app_specs());
                self.session = Some(Session::new(config, PromptSet::default()));
            }
            JournalRecord::Changed(_) => panic!("{}: recordings are not resumed", measured.name),
            JournalRecord::Effect(recorded) => {
                let Some(session) = &self.session else { return };
                let wanted = session.next();
                if let (Effect::Ask { request: before }, Some(Effect::Ask { request: after })) =
                    (&recorded.effect, wanted.map(|record| &record.effect))
                {
                    self.last = Some((before.clone(), after.clone()));
                    self.asked(measured);
                }
            }
            JournalRecord::Event(event) => {
                if let (SessionEvent::Replied { reply, .. }, Some((before, after))) =
                    (&event.event, &self.last)
                {
                    let place = format!("{} question {}", measured.name, measured.questions);
                    let missing = missing(reply, before, after);
                    measured.missing.extend(missing.map(|word| format!("{place}: {word}")));
                }
                let Some(session) = self.session.as_mut() else { return };
                // Today's machine wants something else: from here on, the recording says nothing about today's prompts.
                if session.apply(event).is_err() {
                    self.session = None;
                }
            }
        }
    }

    fn asked(&mut self, measured: &mut Measured) {
        let Some((before, after)) = &self.last else { return };
        measured.questions += 1;
        count(before, &mut measured.before);
        count(after, &mut measured.after);
        let whole = text_of(&after.messages);
        if self.earlier.iter().any(|(agent, _)| *agent == after.agent) {
            measured.later += tokens(&whole);
            let same = self.earlier.iter().map(|(_, text)| common(text, &whole)).max().unwrap_or(0);
            measured.cached += tokens(&whole[..same]);
        }
        if matches!(after.agent, AgentRef::AppAgent { .. }) {
            measured.last.clone_from(&whole);
        }
        self.earlier.push((after.agent.clone(), whole));
    }
}

/// The bytes that two texts begin with in common.
fn common(one: &str, other: &str) -> usize {
    let same = one.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b).last();
    same.map_or(0, |((at, c), _)| at + c.len_utf8())
}

/// The text of messages.
fn text_of<'a>(messages: impl IntoIterator<Item = &'a ModelMessage>) -> String {
    let parts = messages.into_iter().flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match part {
        MessagePart::Text { text } => Some(text.as_str()),
        MessagePart::Picture { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Counts the tokens of a request by its headings.
fn count(request: &ModelRequest, parts: &mut Parts) {
    for message in &request.messages {
        let text = text_of([message]);
        let mut part = match message.speaker {
            Speaker::System => "system",
            Speaker::User => "beginning",
            Speaker::Assistant => "own reply",
        }
        .to_owned();
        for line in text.split_inclusive('\n') {
            if let (Speaker::User | Speaker::System, Some(heading)) =
                (message.speaker, line.strip_prefix("# "))
            {
                let heading = heading.split(" at step").next().unwrap_or_default();
                let heading = heading.split(" since step").next().unwrap_or_default();
                let whose = if message.speaker == Speaker::System { "system: " } else { "" };
                part = format!("{whose}{}", heading.split([':', ',']).next().unwrap_or_default().trim());
            }
            *parts.entry(part.clone()).or_default() += tokens(line);
        }
    }
}

/// The words that a decision uses, which the one prompt told and the other does not.
fn missing(reply: &ModelReply, before: &ModelRequest, after: &ModelRequest) -> impl Iterator<Item = String> {
    let mut used = BTreeSet::new();
    if let Ok(decision) = serde_json::from_str::<Value>(&reply.text) {
        for field in ["action", "arguments", "current_subtask", "message", "control_label", "next", "result"]
        {
            words(decision.get(field).unwrap_or(&Value::Null), &mut used);
        }
    }
    let of_user = |message: &&ModelMessage| message.speaker == Speaker::User;
    let [before, after] = [before, after].map(|request| text_of(request.messages.iter().filter(of_user)));
    let mut told = BTreeSet::new();
    words(&Value::String(before), &mut told);
    used.into_iter().filter(move |word| told.contains(word) && !after.contains(word.as_str()))
}

/// The words and numbers in a value.
fn words(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let parts = text.split(|c: char| !c.is_alphanumeric() && !"._-/".contains(c));
            let parts = parts.map(|part| part.trim_matches('.'));
            let tells = |part: &&str| {
                part.len() > 3 || (part.len() > 1 && part.contains(|c: char| c.is_ascii_digit()))
            };
            found.extend(parts.filter(tells).map(str::to_owned));
        }
        Value::Number(number) => drop(found.insert(number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| words(item, found)),
        // The names of functions are no news.
        Value::Object(fields) => {
            let told = fields.iter().filter(|(name, _)| *name != "function");
            told.for_each(|(_, field)| words(field, found));
        }
        Value::Null | Value::Bool(_) => {}
    }
}
