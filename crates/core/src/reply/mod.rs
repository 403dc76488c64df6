//! From the text of a model to a decision.
//!
//! Fields are accepted in two spellings (`Current Sub-Task`, `ControlLabel`, `Args` and `current_subtask`,
//! `control_label`, `arguments`); prompts and schemas use the lower-case one (decision 12). Everything that is wrong comes
//! back as a [`ReplyError`] whose path and message are sent to the model.

mod any;
mod app;
mod evaluation;
mod extract;
mod fields;
mod host;
mod lenient;
mod lookahead;
mod schema;
mod search;
mod windows_path;

pub use any::Reply;
pub use app::{AppReply, parse_agent_reply, parse_app_reply};
pub use evaluation::{EvaluationReply, parse_evaluation_reply};
pub use extract::{ExtractError, Extracted, Repair, extract_json};
pub use host::{HostReply, LAUNCH, SELECT_WINDOW, parse_host_reply};
pub use schema::{agent_reply_schema, app_reply_schema, evaluation_reply_schema, host_reply_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Why a reply cannot be used; goes back to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// There is no JSON object in it that can be read.
    #[error(transparent)]
    NoJson(#[from] ExtractError),
    /// A field is missing or wrong.
    #[error("`{path}`: {problem}")]
    Field {
        /// Where: `action[1].arguments`.
        path: String,
        /// What is wrong, and what is expected.
        problem: String,
    },
}

impl ReplyError {
    fn field(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Field { path: path.into(), problem: problem.into() }
    }
}

/// An action that a model proposes; nothing has been checked but its form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedAction {
    /// The name of a tool.
    pub function: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// A few words that what comes back contains when it worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
}

/// A sub-task that the HostAgent names before it is its turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextSubtask {
    /// The sub-task.
    pub subtask: String,
    /// What its agent should know.
    pub message: Vec<String>,
    /// The id of the target.
    pub target: Option<String>,
    /// The command that opens the application, instead of a target.
    pub launch: Option<ProposedAction>,
}

/// A question for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Whether the work cannot go on without an answer.
    pub required: bool,
    /// What is taken where nobody answers in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Answers to choose from; empty where any will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

impl Question {
    /// A question that any answer will do for, and that can be left open.
    pub fn open(text: impl Into<String>) -> Self {
        Self { text: text.into(), required: false, default: None, choices: Vec::new() }
    }
}
