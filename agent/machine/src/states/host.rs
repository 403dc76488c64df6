//! The HostAgent's state machine.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::UnknownStatus;

/// The states of the HostAgent.
///
/// A round starts in `Continue`, where the four phases run. `Assign` hands a sub-task to an AppAgent and lasts until
/// that ends; `Pending` waits for the user's answer, `Confirm` for an approval. `Finish`, `Fail` and `Error` end the
/// round and are terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HostStatus {
    /// Observes the desktop and decides what to do next.
    Continue,
    /// An AppAgent works on a sub-task.
    Assign,
    /// The request is fulfilled.
    Finish,
    /// The request cannot be fulfilled.
    Fail,
    /// Waits for the user's answer.
    Pending,
    /// Waits for an approval; the proposed action is parked, not executed.
    Confirm,
    /// System error. Not available to a model: its ERROR is read as `Fail`.
    Error,
}

/// The events of the HostAgent's state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostTrigger {
    /// A step was recorded with this status in the reply and every action succeeded.
    Said(HostStatus),
    /// A step was recorded in which an action failed; it vetoes FINISH and ASSIGN.
    ActionFailed,
    /// The sub-task ended, with any result, and the round continues.
    SubtaskEnded,
    /// The last sub-task ended and the request is verified as fulfilled.
    SubtaskVerified,
    /// Too many sub-tasks failed in a row.
    SubtasksExhausted,
    /// A planned step failed, or the plan has none left.
    PlanFailed,
    /// The questions were answered, or need no answer.
    Answered,
    /// A required question was not answered.
    Unanswered,
    /// The policy requires an approval of the action.
    PolicyAsks,
    /// The parked action was approved.
    Approved,
    /// The parked action was rejected.
    Rejected,
    /// Repeated actions changed nothing.
    Stalled,
    /// The parked action was rejected with an instruction.
    Instructed,
    /// A budget is exhausted, or a person stopped the round.
    Stopped,
    /// Observing, asking the model or an AppAgent failed after all retries.
    Broke,
}

/// The transition table: the state after `trigger` in state `from`.
pub const fn next_host(from: HostStatus, trigger: HostTrigger) -> HostStatus {
    use HostStatus as S;
    use HostTrigger as T;
    match (from, trigger) {
        (S::Finish | S::Fail | S::Error, _) => from,
        (_, T::Broke) => S::Error,
        (_, T::Stopped) => S::Fail,
        (S::Continue, T::Said(S::Error) | T::Stalled | T::PlanFailed) => S::Fail,
        (S::Continue, T::Said(status)) => status,
        (S::Continue, T::PolicyAsks) => S::Confirm,
        (S::Assign, T::SubtasksExhausted | T::PlanFailed) => S::Fail,
        (S::Assign, T::SubtaskVerified) => S::Finish,
        // A failed selection vetoes ASSIGN; so does a failed action of the same step.
        (S::Assign, T::SubtaskEnded | T::ActionFailed) => S::Continue,
        (S::Pending, T::Answered) => S::Continue,
        (S::Pending, T::Unanswered) => S::Fail,
        (S::Confirm, T::Approved | T::Instructed) => S::Continue,
        (S::Confirm, T::Rejected) => S::Fail,
        // All other triggers do not apply to this state and change nothing.
        (
            S::Continue,
            T::ActionFailed
            | T::SubtaskEnded
            | T::SubtaskVerified
            | T::SubtasksExhausted
            | T::Answered
            | T::Unanswered
            | T::Approved
            | T::Rejected
            | T::Instructed,
        )
        | (
            S::Assign,
            T::PolicyAsks
            | T::Said(_)
            | T::Answered
            | T::Unanswered
            | T::Approved
            | T::Rejected
            | T::Instructed
            | T::Stalled,
        )
        | (
            S::Pending,
            T::Said(_)
            | T::PolicyAsks
            | T::ActionFailed
            | T::SubtaskEnded
            | T::SubtaskVerified
            | T::SubtasksExhausted
            | T::PlanFailed
            | T::Approved
            | T::Rejected
            | T::Instructed
            | T::Stalled,
        )
        | (
            S::Confirm,
            T::Said(_)
            | T::PolicyAsks
            | T::ActionFailed
            | T::SubtaskEnded
            | T::SubtaskVerified
            | T::SubtasksExhausted
            | T::PlanFailed
            | T::Answered
            | T::Unanswered
            | T::Stalled,
        ) => from,
    }
}

impl HostStatus {
    /// Every state and its word.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("CONTINUE", Self::Continue),
        ("ASSIGN", Self::Assign),
        ("FINISH", Self::Finish),
        ("FAIL", Self::Fail),
        ("PENDING", Self::Pending),
        ("CONFIRM", Self::Confirm),
        ("ERROR", Self::Error),
    ];

    /// The statuses that a model may use.
    pub fn sayable() -> Vec<&'static str> {
        super::sayable(&Self::WORDS)
    }

    /// Returns `true` if the round is over.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Finish | Self::Fail | Self::Error)
    }
}

impl fmt::Display for HostStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WORDS.iter().find(|(_, status)| status == self).map_or("", |(word, _)| word))
    }
}

impl FromStr for HostStatus {
    type Err = UnknownStatus;

    fn from_str(said: &str) -> Result<Self, UnknownStatus> {
        super::parse(said, &Self::WORDS)
    }
}

impl HostTrigger {
    /// Every trigger.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = HostStatus::WORDS.iter().map(|(_, status)| Self::Said(*status)).collect();
        all.extend([
            Self::ActionFailed,
            Self::SubtaskEnded,
            Self::SubtaskVerified,
            Self::SubtasksExhausted,
            Self::PlanFailed,
            Self::Answered,
            Self::Unanswered,
            Self::PolicyAsks,
            Self::Approved,
            Self::Rejected,
            Self::Instructed,
            Self::Stalled,
            Self::Stopped,
            Self::Broke,
        ]);
        all
    }

    /// The trigger as text.
    pub fn label(self) -> String {
        match self {
            Self::Said(status) => format!("model replies {status}"),
            Self::ActionFailed => "action failed".to_owned(),
            Self::SubtaskEnded => "sub-task ended".to_owned(),
            Self::SubtaskVerified => "last sub-task verified".to_owned(),
            Self::PlanFailed => "plan failed".to_owned(),
            Self::SubtasksExhausted => "too many sub-tasks failed".to_owned(),
            Self::Answered => "answered".to_owned(),
            Self::Unanswered => "required answer missing".to_owned(),
            Self::PolicyAsks => "policy requires approval".to_owned(),
            Self::Approved => "approved".to_owned(),
            Self::Rejected => "rejected".to_owned(),
            Self::Instructed => "rejected with an instruction".to_owned(),
            Self::Stalled => "no progress".to_owned(),
            Self::Stopped => "stopped, or budget exhausted".to_owned(),
            Self::Broke => "unrecoverable error".to_owned(),
        }
    }
}
