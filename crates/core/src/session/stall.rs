//! Notices an agent that does the same again and sees the same.

use serde::{Deserialize, Serialize};

/// How often in a row an agent's steps were the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Stall {
    seen: String,
    did: Vec<String>,
    count: u32,
}

impl Stall {
    /// Notes a step and returns how often in a row it has been the same, this time included. A step without
    /// actions is no repetition of anything.
    pub(super) fn note(&mut self, seen: String, did: Vec<String>) -> u32 {
        if !did.is_empty() && self.seen == seen && self.did == did {
            self.count = self.count.saturating_add(1);
        } else {
            *self = Self { seen, count: u32::from(!did.is_empty()), did };
        }
        self.count
    }
}

/// What an agent is told that repeats itself; none while it does not.
pub(super) fn nudge(count: u32) -> Option<String> {
    (count >= 2).then(|| {
        format!(
            "You have now done exactly the same {count} times, and everything looks as it did before. Do not repeat \
             it: reach the goal another way, or say FAIL and why."
        )
    })
}

/// Why an agent that repeats itself is stopped.
pub(super) fn stalled(count: u32) -> String {
    format!("the same actions were taken {count} times in a row and nothing changed")
}
