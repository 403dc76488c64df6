//! Who made a file that says what is done, and what a step carries away from where it was read.
//!
//! Pure data: the seal that proves who made a file is checked where files are read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who made a file that says what is done: a workflow, a plan, a task, a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// This user, on this machine: it was learnt, recorded or written by a command of theirs. Its texts are the user's words, and it
    /// may repeat the flows of values that it was learnt with.
    Made,
    /// Somebody wrote it, and this user has looked at what it does and trusts it. Its texts are the user's words.
    Trusted,
    /// Nobody knows. Its texts are from outside, as those of a page are.
    #[default]
    Stranger,
}

impl Provenance {
    /// Returns `true` if its texts count as the user's words.
    pub const fn is_users(self) -> bool {
        matches!(self, Self::Made | Self::Trusted)
    }

    /// The word for listings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Made => "made here",
            Self::Trusted => "trusted",
            Self::Stranger => "not trusted",
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Place where a step of a workflow has read a value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadAt {
    /// The number of the step, as in 3 or 4.2.
    pub step: String,
    /// The tool.
    pub tool: String,
    /// The short name of the application that showed it; empty for files and the clipboard.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub application: String,
    /// The hosts of the page that showed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// A value that a step of a workflow has read, in an argument of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedValue {
    /// The argument; empty for what is pasted.
    pub argument: String,
    /// The name of the value in the workflow.
    pub value: String,
    /// Place where it was read.
    pub read: ReadAt,
    /// Who made the workflow.
    #[serde(default)]
    pub provenance: Provenance,
    /// The host that the workflow itself writes in front of the value, as in `https://example.org/?q={value}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_host: Option<String>,
}
