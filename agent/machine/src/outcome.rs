//! End of a round.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{evaluation::Evaluation, workflow::WorkflowEnd};

/// Kind of a round's end. Each kind has its own word and exit code; only `Finished` is success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The HostAgent replied FINISH and nothing vetoed it.
    Finished,
    /// The agents could not fulfil the request.
    Failed,
    /// A person or the policy rejected an action.
    Rejected,
    /// The budget for steps, calls, tokens, money or time is exhausted.
    BudgetExhausted,
    /// A person stopped the round.
    Cancelled,
    /// The desktop, the model or a reply failed after all retries.
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

    /// The exit code of the process. The command line uses 1 for other errors and 2 for wrong usage.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Finished => 0,
            Self::Failed => 10,
            Self::Rejected => 11,
            Self::BudgetExhausted => 12,
            Self::Error => 13,
            // The shell convention for SIGINT.
            Self::Cancelled => 130,
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// End of a round, with its reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its kind.
    pub kind: OutcomeKind,
    /// The reason in a sentence or two, for the person who asked.
    pub reason: String,
    /// The evaluation of a finished round; `None` if there was none. It does not change the kind: a round can be finished
    /// and evaluated as `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
    /// The documents that were last seen with unsaved changes, by path or name, if it is finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsaved: Vec<String>,
    /// Progress and proposed changes of the workflow, if the round was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Box<WorkflowEnd>>,
    /// The same for workflows that agents ran in the round, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<WorkflowEnd>,
}

impl Outcome {
    /// An outcome without an evaluation.
    pub fn new(kind: OutcomeKind, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { kind, reason, evaluation: None, unsaved: Vec::new(), workflow: None, nested: Vec::new() }
    }
}
