//! The HostAgent's machine.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::UnknownStatus;

/// The states of the HostAgent.
///
/// A round starts in `Continue`, where the four phases run. `Assign` hands a sub-task to an AppAgent and lasts
/// until that one is done; `Pending` waits for an answer of the user, `Confirm` for an approval. `Finish`,
/// `Fail` and `Error` end the round and are never left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HostStatus {
    /// Looks at the desktop and decides what is next.
    Continue,
    /// An AppAgent works on a sub-task.
    Assign,
    /// The request is fulfilled.
    Finish,
    /// The request cannot be fulfilled.
    Fail,
    /// Waits for an answer of the user.
    Pending,
    /// Waits for an approval; the proposed action is parked, not executed.
    Confirm,
    /// The system broke. Never a model's word: one that says ERROR is taken as `Fail`.
    Error,
}

/// What moves the HostAgent's machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostTrigger {
    /// A step was recorded whose reply had this status and whose actions all succeeded.
    Said(HostStatus),
    /// A step was recorded in which an action failed; it vetoes FINISH and ASSIGN.
    ActionFailed,
    /// The sub-task ended, whichever way, and the round goes on.
    SubtaskEnded,
    /// The last sub-task ended and it is beyond doubt that the request is fulfilled.
    SubtaskVerified,
    /// Too many sub-tasks in a row failed.
    SubtasksExhausted,
    /// A step of a plan failed, or there is none to take.
    PlanFailed,
    /// The questions were answered, or need not be.
    Answered,
    /// A question that must be answered was not.
    Unanswered,
    /// The policy wants a person to be asked before the action.
    PolicyAsks,
    /// The parked action was approved.
    Approved,
    /// The parked action was rejected.
    Rejected,
    /// It did the same again and again and nothing changed.
    Stalled,
    /// The parked action was rejected with an instruction what to do instead.
    Instructed,
    /// A budget ran out, or a person stopped the round.
    Stopped,
    /// Looking, asking the model or an AppAgent broke beyond repair.
    Broke,
}

/// The transition table: the state after `from` when `trigger` happens.
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
        // Everything else does not concern this state and changes nothing.
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
    /// Every state, with its word.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("CONTINUE", Self::Continue),
        ("ASSIGN", Self::Assign),
        ("FINISH", Self::Finish),
        ("FAIL", Self::Fail),
        ("PENDING", Self::Pending),
        ("CONFIRM", Self::Confirm),
        ("ERROR", Self::Error),
    ];

    /// The words that a model may say.
    pub fn sayable() -> Vec<&'static str> {
        super::sayable(&Self::WORDS)
    }

    /// Whether the round is over.
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

    /// What happened, in words.
    pub fn label(self) -> String {
        match self {
            Self::Said(status) => format!("said {status}"),
            Self::ActionFailed => "an action failed".to_owned(),
            Self::SubtaskEnded => "the sub-task ended".to_owned(),
            Self::SubtaskVerified => "the last sub-task was seen to be done".to_owned(),
            Self::PlanFailed => "a plan cannot be followed".to_owned(),
            Self::SubtasksExhausted => "too many sub-tasks failed".to_owned(),
            Self::Answered => "answered".to_owned(),
            Self::Unanswered => "a required answer is missing".to_owned(),
            Self::PolicyAsks => "the policy asks first".to_owned(),
            Self::Approved => "approved".to_owned(),
            Self::Rejected => "rejected".to_owned(),
            Self::Instructed => "rejected with an instruction".to_owned(),
            Self::Stalled => "repeats itself".to_owned(),
            Self::Stopped => "stopped, or a budget ran out".to_owned(),
            Self::Broke => "broke beyond repair".to_owned(),
        }
    }
}
