//! What can be configured of questions and approvals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who is asked, and how long their answers are waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PeopleSettings {
    /// Whether agents may ask questions; without it they decide for themselves.
    pub ask_questions: bool,
    /// What becomes of an action that needs approval.
    pub approvals: ApprovalSetting,
    /// The way to the user.
    pub channel: ChannelSetting,
    /// How long a question waits for an answer, in seconds; without it, or with 0, for ever.
    pub question_timeout_s: Option<u64>,
    /// How long an action waits for approval, in seconds; without it, or with 0, for ever.
    pub approval_timeout_s: Option<u64>,
}

impl Default for PeopleSettings {
    fn default() -> Self {
        Self {
            ask_questions: true,
            approvals: ApprovalSetting::Ask,
            channel: ChannelSetting::Auto,
            question_timeout_s: None,
            approval_timeout_s: None,
        }
    }
}

/// What becomes of an action that needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalSetting {
    /// The user is asked; where nobody can be, it is not done.
    Ask,
    /// It is done without asking. What the policy denies is not.
    All,
    /// It is not done, and nobody is asked.
    None,
}

/// The way to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChannelSetting {
    /// JSON lines with `--json`, else the terminal, if standard input is one.
    Auto,
    /// Nobody is asked.
    None,
}
