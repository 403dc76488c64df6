//! The AppAgent's state machine.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::UnknownStatus;

/// The states of an AppAgent.
///
/// A sub-task starts in `Continue`, where the four phases run. `Screenshot` observes again without acting; `Pending`
/// waits for the user's answer, `Confirm` for an approval. `Finish`, `Fail` and `Error` end the sub-task: it is
/// archived on entry and control returns to the HostAgent. The cached agent restarts in `Continue` with its
/// next sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AppStatus {
    /// Observes the application and acts.
    Continue,
    /// Observes again without acting, optionally annotating only some controls.
    Screenshot,
    /// The sub-task is done.
    Finish,
    /// The sub-task failed; the HostAgent may try another way.
    Fail,
    /// Waits for the user's answer.
    Pending,
    /// Waits for an approval; the proposed action is parked, not executed.
    Confirm,
    /// System error; the round ends. Not available to a model: its ERROR is read as `Fail`.
    Error,
}

/// The events of the AppAgent's state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppTrigger {
    /// A step was recorded with this status in the reply and every action succeeded.
    Said(AppStatus),
    /// A step was recorded in which an action failed; it vetoes FINISH.
    ActionFailed,
    /// Too many SCREENSHOT steps in a row.
    LooksExhausted,
    /// The questions were answered, or need no answer.
    Answered,
    /// A required question was not answered.
    Unanswered,
    /// The policy requires an approval of the action.
    PolicyAsks,
    /// The parked action was approved.
    Approved,
    /// The parked action was rejected; the sub-task is archived as REJECTED.
    Rejected,
    /// Repeated actions changed nothing.
    Stalled,
    /// The parked action was rejected with an instruction.
    Instructed,
    /// The window closed, as the last action meant.
    WindowClosed,
    /// The application's window closed.
    WindowGone,
    /// A budget is exhausted, or a person stopped the round.
    Stopped,
    /// Observing or asking the model failed after all retries.
    Broke,
}

/// The transition table: the state after `trigger` in state `from`.
pub const fn next_app(from: AppStatus, trigger: AppTrigger) -> AppStatus {
    use AppStatus as S;
    use AppTrigger as T;
    match (from, trigger) {
        (S::Finish | S::Fail | S::Error, _) => from,
        (_, T::Broke) => S::Error,
        (_, T::Stopped | T::WindowGone) => S::Fail,
        (_, T::WindowClosed) => S::Finish,
        (S::Continue | S::Screenshot, T::Said(S::Error) | T::Stalled) => S::Fail,
        (S::Continue | S::Screenshot, T::Said(status)) => status,
        (S::Continue | S::Screenshot, T::PolicyAsks) => S::Confirm,
        (S::Continue | S::Screenshot, T::ActionFailed | T::LooksExhausted)
        | (S::Pending, T::Answered)
        | (S::Confirm, T::Approved | T::Instructed) => S::Continue,
        (S::Pending, T::Unanswered) | (S::Confirm, T::Rejected) => S::Fail,
        // All other triggers do not apply to this state and change nothing.
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
    /// Every state and its word.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("CONTINUE", Self::Continue),
        ("SCREENSHOT", Self::Screenshot),
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

    /// Returns `true` if the sub-task is over.
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
            Self::WindowClosed,
            Self::WindowGone,
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
            Self::LooksExhausted => "screenshot limit reached".to_owned(),
            Self::Answered => "answered".to_owned(),
            Self::Unanswered => "required answer missing".to_owned(),
            Self::PolicyAsks => "policy requires approval".to_owned(),
            Self::Approved => "approved".to_owned(),
            Self::Rejected => "rejected".to_owned(),
            Self::Instructed => "rejected with an instruction".to_owned(),
            Self::Stalled => "no progress".to_owned(),
            Self::WindowClosed => "window closed as meant".to_owned(),
            Self::WindowGone => "window closed".to_owned(),
            Self::Stopped => "stopped, or budget exhausted".to_owned(),
            Self::Broke => "unrecoverable error".to_owned(),
        }
    }
}
