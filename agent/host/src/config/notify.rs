//! Settings of who is told when work has ended.

use deskhand_machine::outcome::OutcomeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ValueSource;

/// Who is told when a session, a batch or a schedule has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotifySettings {
    /// The address that gets a POST request with JSON. One that holds a secret stands elsewhere: see `webhook_from`.
    pub webhook: Option<String>,
    /// Source of the address, if the address holds a secret.
    pub webhook_from: Option<ValueSource>,
    /// If `true`, your desktop shows a notification.
    pub desktop: bool,
    /// The outcomes that are told.
    #[schemars(extend("x-expects" = "a list of \"finished\", \"failed\", \"rejected\", \"budget_exhausted\", \"cancelled\", \"error\""))]
    pub on: Vec<OutcomeSetting>,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self { webhook: None, webhook_from: None, desktop: false, on: OutcomeSetting::ALL.to_vec() }
    }
}

/// Outcome of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeSetting {
    /// The work is done.
    Finished,
    /// The work could not be done.
    Failed,
    /// A person or the policy refused an action.
    Rejected,
    /// The work would have exceeded its budget.
    BudgetExhausted,
    /// A person stopped it.
    Cancelled,
    /// The desktop, the model or a reply failed.
    Error,
}

impl OutcomeSetting {
    /// Every outcome.
    pub const ALL: [Self; 6] =
        [Self::Finished, Self::Failed, Self::Rejected, Self::BudgetExhausted, Self::Cancelled, Self::Error];

    /// The outcome.
    pub const fn to_kind(self) -> OutcomeKind {
        match self {
            Self::Finished => OutcomeKind::Finished,
            Self::Failed => OutcomeKind::Failed,
            Self::Rejected => OutcomeKind::Rejected,
            Self::BudgetExhausted => OutcomeKind::BudgetExhausted,
            Self::Cancelled => OutcomeKind::Cancelled,
            Self::Error => OutcomeKind::Error,
        }
    }
}
