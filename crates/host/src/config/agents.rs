//! Settings of agents that own no window.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Agents that own no window and can work on sub-tasks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// The agents to enable: `shell`, or names from `agents.programs`.
    pub enabled: Vec<String>,
    /// The shell agent, which runs programs.
    pub shell: ShellAgentSettings,
    /// Agents that run as separate programs, by name.
    pub programs: BTreeMap<String, ProgramAgentSettings>,
}

/// The shell agent, which runs programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShellAgentSettings {
    /// The working folder of its programs, which they may write to. By default a private folder for each session.
    pub folder: Option<PathBuf>,
    /// More folders that its programs may write to.
    pub write: Vec<PathBuf>,
    /// More folders that its programs may read, besides those of the system.
    pub read: Vec<PathBuf>,
    /// Whether its programs may use the network.
    pub network: bool,
    /// Whether its programs run in a sandbox. Needs Landlock and seccomp in the kernel.
    pub sandbox: SandboxSetting,
    /// Names of environment variables to pass to its programs, besides the usual ones. Do not pass keys.
    pub environment: Vec<String>,
    /// How long one program may run, in seconds.
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

/// Whether programs run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxSetting {
    /// Run programs in a sandbox; without kernel support, the agent cannot be enabled.
    Required,
    /// Run programs in a sandbox if the kernel supports it.
    IfPossible,
    /// Run programs without a sandbox.
    Off,
}

/// An agent that runs as a separate program: an MCP server over stdio with the tool `work_on_subtask`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramAgentSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What the agent is good for, as the HostAgent reads it. By default what the agent says of itself.
    pub introduction: Option<String>,
    /// The working folder of the program. By default a private folder for each session.
    pub folder: Option<PathBuf>,
    /// Names of environment variables to pass to the program, besides the usual ones.
    pub environment: Vec<String>,
    /// How long the program may take to start, in seconds.
    #[schemars(range(min = 1))]
    pub start_timeout_s: u64,
    /// How long one sub-task may take, in seconds.
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
