//! The memory of one agent.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::command::ActionCommandInfo;
use deskhand_ui::text::clip;

/// A step in an agent's memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MemoryItem {
    /// The number of the step in its session, from 1.
    pub step: u32,
    /// Its round, from 1.
    #[serde(default)]
    pub round: u32,
    /// Its number in its round, from 1.
    #[serde(default)]
    pub round_step: u32,
    /// Its number among the steps of this agent, from 1.
    #[serde(default)]
    pub agent_step: u32,
    /// The root of the application that it was taken in or that was selected; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub application: String,
    /// The sub-task that it was a part of; of the HostAgent, the one that it assigned.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subtask: String,
    /// Observation of the agent, in its own words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub observation: String,
    /// The agent's reasoning.
    pub thought: String,
    /// Its calls and their results.
    pub actions: Vec<ActionCommandInfo>,
    /// The status it reported.
    pub status: String,
    /// Its plan after the step.
    pub plan: Vec<String>,
    /// The step on one line, for when the rest of it is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brief: String,
}

/// A piece of work that an agent has ended: a sub-task, or of the HostAgent a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastWork {
    /// Its round.
    pub round: u32,
    /// Description of the work.
    pub work: String,
    /// Final status, in a word.
    pub status: String,
    /// Result of the work.
    pub result: String,
    /// Its last steps, a line each.
    pub steps: Vec<String>,
}

/// The steps of one agent, bounded: those of the work in progress, and what became of earlier work. The journal keeps everything.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentMemory {
    items: VecDeque<MemoryItem>,
    /// Steps of the work in progress before those, a line each.
    #[serde(default)]
    earlier: VecDeque<String>,
    /// Number of steps before those.
    #[serde(default)]
    dropped: u32,
    #[serde(default)]
    past: VecDeque<PastWork>,
    /// End of the work in progress, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<PastWork>,
    /// Number of steps taken.
    #[serde(default)]
    steps: u32,
}

impl AgentMemory {
    /// The most steps that are kept.
    pub const ITEMS_MAX: usize = 20;
    /// The most steps before those that are kept as a line.
    pub const EARLIER_MAX: usize = 100;
    /// The most pieces of ended work that are kept.
    pub const PAST_MAX: usize = 12;
    /// The most steps of each that are kept as a line.
    pub const PAST_STEPS_MAX: usize = 8;
    /// The longest thought that is kept, in characters.
    pub const THOUGHT_CHARS_MAX: usize = 1_000;
    /// The longest observation that is kept, in characters.
    pub const OBSERVATION_CHARS_MAX: usize = 400;
    /// The longest result of ended work that is kept, in characters.
    pub const RESULT_CHARS_MAX: usize = 1_000;

    /// Adds a step.
    pub fn add(&mut self, mut item: MemoryItem) {
        item.thought = clip(&item.thought, Self::THOUGHT_CHARS_MAX);
        item.observation = clip(&item.observation, Self::OBSERVATION_CHARS_MAX);
        self.steps = self.steps.saturating_add(1);
        while self.items.len() >= Self::ITEMS_MAX {
            let Some(oldest) = self.items.pop_front() else { break };
            while self.earlier.len() >= Self::EARLIER_MAX {
                self.earlier.pop_front();
                self.dropped = self.dropped.saturating_add(1);
            }
            self.earlier.push_back(oldest.brief);
        }
        self.items.push_back(item);
    }

    /// Notes how the work in progress ended. Its steps are kept until the next work [begins](Self::begin).
    pub fn end(&mut self, round: u32, work: &str, status: &str, result: &str) {
        self.ended = Some(PastWork {
            round,
            work: clip(work, Self::RESULT_CHARS_MAX),
            status: status.to_owned(),
            result: clip(result, Self::RESULT_CHARS_MAX),
            steps: Vec::new(),
        });
    }

    /// Begins other work: of what has ended, the last steps are kept as lines.
    pub fn begin(&mut self) {
        let Some(mut past) = self.ended.take() else { return };
        let briefs = self.earlier.drain(..).chain(self.items.drain(..).map(|item| item.brief));
        past.steps = briefs.collect();
        past.steps.drain(..past.steps.len().saturating_sub(Self::PAST_STEPS_MAX));
        self.dropped = 0;
        while self.past.len() >= Self::PAST_MAX {
            self.past.pop_front();
        }
        self.past.push_back(past);
    }

    /// The kept steps of the work in progress, oldest first.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = &MemoryItem> {
        self.items.iter()
    }

    /// The steps before those, a line each, and how many came before them.
    pub fn earlier(&self) -> (impl DoubleEndedIterator<Item = &str> + Clone, u32) {
        (self.earlier.iter().map(String::as_str), self.dropped)
    }

    /// Returns the work before the work in progress, oldest first.
    pub fn past(&self) -> impl DoubleEndedIterator<Item = &PastWork> {
        self.past.iter()
    }

    /// The last step of the work in progress.
    pub fn last(&self) -> Option<&MemoryItem> {
        self.items.back()
    }

    /// Returns the number of steps that this agent has taken.
    pub const fn steps(&self) -> u32 {
        self.steps
    }
}
