//! Requests to a language model, and its replies. The `model` crate does the communication.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::AgentRef;
use deskhand_ui::PictureRef;

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Instructions of the system.
    System,
    /// Input for the agent to work on.
    User,
    /// An earlier reply of the model.
    Assistant,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessagePart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture; its bytes lie beside the journal.
    Picture {
        /// Which one.
        picture: PictureRef,
    },
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMessage {
    /// Who wrote it.
    pub speaker: Speaker,
    /// Its parts, in order.
    pub parts: Vec<MessagePart>,
}

impl ModelMessage {
    /// A message of one text.
    pub fn text(speaker: Speaker, text: impl Into<String>) -> Self {
        Self { speaker, parts: vec![MessagePart::Text { text: text.into() }] }
    }
}

/// Kind of reply that a question requires, which decides how it is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyKind {
    /// The HostAgent's decision.
    #[serde(alias = "host_agent_reply")]
    HostAgent,
    /// An AppAgent's decision.
    #[serde(alias = "app_agent_reply")]
    AppAgent,
    /// The decision of an agent that brings its own statuses.
    #[serde(alias = "agent_reply")]
    Agent,
    /// Gestures of an operator at places of the picture that it receives ([`crate::operator`]).
    Operator,
    /// A HostAgent's choice of a title that a small model was offered.
    SmallHost,
    /// The values of a workflow that a small model chose for the HostAgent.
    SmallValues,
    /// An AppAgent's choice of an action and an element that a small model was offered.
    SmallApp,
    /// Repair of a workflow step that cannot be done as written.
    Heal,
    /// The judgement of a finished round.
    #[serde(alias = "evaluation_reply")]
    Evaluation,
    /// Anything: a trial of the endpoint.
    #[serde(alias = "probe_reply")]
    Probe,
}

impl ReplyKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::HostAgent,
        Self::AppAgent,
        Self::Agent,
        Self::Operator,
        Self::SmallHost,
        Self::SmallValues,
        Self::SmallApp,
        Self::Heal,
        Self::Evaluation,
        Self::Probe,
    ];

    /// The name of its schema in the protocols of providers: letters, digits and `_`.
    pub const fn schema_name(self) -> &'static str {
        match self {
            Self::HostAgent => "host_agent_reply",
            Self::AppAgent => "app_agent_reply",
            Self::Agent => "agent_reply",
            Self::Operator => "operator_reply",
            Self::SmallHost => "small_host_reply",
            Self::SmallValues => "small_values_reply",
            Self::SmallApp => "small_app_reply",
            Self::Heal => "heal_reply",
            Self::Evaluation => "evaluation_reply",
            Self::Probe => "probe_reply",
        }
    }
}

/// One question to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The asking agent.
    pub agent: AgentRef,
    /// The conversation, system message first.
    pub messages: Vec<ModelMessage>,
    /// Kind of the requested reply; [`ReplyKind::schema_name`] names its schema.
    #[serde(alias = "schema_name")]
    pub reply: ReplyKind,
    /// The JSON schema that the reply must match.
    pub schema: Value,
    /// The most tokens that the reply may have.
    pub completion_tokens_max: u32,
    /// Maximum number of requests that may be sent for it, the first one included.
    #[serde(default = "unbounded")]
    pub attempts_max: u32,
    /// The models to ask, by their names in [`ModelRoles`](crate::session::ModelRoles): the next one where the one before fails. Empty
    /// where a session has one model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
}

impl ModelRequest {
    /// The last picture that it shows.
    pub fn picture(&self) -> Option<&PictureRef> {
        self.messages.iter().rev().flat_map(|message| message.parts.iter().rev()).find_map(
            |part| match part {
                MessagePart::Picture { picture } => Some(picture),
                MessagePart::Text { .. } => None,
            },
        )
    }
}

const fn unbounded() -> u32 {
    u32::MAX
}

/// Tokens of one call; `None` if the provider did not report them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: Option<u64>,
    /// Of these, tokens that the provider took from its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens written.
    pub completion_tokens: Option<u64>,
}

/// The reply of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelReply {
    /// The text, as it came.
    pub text: String,
    /// Reasoning of the model before the reply, or a summary of it; empty if the provider does not return it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The model that answered, as it calls itself.
    pub model: String,
    /// Its name in [`ModelRequest::models`]; `None` where that is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The models that were asked before it and failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<ModelFailure>,
    /// Tokens used, all attempts added up.
    pub usage: Usage,
    /// Number of requests sent; 1 if none had to be repeated.
    pub attempts: u32,
    /// Wall time of all attempts and the waits between them, in milliseconds.
    pub elapsed_ms: u64,
}

/// Reason why a model did not reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelFailureKind {
    /// The key is missing or not accepted (401, 403).
    Unauthorized,
    /// No such address or model (404).
    NotFound,
    /// The request was not accepted (other 4xx).
    Rejected,
    /// Too many requests (429), also after the allowed retries.
    RateLimited,
    /// The server failed (5xx), also after the allowed retries.
    Server,
    /// No answer in time.
    TimedOut,
    /// No connection.
    Unreachable,
    /// The answer broke off before its end.
    CutShort,
    /// The answer is not what the protocol says.
    Malformed,
    /// The script has no turn for this question.
    ScriptMismatch,
}

impl ModelFailureKind {
    /// Returns `true` if requests that end so may be charged for.
    pub const fn may_be_charged(self) -> bool {
        match self {
            Self::Unauthorized
            | Self::NotFound
            | Self::Rejected
            | Self::RateLimited
            | Self::Unreachable
            | Self::ScriptMismatch => false,
            Self::Server | Self::TimedOut | Self::CutShort | Self::Malformed => true,
        }
    }
}

/// A failed call of a model, after the retries that make sense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ModelFailure {
    /// Kind of the failure.
    pub kind: ModelFailureKind,
    /// Description of the failure, its address, and advice.
    pub message: String,
    /// Number of requests sent.
    pub attempts: u32,
    /// Tokens used all the same, as far as the provider said.
    #[serde(default)]
    pub usage: Usage,
    /// Wall time of all attempts and the waits between them, in milliseconds.
    pub elapsed_ms: u64,
    /// The name of the model in [`ModelRequest::models`]; `None` where that is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<str>>,
    /// The models that were asked before it and failed as well.
    #[serde(default, skip_serializing_if = "<[Self]>::is_empty")]
    pub before: Box<[Self]>,
}

impl ModelFailure {
    /// A failure without a request.
    pub fn new(kind: ModelFailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            attempts: 0,
            usage: Usage::default(),
            elapsed_ms: 0,
            by: None,
            before: Box::default(),
        }
    }
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        })
    }
}
