//! The configuration of a session, stored in the journal's header.

use serde::{Deserialize, Serialize};

use super::roles::ModelRoles;
use crate::{
    agent::AgentDefinition,
    blackboard::HistoryKey,
    command::ToolSpec,
    money::{Money, PriceTable},
    policy::{PathRoots, Policy},
    prompt::ViewListOptions,
    retrieval::Retrieval,
    workflow::WorkflowOffer,
};
use deskhand_ui::{InstalledApplication, secret::SecretPermit};

/// Limits of a round. Each is checked before it would be exceeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundLimits {
    /// The most steps of all agents together.
    pub steps_max: u32,
    /// The most model requests, including failed ones and retries.
    pub model_calls_max: u32,
    /// The most tokens, input and output; `None` for no limit.
    pub tokens_max: Option<u64>,
    /// The most money for model calls; `None` for no limit.
    #[serde(default)]
    pub money_max: Option<Money>,
    /// The longest time for a round, in milliseconds; `None` for no limit.
    pub wall_ms_max: Option<u64>,
    /// Maximum number of requests to a model to repair an invalid reply.
    pub repairs_max: u32,
    /// Maximum number of attempts at an observation before its failure is an error.
    pub looks_failed_max: u32,
    /// The most consecutive SCREENSHOT steps of an AppAgent.
    pub screenshots_max: u32,
    /// The most identical steps in a row without an effect; from the second on the agent gets a notice.
    pub repeats_max: u32,
    /// Number of consecutive failed sub-tasks that fail the round.
    pub subtask_failures_max: u32,
    /// The most tokens of one reply.
    pub completion_tokens_max: u32,
}

impl Default for RoundLimits {
    fn default() -> Self {
        Self {
            steps_max: 50,
            model_calls_max: 100,
            tokens_max: None,
            money_max: None,
            wall_ms_max: None,
            repairs_max: 2,
            looks_failed_max: 3,
            screenshots_max: 3,
            repeats_max: 4,
            subtask_failures_max: 3,
            completion_tokens_max: 4_000,
        }
    }
}

/// Limits of a session, over all its rounds; `None` for no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionLimits {
    /// The most steps of all agents together.
    pub steps_max: Option<u32>,
    /// The most model requests, including failed ones and retries.
    pub model_calls_max: Option<u32>,
    /// The most tokens, input and output.
    pub tokens_max: Option<u64>,
    /// The most money for model calls.
    pub money_max: Option<Money>,
    /// The longest time for all rounds together, in milliseconds.
    pub wall_ms_max: Option<u64>,
}

/// Condition under which the HostAgent checks a round whose last sub-task is reported as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Always.
    Always,
    /// Unless the last action has a seen effect that matches the AppAgent's expectation.
    #[default]
    Auto,
    /// Never; the AppAgent's report is trusted.
    Never,
}

/// Presentation of windows to agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewConfig {
    /// Token limit (estimated) of a window's listing.
    pub tokens_max: usize,
    /// If `true`, later views of a sub-task list only changes.
    pub changes: bool,
    /// If `true`, listed controls are annotated with their ids in pictures.
    pub marks: bool,
    /// The longest side of a picture, in pixels; 0 for no limit.
    pub picture_side_max: u32,
    /// Compression of pictures.
    pub picture_compression: PictureCompression,
    /// JPEG quality, 1 to 100.
    pub jpeg_quality: u8,
}

/// Compression of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureCompression {
    /// Fast lossless compression.
    #[default]
    Fast,
    /// Strong lossless compression.
    Small,
    /// JPEG, lossy.
    Jpeg,
}

impl Default for ViewConfig {
    fn default() -> Self {
        Self {
            tokens_max: ViewListOptions::TOKENS_MAX,
            changes: true,
            marks: true,
            picture_side_max: 1_280,
            picture_compression: PictureCompression::default(),
            jpeg_quality: 80,
        }
    }
}

/// The evaluation of rounds that the agents report as finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Evaluate {
    /// If `true`, a round judged `no` is returned to the HostAgent, once.
    pub repair: bool,
}

impl Default for Evaluate {
    fn default() -> Self {
        Self { repair: true }
    }
}

/// The configuration of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionConfig {
    /// Limits of each round.
    pub limits: RoundLimits,
    /// Limits of all rounds together.
    pub session_limits: SessionLimits,
    /// The policy.
    pub policy: Policy,
    /// Name of the model, as sent to the endpoint and listed in the price table.
    pub model: String,
    /// Which models answer whom, if there are more.
    #[serde(skip_serializing_if = "ModelRoles::is_empty")]
    pub roles: ModelRoles,
    /// If `true`, texts can be ranked by their embeddings, for small models.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ranks: bool,
    /// Prices of models.
    pub prices: PriceTable,
    /// Condition under which the HostAgent checks results reported by AppAgents.
    pub verify: Verify,
    /// Evaluation of finished rounds; `None` to trust the agents' report.
    pub evaluate: Option<Evaluate>,
    /// If `true`, agents may ask the user; otherwise they decide themselves.
    pub ask_questions: bool,
    /// If `true`, models receive pictures.
    pub pictures: bool,
    /// The secret that the numbers of marks around text from outside are derived from: no text from outside may know it. If it is
    /// empty, there are no marks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub marks_secret: String,
    /// Presentation of windows to agents.
    pub view: ViewConfig,
    /// Parts of a step that are put on the blackboard for other agents.
    pub history_keys: Vec<HistoryKey>,
    /// Which retrievers are asked for whom.
    #[serde(skip_serializing_if = "Retrieval::is_empty")]
    pub retrieval: Retrieval,
    /// If `true`, all actions of a reply run; otherwise only the first.
    pub action_sequences: bool,
    /// The HostAgent's tools.
    pub host_tools: Vec<ToolSpec>,
    /// The AppAgents' tools.
    pub app_tools: Vec<ToolSpec>,
    /// The applications that may be started without a question; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applications: Option<Vec<InstalledApplication>>,
    /// Folders that paths are relative to.
    #[serde(skip_serializing_if = "PathRoots::is_unknown")]
    pub places: PathRoots,
    /// Permits for typing secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretPermit>,
    /// The hosts of the addresses that the user had opened. They count as named by the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
    /// Agents without a window that can be assigned sub-tasks.
    pub agents: Vec<AgentDefinition>,
    /// The workflows that agents can run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<WorkflowOffer>,
    /// Tools that are missing although they are configured, as sentences for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_tools: Vec<String>,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            limits: RoundLimits::default(),
            session_limits: SessionLimits::default(),
            policy: Policy::default(),
            model: String::new(),
            roles: ModelRoles::default(),
            ranks: false,
            prices: PriceTable::default(),
            verify: Verify::default(),
            evaluate: None,
            ask_questions: true,
            pictures: false,
            marks_secret: String::new(),
            view: ViewConfig::default(),
            history_keys: HistoryKey::ALL.to_vec(),
            retrieval: Retrieval::default(),
            action_sequences: true,
            host_tools: Vec::new(),
            app_tools: Vec::new(),
            applications: None,
            places: PathRoots::default(),
            secrets: Vec::new(),
            opened: Vec::new(),
            agents: Vec::new(),
            workflows: Vec::new(),
            missing_tools: Vec::new(),
        }
    }
}
