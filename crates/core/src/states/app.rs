//! The AppAgent's machine.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::UnknownStatus;

/// The states of an AppAgent.
///
/// A sub-task starts in `Continue`, where the four phases run. `Screenshot` looks again without acting;
/// `Pending` waits for an answer of the user, `Confirm` for an approval. `Finish`, `Fail` and `Error` end the
/// sub-task: it is archived on entry and the HostAgent takes over. The cached agent starts over in
/// `Continue` with its next sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AppStatus {
    /// Looks at the application and acts.
    Continue,
    /// Looks again, at some controls only if it named them, without acting.
    Screenshot,
    /// The sub-task is done.
    Finish,
    /// The sub-task could not be done; the HostAgent may try another way.
    Fail,
    /// Waits for an answer of the user.
    Pending,
    /// Waits for an approval; the proposed action is parked, not executed.
    Confirm,
    /// The system broke; the round ends. Never a model's word: one that says ERROR is taken as `Fail`.
    Error,
}

/// What moves an AppAgent's machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppTrigger {
    /// A step was recorded whose reply had this status and whose actions all succeeded.
    Said(AppStatus),
    /// A step was recorded in which an action failed; it vetoes FINISH.
    ActionFailed,
    /// It looked again too often without acting.
    LooksExhausted,
    /// The questions were answered, or need not be.
    Answered,
    /// A question that must be answered was not.
    Unanswered,
    /// The policy wants a person to be asked before the action.
    PolicyAsks,
    /// The parked action was approved.
    Approved,
    /// The parked action was rejected; the sub-task is archived as REJECTED.
    Rejected,
    /// It did the same again and again and nothing changed.
    Stalled,
    /// The parked action was rejected with an instruction what to do instead.
    Instructed,
    /// The window of the application is gone.
    WindowGone,
    /// A budget ran out, or a person stopped the round.
    Stopped,
    /// Looking or asking the model broke beyond repair.
    Broke,
}

/// The transition table: the state after `from` when `trigger` happens.
pub const fn next_app(from: AppStatus, trigger: AppTrigger) -> AppStatus {
    use AppStatus as S;
    use AppTrigger as T;
    match (from, trigger) {
        (S::Finish | S::Fail | S::Error, _) => from,
        (_, T::Broke) => S::Error,
        (_, T::Stopped | T::WindowGone) => S::Fail,
        (S::Continue | S::Screenshot, T::Said(S::Error) | T::Stalled) => S::Fail,
        (S::Continue | S::Screenshot, T::Said(status)) => status,
        (S::Continue | S::Screenshot, T::PolicyAsks) => S::Confirm,
        (S::Continue | S::Screenshot, T::ActionFailed | T::LooksExhausted)
        | (S::Pending, T::Answered)
        | (S::Confirm, T::Approved | T::Instructed) => S::Continue,
        (S::Pending, T::Unanswered) | (S::Confirm, T::Rejected) => S::Fail,
        // Everything else does not concern this state and changes nothing.
        (
            S::Continue | S::Screenshot,
            T::Answered | T::Unanswered | T::Approved | T::Rejected | T::Instructed,
        )
        | (
            S::Pending,
            T::Said(_)
            | T::PolicyAsks
            | T::ActionFailed
            | T::LooksExhausted
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
            | T::LooksExhausted
            | T::Answered
            | T::Unanswered
            | T::Stalled,
        ) => from,
    }
}

impl AppStatus {
    /// Every state, with its word.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("CONTINUE", Self::Continue),
        ("SCREENSHOT", Self::Screenshot),
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

    /// Whether the sub-task is over.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Finish | Self::Fail | Self::Error)
    }
}

impl fmt::Display for AppStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WORDS.iter().find(|(_, status)| status == self).map_or("", |(word, _)| word))
    }
}

impl FromStr for AppStatus {
    type Err = UnknownStatus;

    fn from_str(said: &str) -> Result<Self, UnknownStatus> {
        super::parse(said, &Self::WORDS)
    }
}

impl AppTrigger {
    /// Every trigger.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = AppStatus::WORDS.iter().map(|(_, status)| Self::Said(*status)).collect();
        all.extend([
            Self::ActionFailed,
            Self::LooksExhausted,
            Self::Answered,
            Self::Unanswered,
            Self::PolicyAsks,
            Self::Approved,
            Self::Rejected,
            Self::Instructed,
            Self::Stalled,
            Self::WindowGone,
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
            Self::LooksExhausted => "looked too often".to_owned(),
            Self::Answered => "answered".to_owned(),
            Self::Unanswered => "a required answer is missing".to_owned(),
            Self::PolicyAsks => "the policy asks first".to_owned(),
            Self::Approved => "approved".to_owned(),
            Self::Rejected => "rejected".to_owned(),
            Self::Instructed => "rejected with an instruction".to_owned(),
            Self::Stalled => "repeats itself".to_owned(),
            Self::WindowGone => "the window is gone".to_owned(),
            Self::Stopped => "stopped, or a budget ran out".to_owned(),
            Self::Broke => "broke beyond repair".to_owned(),
        }
    }
}
