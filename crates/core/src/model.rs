//! What is asked of a language model, and what comes back. Speaking to one is the `model` crate's work.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{agent::AgentRef, ui::PictureRef};

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Instructions of the system.
    System,
    /// What the agent is given to work on.
    User,
    /// An earlier reply of the model.
    Assistant,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
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
pub struct Message {
    /// Who wrote it.
    pub speaker: Speaker,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A message of one text.
    pub fn text(speaker: Speaker, text: impl Into<String>) -> Self {
        Self { speaker, parts: vec![Part::Text { text: text.into() }] }
    }
}

/// What kind of reply a question asks for: how it is read.
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
    /// What an operator does at places of the picture that it is shown ([`crate::operator`]).
    Operator,
    /// A HostAgent's choice of a title that a small model was offered.
    SmallHost,
    /// The values of a workflow that a small model chose for the HostAgent.
    SmallValues,
    /// An AppAgent's choice of an action and an element that a small model was offered.
    SmallApp,
    /// What is done about a step of a workflow that cannot be done as it is written.
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
    pub messages: Vec<Message>,
    /// What kind of reply is asked for; [`ReplyKind::schema_name`] names its schema.
    #[serde(alias = "schema_name")]
    pub reply: ReplyKind,
    /// The JSON schema that the reply must match.
    pub schema: Value,
    /// The most tokens that the reply may have.
    pub completion_tokens_max: u32,
    /// How many requests may be sent for it, the first one included.
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
                Part::Picture { picture } => Some(picture),
                Part::Text { .. } => None,
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
    /// What the model thought before it, or a summary of it; empty where the provider does not tell.
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
    /// How many requests it took; 1 where none had to be repeated.
    pub attempts: u32,
    /// Wall time of all attempts and the waits between them, in milliseconds.
    pub elapsed_ms: u64,
}

/// What kept a model from answering.
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
    /// What kind of failure.
    pub kind: ModelFailureKind,
    /// What happened, at which address, and what to do.
    pub message: String,
    /// How many requests were sent.
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
