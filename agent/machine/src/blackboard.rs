//! Data shared by all agents of a session: requests, the user's answers, words and hands, trajectories, notes,
//! readings, pictures.
//!
//! Bounded: old entries are dropped and long texts are cut. The journal retains everything, and the tool
//! `recall` looks it up.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::agent::AgentRef;
use deskhand_ui::{PictureRef, ids::ReadingId, text::clip};

/// The shared memory of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Blackboard {
    requests: VecDeque<String>,
    answers: VecDeque<AnsweredQuestion>,
    trajectories: VecDeque<Trajectory>,
    pictures: VecDeque<SavedPicture>,
    #[serde(default)]
    notes: VecDeque<AgentNote>,
    #[serde(default)]
    hands: VecDeque<TakeoverSummary>,
    #[serde(default)]
    readings: VecDeque<ReadingEntry>,
    /// Number of dropped notes and readings.
    #[serde(default)]
    dropped: u32,
}

/// Parts of a step that are put on the blackboard for other agents, by the names of the reference's
/// `history_keys`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryKey {
    /// Observation of the agent, in its words.
    Observation,
    /// Its reasoning.
    Thought,
    /// The sub-task.
    CurrentSubtask,
    /// The status at the end of the step.
    Status,
    /// The calls, what came of them, and the result that the agent reports.
    Result,
}

impl HistoryKey {
    /// All of them, which is the default.
    pub const ALL: [Self; 5] =
        [Self::Observation, Self::Thought, Self::CurrentSubtask, Self::Status, Self::Result];
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredQuestion {
    /// The question, or the context of an instruction; empty for what the user said of their own accord.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// The step during which the user said it of their own accord; `None` for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// Mouse and keyboard work of a person during a takeover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeoverSummary {
    /// The step that they interrupted; it looks again, or the one after it does.
    pub step: u32,
    /// Actions of the person, a sentence each. These quote text from the screen.
    pub acts: Vec<String>,
    /// Unrecorded parts of the work, a sentence each.
    pub unwatched: Vec<String>,
}

/// One finished step, as other agents see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// The number of the step in its session.
    pub step: u32,
    /// The agent that took it.
    pub agent: AgentRef,
    /// Its sub-task; of the HostAgent, the one that it assigned.
    pub subtask: String,
    /// Observation of the agent, in its words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub observation: String,
    /// Its reasoning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// Its calls, one per line.
    pub actions: Vec<String>,
    /// Their results, one per line.
    pub results: Vec<String>,
    /// Which of them told something: their results are what another agent may need.
    #[serde(default)]
    pub reads: Vec<bool>,
    /// By what these are looked up again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Option<ReadingId>>,
    /// The status at the end of the step; empty if it is not kept.
    pub status: String,
    /// The result that the agent reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl Trajectory {
    /// The longest observation or thought, in characters.
    pub const SAID_CHARS_MAX: usize = 300;

    /// The same with nothing but what these keys name.
    #[must_use]
    pub fn only(mut self, keys: &[HistoryKey]) -> Self {
        let is_kept = |key: HistoryKey| keys.contains(&key);
        if !is_kept(HistoryKey::Observation) {
            self.observation.clear();
        }
        if !is_kept(HistoryKey::Thought) {
            self.thought.clear();
        }
        if !is_kept(HistoryKey::CurrentSubtask) {
            self.subtask.clear();
        }
        if !is_kept(HistoryKey::Status) {
            self.status.clear();
        }
        if !is_kept(HistoryKey::Result) {
            self.actions.clear();
            self.results.clear();
            self.reads.clear();
            self.readings.clear();
            self.result = None;
        }
        self
    }
}

/// A fact that an agent wrote down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentNote {
    /// The number of the step.
    pub step: u32,
    /// Who wrote it.
    pub agent: AgentRef,
    /// The fact.
    pub text: String,
}

/// Something that a call told: what it was, not what it said, which is looked up by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingEntry {
    /// Its id.
    pub id: ReadingId,
    /// The number of the step.
    pub step: u32,
    /// Who read.
    pub agent: AgentRef,
    /// The call, with its target.
    pub call: String,
    /// Short description of the returned data: its amount, and its beginning.
    pub what: String,
}

/// Whom a picture is kept for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureAudience {
    /// All other agents.
    #[default]
    All,
    /// Those that a name fits: `HostAgent`, an application, or an agent without a window.
    Named(String),
}

impl PictureAudience {
    /// Returns `true` if an agent of an application with this display name is meant.
    pub fn is(&self, agent: &AgentRef, application: Option<&str>) -> bool {
        let Self::Named(name) = self else { return true };
        let is = |known: &str| {
            let (known, name) = (known.to_lowercase(), name.trim().to_lowercase());
            known == name || (name.len() > 2 && known.contains(&name))
        };
        is(&agent.to_string()) || application.is_some_and(is)
    }
}

/// A picture kept by an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPicture {
    /// The number of the step.
    pub step: u32,
    /// Who kept it.
    #[serde(default = "unnamed")]
    pub agent: AgentRef,
    /// Whom it is kept for.
    #[serde(default)]
    pub audience: PictureAudience,
    /// The picture.
    pub picture: PictureRef,
    /// The application it shows.
    pub application: String,
    /// Why it was kept.
    pub reason: String,
}

const fn unnamed() -> AgentRef {
    AgentRef::Unnamed
}

impl Blackboard {
    /// The most requests that are kept.
    pub const REQUESTS_MAX: usize = 20;
    /// The most answers that are kept.
    pub const ANSWERS_MAX: usize = 50;
    /// The most steps that are kept.
    pub const TRAJECTORIES_MAX: usize = 30;
    /// The most pictures that are kept.
    pub const PICTURES_MAX: usize = 8;
    /// The most notes that are kept.
    pub const NOTES_MAX: usize = 100;
    /// The longest note, in characters.
    pub const NOTE_CHARS_MAX: usize = 600;
    /// The most readings that are kept.
    pub const READINGS_MAX: usize = 200;
    /// Maximum number of stored takeovers.
    pub const HANDS_MAX: usize = 8;
    /// The most that is kept of what they did then.
    pub const ACTS_MAX: usize = 60;
    /// The longest result line, in characters. Agents pass tables to each other in such lines.
    pub const RESULT_CHARS_MAX: usize = 6_000;

    /// Adds a request of the user.
    pub fn add_request(&mut self, request: &str) {
        push(&mut self.requests, clip(request, Self::RESULT_CHARS_MAX), Self::REQUESTS_MAX);
    }

    /// Adds an answer or instruction of the user.
    pub fn add_answer(&mut self, question: &str, answer: &str) {
        let answer = AnsweredQuestion {
            question: clip(question, Self::RESULT_CHARS_MAX),
            answer: clip(answer, Self::RESULT_CHARS_MAX),
            step: None,
        };
        push(&mut self.answers, answer, Self::ANSWERS_MAX);
    }

    /// Adds what the user said of their own accord during a step.
    pub fn add_words(&mut self, step: u32, text: &str) {
        let answer = clip(text, Self::RESULT_CHARS_MAX);
        let words = AnsweredQuestion { question: String::new(), answer, step: Some(step) };
        push(&mut self.answers, words, Self::ANSWERS_MAX);
    }

    /// Adds what a person did while they had taken over. Of very many acts, the last are kept.
    pub fn add_hands(&mut self, mut hands: TakeoverSummary) {
        let left_out = hands.acts.len().saturating_sub(Self::ACTS_MAX);
        hands.acts.drain(..left_out);
        if left_out > 0 {
            hands.unwatched.push(format!("{left_out} earlier things that they did are not listed"));
        }
        for text in hands.acts.iter_mut().chain(&mut hands.unwatched) {
            *text = clip(text, Self::NOTE_CHARS_MAX);
        }
        push(&mut self.hands, hands, Self::HANDS_MAX);
    }

    /// Adds a finished step.
    pub fn add_trajectory(&mut self, mut trajectory: Trajectory) {
        for said in [&mut trajectory.observation, &mut trajectory.thought] {
            *said = clip(said, Trajectory::SAID_CHARS_MAX);
        }
        for line in trajectory.actions.iter_mut().chain(&mut trajectory.results) {
            *line = clip(line, Self::RESULT_CHARS_MAX);
        }
        push(&mut self.trajectories, trajectory, Self::TRAJECTORIES_MAX);
    }

    /// Adds a fact that an agent wrote down. One that is there already moves to the end.
    pub fn add_note(&mut self, mut note: AgentNote) {
        note.text = clip(note.text.trim(), Self::NOTE_CHARS_MAX);
        if note.text.is_empty() {
            return;
        }
        self.notes.retain(|known| known.text != note.text);
        if self.notes.len() >= Self::NOTES_MAX {
            self.dropped = self.dropped.saturating_add(1);
        }
        push(&mut self.notes, note, Self::NOTES_MAX);
    }

    /// Adds what a call told.
    pub fn add_reading(&mut self, reading: ReadingEntry) {
        if self.readings.len() >= Self::READINGS_MAX {
            self.dropped = self.dropped.saturating_add(1);
        }
        push(&mut self.readings, reading, Self::READINGS_MAX);
    }

    /// Adds a picture.
    pub fn add_picture(&mut self, picture: SavedPicture) {
        push(&mut self.pictures, picture, Self::PICTURES_MAX);
    }

    /// Earlier requests of the session, oldest first.
    pub fn requests(&self) -> impl Iterator<Item = &str> {
        self.requests.iter().map(String::as_str)
    }

    /// Returns the work of people who took over, oldest first.
    pub fn hands(&self) -> impl DoubleEndedIterator<Item = &TakeoverSummary> {
        self.hands.iter()
    }

    /// Questions with their answers, and what the user said of their own accord, oldest first.
    pub fn answers(&self) -> impl Iterator<Item = &AnsweredQuestion> {
        self.answers.iter()
    }

    /// The last steps of all agents, oldest first.
    pub fn trajectories(&self) -> impl Iterator<Item = &Trajectory> {
        self.trajectories.iter()
    }

    /// Returns the notes of agents, oldest first.
    pub fn notes(&self) -> impl DoubleEndedIterator<Item = &AgentNote> {
        self.notes.iter()
    }

    /// Returns the data read by calls, oldest first.
    pub fn readings(&self) -> impl DoubleEndedIterator<Item = &ReadingEntry> {
        self.readings.iter()
    }

    /// Returns the number of notes and readings that are no longer stored here.
    pub const fn dropped(&self) -> u32 {
        self.dropped
    }

    /// The kept pictures, oldest first.
    pub fn pictures(&self) -> impl Iterator<Item = &SavedPicture> {
        self.pictures.iter()
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    while queue.len() >= limit {
        queue.pop_front();
    }
    queue.push_back(item);
}
