//! Parses the text of a model reply into a decision.
//!
//! Fields are accepted in two spellings (`Current Sub-Task`, `ControlLabel`, `Args` and `current_subtask`,
//! `control_label`, `arguments`); prompts and schemas use the lower-case one (decision 12). Every problem is a
//! [`ReplyError`] whose path and message are sent back to the model.

mod any;
mod app;
mod error;
mod evaluation;
mod extract;
mod fields;
mod heal;
mod host;
mod lenient;
mod lookahead;
mod operator;
mod repair;
mod schema;
mod search;
mod small;
mod windows_path;

pub use any::AgentReply;
pub use app::{AppReply, KeptPicture, parse_agent_reply, parse_app_reply};
pub use error::ExtractError;
pub use evaluation::{EvaluationReply, parse_evaluation_reply};
pub use extract::{ExtractedJson, extract_json};
pub use heal::{HealChoice, HealReply, heal_reply_schema};
pub use host::{HostReply, parse_host_reply};
pub use operator::parse_operator_reply;
pub use repair::Repair;
pub use schema::{
    agent_reply_schema, app_reply_schema, evaluation_reply_schema, host_reply_schema, operator_reply_schema,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::provenance::CarriedValue;
pub(crate) use small::{parse_small_app_reply, parse_small_host_reply, parse_small_values_reply};

/// Why a reply is rejected; sent back to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The reply contains no readable JSON object.
    #[error(transparent)]
    NoJson(#[from] ExtractError),
    /// A field is missing or invalid.
    #[error("`{path}`: {problem}")]
    Field {
        /// Path of the field, such as `action[1].arguments`.
        path: String,
        /// The problem and what is expected instead.
        problem: String,
    },
}

impl ReplyError {
    pub(crate) fn field(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Field { path: path.into(), problem: problem.into() }
    }
}

/// An action that a model proposes; only its syntax has been checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedAction {
    /// Name of the tool.
    pub function: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// A few words that the result contains if the action worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// Values that it carries away from the place where a step of a workflow has read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carries: Vec<CarriedValue>,
}

/// A sub-task that the HostAgent planned ahead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextSubtask {
    /// The sub-task.
    pub subtask: String,
    /// Context for its agent.
    pub message: Vec<String>,
    /// Id of the target.
    pub target: Option<String>,
    /// Arguments of the command that opens the application, instead of a target.
    pub launch: Option<ProposedAction>,
}

/// A question for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuestion {
    /// The question.
    pub text: String,
    /// `true` if the round fails without an answer.
    pub required: bool,
    /// Answer to assume after a timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Choices; empty for a free-text answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

impl UserQuestion {
    /// An optional free-text question.
    pub fn open(text: impl Into<String>) -> Self {
        Self { text: text.into(), required: false, default: None, choices: Vec::new() }
    }
}
