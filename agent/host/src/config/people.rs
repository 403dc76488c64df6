//! Settings of questions and approvals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings for questions and approvals, and the time limits for your replies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PeopleSettings {
    /// If `true`, agents may ask questions. Otherwise they decide for themselves.
    pub ask_questions: bool,
    /// Response to an action that needs approval.
    pub approvals: ApprovalSetting,
    /// Channel by which questions reach you.
    pub channel: ChannelSetting,
    /// Permissions of your programs at the control socket of a session, such as the page of `deskhand serve`.
    pub socket: SocketSetting,
    /// Maximum time to wait for the answer to a question, in seconds. 0 or no value waits without limit.
    pub question_timeout_s: Option<u64>,
    /// Maximum time to wait for an approval, in seconds. 0 or no value waits without limit.
    pub approval_timeout_s: Option<u64>,
}

impl Default for PeopleSettings {
    fn default() -> Self {
        Self {
            ask_questions: true,
            approvals: ApprovalSetting::Ask,
            channel: ChannelSetting::Auto,
            socket: SocketSetting::IfConfined,
            question_timeout_s: None,
            approval_timeout_s: None,
        }
    }
}

/// Response to an action that needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalSetting {
    /// Ask you; reject the action if nobody can be asked.
    Ask,
    /// Approve every action without asking; what the policy denies stays denied.
    All,
    /// Reject every action without asking.
    None,
}

/// Channel by which questions reach you.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChannelSetting {
    /// Over JSON lines with `--json`, else on the terminal if standard input is one; besides, whoever is at the control socket of the
    /// session, such as a page of `deskhand serve`.
    Auto,
    /// Through the control socket of the session alone; a question waits until somebody is there.
    Socket,
    /// Not at all; the session has no control socket.
    None,
}

/// Permissions of your programs at the control socket of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SocketSetting {
    /// Approve, answer, say, take over and pause, if bubblewrap confines the applications of the session; else only watch and stop it:
    /// an application that nothing confines could speak as you.
    IfConfined,
    /// All of that, also beside applications that nothing confines.
    Always,
    /// Only watch and stop it.
    Watch,
}
