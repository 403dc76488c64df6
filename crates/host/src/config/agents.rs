//! What can be configured of agents that own no window.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Agents that own no window and can be handed sub-tasks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// The names of those that sessions are run with: `shell`, or one of `agents.programs`.
    pub enabled: Vec<String>,
    /// The agent of the command line.
    pub shell: ShellAgentSettings,
    /// Agents in programs of their own, by name.
    pub programs: BTreeMap<String, ProgramAgentSettings>,
}

/// The agent of the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShellAgentSettings {
    /// The folder that its programs work in and may change; without it, a private one of each session.
    pub folder: Option<PathBuf>,
    /// Further folders that its programs may change.
    pub write: Vec<PathBuf>,
    /// Further folders that its programs may read, beside those of the system.
    pub read: Vec<PathBuf>,
    /// Whether its programs may use the network.
    pub network: bool,
    /// Whether its programs are confined, which takes Landlock and seccomp in the kernel.
    pub sandbox: SandboxSetting,
    /// Names of environment variables that its programs get beside the usual ones. Keys do not belong here.
    pub environment: Vec<String>,
    /// The longest that one program may run, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_s: u64,
}

impl Default for ShellAgentSettings {
    fn default() -> Self {
        Self {
            folder: None,
            write: Vec::new(),
            read: Vec::new(),
            network: false,
            sandbox: SandboxSetting::Required,
            environment: Vec::new(),
            timeout_s: 600,
        }
    }
}

/// Whether programs are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxSetting {
    /// They are, or the agent cannot be used.
    Required,
    /// They are where the kernel can.
    IfPossible,
    /// They are not.
    Off,
}

/// An agent in a program of its own: an MCP server on its standard streams with the tool `work_on_subtask`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramAgentSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it is good for; without it, what it says of itself.
    pub introduction: Option<String>,
    /// The folder that it runs in; without it, a private one of each session.
    pub folder: Option<PathBuf>,
    /// Names of environment variables that it gets beside the usual ones.
    pub environment: Vec<String>,
    /// How long it may take to answer when it is started, in seconds.
    #[schemars(range(min = 1))]
    pub start_timeout_s: u64,
    /// How long it may take for one sub-task, in seconds.
    #[schemars(range(min = 1))]
    pub subtask_timeout_s: u64,
}

impl Default for ProgramAgentSettings {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            introduction: None,
            folder: None,
            environment: Vec::new(),
            start_timeout_s: 20,
            subtask_timeout_s: 600,
        }
    }
}
