//! The configuration that is in force for one session. It stands in the journal's header.

use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentDefinition,
    command::ToolSpec,
    money::{Money, PriceTable},
    policy::Policy,
    prompt::ListOptions,
};

/// Bounds of a round. Each is checked before what would exceed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The most steps of all agents together.
    pub steps_max: u32,
    /// The most requests to the model, failed and repeated ones included.
    pub model_calls_max: u32,
    /// The most tokens, read and written; none for no limit.
    pub tokens_max: Option<u64>,
    /// The most money for the model; none for no limit.
    #[serde(default)]
    pub money_max: Option<Money>,
    /// The longest a round may take, in milliseconds; none for no limit.
    pub wall_ms_max: Option<u64>,
    /// How often a model is asked again for a reply that cannot be used.
    pub repairs_max: u32,
    /// How often an agent looks before a desktop that shows nothing is an error.
    pub looks_failed_max: u32,
    /// How often in a row an AppAgent may look again without acting.
    pub screenshots_max: u32,
    /// How often in a row an agent may do the same and see the same; from the second time on it is told.
    pub repeats_max: u32,
    /// How many sub-tasks in a row may fail before the round does.
    pub subtask_failures_max: u32,
    /// The most tokens of one reply.
    pub completion_tokens_max: u32,
}

impl Default for Limits {
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

/// Bounds of a whole session, all its rounds together; none for no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionLimits {
    /// The most steps of all agents together.
    pub steps_max: Option<u32>,
    /// The most requests to the model, failed and repeated ones included.
    pub model_calls_max: Option<u32>,
    /// The most tokens, read and written.
    pub tokens_max: Option<u64>,
    /// The most money for the model.
    pub money_max: Option<Money>,
    /// The longest all rounds may take together, in milliseconds.
    pub wall_ms_max: Option<u64>,
}

/// Whether the HostAgent judges a round whose last sub-task says that it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// It always does.
    Always,
    /// It does not where the last action has a seen effect that matches what the AppAgent expected of it.
    #[default]
    Auto,
    /// It does not; the AppAgent's word is taken.
    Never,
}

/// What agents are shown of their windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewConfig {
    /// About how many tokens the list of a window's elements may have.
    pub tokens_max: usize,
    /// Whether later looks of a sub-task are told as what changed since the first.
    pub changes: bool,
    /// Whether the controls that are listed are marked with their ids in pictures.
    pub marks: bool,
    /// The most pixels that a side of a picture may have; 0 for no limit.
    pub picture_side_max: u32,
    /// How pictures are compressed.
    pub picture_compression: PictureCompression,
    /// How good a JPEG picture is, 1 to 100.
    pub jpeg_quality: u8,
}

/// How pictures are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureCompression {
    /// In little time.
    #[default]
    Fast,
    /// Into few bytes.
    Small,
    /// Into fewer bytes, as JPEG: no longer every pixel.
    Jpeg,
}

impl Default for ViewConfig {
    fn default() -> Self {
        Self {
            tokens_max: ListOptions::TOKENS_MAX,
            changes: true,
            marks: true,
            picture_side_max: 1_280,
            picture_compression: PictureCompression::default(),
            jpeg_quality: 80,
        }
    }
}

/// How rounds are judged that the agents say are finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Evaluate {
    /// Whether a round that is judged `no` is sent back to the HostAgent, once.
    pub repair: bool,
}

impl Default for Evaluate {
    fn default() -> Self {
        Self { repair: true }
    }
}

/// What a session is run with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionConfig {
    /// Bounds of each round.
    pub limits: Limits,
    /// Bounds of all rounds together.
    pub session_limits: SessionLimits,
    /// What may be done, and what a person is asked about first.
    pub policy: Policy,
    /// The name of the model, as the endpoint is asked for it and the price table knows it.
    pub model: String,
    /// What models cost.
    pub prices: PriceTable,
    /// Whether the HostAgent judges what an AppAgent says is done.
    pub verify: Verify,
    /// How finished rounds are judged; none to take the agents' word.
    pub evaluate: Option<Evaluate>,
    /// Whether agents may ask the user; without it they decide themselves.
    pub ask_questions: bool,
    /// Whether models are shown pictures.
    pub pictures: bool,
    /// What agents are shown of their windows.
    pub view: ViewConfig,
    /// Whether the several actions of a reply are run, or only the first.
    pub action_sequences: bool,
    /// The HostAgent's tools.
    pub host_tools: Vec<ToolSpec>,
    /// The AppAgents' tools.
    pub app_tools: Vec<ToolSpec>,
    /// Agents that own no window and can be assigned sub-tasks.
    pub agents: Vec<AgentDefinition>,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            session_limits: SessionLimits::default(),
            policy: Policy::default(),
            model: String::new(),
            prices: PriceTable::default(),
            verify: Verify::default(),
            evaluate: None,
            ask_questions: true,
            pictures: false,
            view: ViewConfig::default(),
            action_sequences: true,
            host_tools: Vec::new(),
            app_tools: Vec::new(),
            agents: Vec::new(),
        }
    }
}
