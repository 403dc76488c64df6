//! State that every agent with steps has: its memory, its notice, and what it was shown.

use serde::{Deserialize, Serialize};

use super::{
    phases::OneTimePromptParts,
    stall::{Did, ObservationFingerprint, Stall},
};
use crate::{memory::AgentMemory, retrieval::Hit};

/// State of an agent with steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct AgentDesk {
    memory: AgentMemory,
    stall: Stall,
    /// The notice for its next step.
    notice: String,
    /// Hits of retrievers for its work; `None` if they were not queried yet.
    #[serde(default)]
    hits: Option<Vec<Hit>>,
    /// The last step of which it was shown what others kept for it as a picture.
    #[serde(default)]
    pictures_to: u32,
}

impl AgentDesk {
    /// A desk for new work, with the memory of an agent.
    pub(super) fn with_memory(mut memory: AgentMemory) -> Self {
        memory.begin();
        Self { memory, ..Self::default() }
    }

    /// Resets for a new round, keeping the memory.
    pub(super) fn begin_round(&mut self) {
        let pictures_to = self.pictures_to;
        *self = Self { pictures_to, ..Self::with_memory(std::mem::take(&mut self.memory)) };
    }

    /// The memory.
    pub(super) const fn memory(&self) -> &AgentMemory {
        &self.memory
    }

    /// The memory, to add to it.
    pub(super) const fn memory_mut(&mut self) -> &mut AgentMemory {
        &mut self.memory
    }

    /// The memory alone.
    pub(super) fn into_memory(self) -> AgentMemory {
        self.memory
    }

    /// The repetition counter.
    pub(super) const fn stall(&self) -> &Stall {
        &self.stall
    }

    /// Records a step and returns how many times in a row it was the same.
    pub(super) fn note_step(&mut self, seen: ObservationFingerprint, did: Did) -> u32 {
        self.stall.note(seen, did)
    }

    /// The next step is no repetition.
    pub(super) fn forget_repetitions(&mut self) {
        self.stall = Stall::default();
    }

    /// The notice for its next step.
    pub(super) fn notice(&self) -> &str {
        &self.notice
    }

    /// Replaces the notice for its next step.
    pub(super) fn set_notice(&mut self, notice: String) {
        self.notice = notice;
    }

    /// Adds a line to the notice for its next step.
    pub(super) fn add_notice(&mut self, line: &str) {
        if self.notice.contains(line) {
            return;
        }
        if !self.notice.is_empty() {
            self.notice.push('\n');
        }
        self.notice.push_str(line);
    }

    /// Returns `true` if retrievers were queried for its work.
    pub(super) const fn is_looked_up(&self) -> bool {
        self.hits.is_some()
    }

    /// The hits of retrievers for its work.
    pub(super) fn hits(&self) -> &[Hit] {
        self.hits.as_deref().unwrap_or_default()
    }

    /// Takes in what retrievers found.
    pub(super) fn found(&mut self, hits: Vec<Hit>) {
        self.hits = Some(hits);
    }

    /// The last step of which it was shown what others kept for it as a picture.
    pub(super) const fn pictures_to(&self) -> u32 {
        self.pictures_to
    }

    /// A question shows the pictures up to a step.
    pub(super) const fn shows_pictures_to(&mut self, step: u32) {
        self.pictures_to = step;
    }

    /// The prompt parts that appear only in its next question.
    pub(super) fn once(&self) -> OneTimePromptParts {
        OneTimePromptParts { notice: self.notice.clone(), pictures_to: self.pictures_to }
    }

    /// A question was not sent, so that the next one has to tell and show that.
    pub(super) fn not_asked(&mut self, once: OneTimePromptParts) {
        self.notice = once.notice;
        self.pictures_to = once.pictures_to;
    }
}
