//! The observed effect of an action, and the way that it went.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Observed effect of an action. A tool's "ok" alone proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Events, a changed tree or a read-back show that it happened.
    Seen,
    /// The action was carried out and nothing changed within the time limit.
    NotSeen,
    /// The action was not carried out: the target is gone, disabled, covered, or has another name than expected.
    Refused,
    /// The action was carried out and there is no way to determine its effect.
    Unknown,
}

impl Verdict {
    /// The word that is printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::NotSeen => "not_seen",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Which way an action went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionRoute {
    /// Through the accessibility interface.
    Semantic,
    /// By real mouse and keyboard events.
    Input,
}
