//! How a round ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::evaluation::Evaluation;

/// The end of a round. Every way to end has its own word and its own exit code; none is success but `Finished`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The HostAgent said FINISH and nothing spoke against it.
    Finished,
    /// The agents could not do it.
    Failed,
    /// A person or the policy said no.
    Rejected,
    /// Steps, calls, tokens, money or time ran out.
    BudgetExhausted,
    /// A person stopped it.
    Cancelled,
    /// Something broke: the desktop, the model, or a reply that could not be repaired.
    Error,
}

impl OutcomeKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Finished, Self::Failed, Self::Rejected, Self::BudgetExhausted, Self::Cancelled, Self::Error];

    /// The word that is printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Cancelled => "cancelled",
            Self::Error => "error",
        }
    }

    /// The exit code of the process. 1 and 2 are left to the command line (anything else; wrong usage).
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Finished => 0,
            Self::Failed => 10,
            Self::Rejected => 11,
            Self::BudgetExhausted => 12,
            Self::Error => 13,
            // What shells use for a process that ended by SIGINT.
            Self::Cancelled => 130,
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How a round ended, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which way.
    pub kind: OutcomeKind,
    /// The reason in a sentence or two, for the person who asked.
    pub reason: String,
    /// What an evaluation of a finished round says; none where there was none. It changes nothing about how the round
    /// ended: a round that finished and is judged `no` is told as just that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

impl Outcome {
    /// An outcome that nobody has judged.
    pub fn new(kind: OutcomeKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), evaluation: None }
    }
}
