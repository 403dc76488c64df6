//! The memory of one agent.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{command::ActionCommandInfo, text::clip};

/// A step in an agent's memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryItem {
    /// The number of the step in its session.
    pub step: u32,
    /// What it saw, in its own words.
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
}

/// The last steps of one agent, bounded. The journal keeps all of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    items: VecDeque<MemoryItem>,
}

impl Memory {
    /// The most steps that are kept.
    pub const ITEMS_MAX: usize = 20;
    /// The longest thought that is kept, in characters.
    pub const THOUGHT_CHARS_MAX: usize = 1_000;
    /// The longest observation that is kept, in characters.
    pub const OBSERVATION_CHARS_MAX: usize = 400;

    /// Adds a step.
    pub fn add(&mut self, mut item: MemoryItem) {
        item.thought = clip(&item.thought, Self::THOUGHT_CHARS_MAX);
        item.observation = clip(&item.observation, Self::OBSERVATION_CHARS_MAX);
        while self.items.len() >= Self::ITEMS_MAX {
            self.items.pop_front();
        }
        self.items.push_back(item);
    }

    /// The kept steps, oldest first.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = &MemoryItem> {
        self.items.iter()
    }

    /// The last step.
    pub fn last(&self) -> Option<&MemoryItem> {
        self.items.back()
    }
}
