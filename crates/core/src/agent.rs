//! Agents that own no window: what they are called, where they live, and what they report.

use serde::{Deserialize, Serialize};

use crate::{ids::AgentId, session::SubtaskStatus};

/// Where an agent does its work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "home", rename_all = "snake_case")]
pub enum AgentHome {
    /// Outside of the session machine: it is given a sub-task and comes back with a report.
    #[default]
    Delegate,
}

/// An agent that sub-tasks can be assigned to and that owns no window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentDefinition {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: String,
    /// What it is good for, in a sentence that the HostAgent reads.
    pub introduction: String,
    /// Where it works.
    #[serde(default)]
    pub home: AgentHome,
}

/// What an agent outside of the machine says at the end of a sub-task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    /// How it ended.
    pub status: SubtaskStatus,
    /// What came of it, or why not.
    pub result: String,
}
