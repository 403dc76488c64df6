//! Words and work of people in a session: requests, answers, remarks, and who has mouse and keyboard.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::hiding::{Values, hide};
use deskhand_ui::text::clip;

/// The longest text that a person says at once, in characters.
pub const WORDS_CHARS_MAX: usize = 4_000;

/// The words of the user in a session: requests, answers and instructions. Nothing else counts as the user's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct UserTexts(VecDeque<String>);

impl UserTexts {
    /// The most texts that are kept.
    const TEXTS_MAX: usize = 100;
    /// The longest text, in characters.
    const CHARS_MAX: usize = 20_000;

    /// Adds a text of the user.
    fn add(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        while self.0.len() >= Self::TEXTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(clip(text, Self::CHARS_MAX));
    }

    /// The texts, in order.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Unprompted messages of the user: the last ones, and their total number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct UserRemarks {
    count: u32,
    last: VecDeque<String>,
}

impl UserRemarks {
    /// The most words that are kept for questions that are next. The blackboard has more.
    const LAST_MAX: usize = 20;

    /// Returns the total number of messages.
    const fn count(&self) -> u32 {
        self.count
    }

    fn add(&mut self, text: String) {
        self.count = self.count.saturating_add(1);
        while self.last.len() >= Self::LAST_MAX {
            self.last.pop_front();
        }
        self.last.push_back(text);
    }

    /// Those after the first `count`.
    fn after(&self, count: u32) -> impl Iterator<Item = &str> {
        let new = usize::try_from(self.count.saturating_sub(count)).unwrap_or(usize::MAX);
        self.last.iter().skip(self.last.len().saturating_sub(new)).map(String::as_str)
    }
}

/// Words and work of people.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct PeopleLedger {
    /// Text that the user has entered.
    #[serde(default)]
    said: UserTexts,
    /// Text that the user entered of their own accord.
    #[serde(default)]
    remarks: UserRemarks,
    /// Since when a person has taken over, if they have, in milliseconds since 1970-01-01 UTC.
    #[serde(default)]
    taken_over_ms: Option<u64>,
}

impl PeopleLedger {
    /// Takes in a text of the user.
    pub(super) fn says(&mut self, text: &str) {
        self.said.add(text);
    }

    /// Takes in what the user says of their own accord.
    pub(super) fn remarks(&mut self, text: String) {
        self.said.add(&text);
        self.remarks.add(text);
    }

    /// The texts of the user, in order.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.said.texts()
    }

    /// The number of remarks so far.
    pub(super) const fn remarks_count(&self) -> u32 {
        self.remarks.count()
    }

    /// The remarks after the first `count`.
    pub(super) fn remarks_after(&self, count: u32) -> impl Iterator<Item = &str> {
        self.remarks.after(count)
    }

    /// A person takes over.
    pub(super) const fn take_over(&mut self, now_ms: u64) {
        self.taken_over_ms = Some(now_ms);
    }

    /// A person hands back.
    pub(super) const fn hand_back(&mut self) {
        self.taken_over_ms = None;
    }

    /// Since when a person has taken over, if they have.
    pub(super) const fn taken_over_ms(&self) -> Option<u64> {
        self.taken_over_ms
    }

    /// Puts dots in the place of passwords.
    pub(super) fn hide(&mut self, values: &Values) {
        hide(&mut self.said, values);
    }
}
