//! The configuration that is in force for one session. It stands in the journal's header.

use serde::{Deserialize, Serialize};

use crate::{command::ToolSpec, target::AgentInfo};

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

/// What a session is run with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionConfig {
    /// Bounds of each round.
    pub limits: Limits,
    /// Whether models are shown pictures.
    pub pictures: bool,
    /// The HostAgent's tools.
    pub host_tools: Vec<ToolSpec>,
    /// The AppAgents' tools.
    pub app_tools: Vec<ToolSpec>,
    /// Agents that own no window and can be assigned sub-tasks.
    pub agents: Vec<AgentInfo>,
}
