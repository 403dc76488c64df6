//! Settings of agents that own no window.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use deskhand_confine::ConfinementLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Agents that own no window and can work on sub-tasks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// The agents to enable: `shell`, or names from `agents.programs` and `agents.machines`.
    pub enabled: Vec<String>,
    /// The shell agent, which runs programs.
    pub shell: ShellAgentSettings,
    /// Agents that run as separate programs, by name.
    pub programs: BTreeMap<String, ProgramAgentSettings>,
    /// Agents on other machines: workers of the fleet that `fleet.servers` names, by name.
    pub machines: BTreeMap<String, MachineAgentSettings>,
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
    /// If `true`, its programs may use the network.
    pub network: bool,
    /// Run its programs in a sandbox. Needs seccomp, and Landlock or `bubblewrap`.
    pub sandbox: SandboxSetting,
    /// Resource limits of its programs in the sandbox.
    pub limits: ProgramLimits,
    /// Names of environment variables to pass to its programs, besides the usual ones. Do not pass keys.
    pub environment: Vec<String>,
    /// Maximum run time of one program, in seconds.
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
            limits: ProgramLimits::default(),
            environment: Vec::new(),
            timeout_s: 600,
        }
    }
}

/// Resource limits of a program in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramLimits {
    /// The most processes and threads of the program together.
    #[schemars(range(min = 1))]
    pub processes: u32,
    /// The most memory of each process, and of all of them together, in MiB.
    #[schemars(range(min = 1))]
    pub memory_mb: u64,
    /// The size of the largest file in MiB.
    #[schemars(range(min = 1))]
    pub file_mb: u64,
    /// The most disk space that it may fill in the folders that it may write to, in MiB. What is there before it starts is free.
    #[schemars(range(min = 1))]
    pub disk_mb: u64,
    /// The most files and folders that it may add there.
    #[schemars(range(min = 1))]
    pub disk_files: u64,
    /// The most open files of each process.
    #[schemars(range(min = 1))]
    pub open_files: u32,
}

impl Default for ProgramLimits {
    fn default() -> Self {
        let ConfinementLimits { processes, memory_mb, file_mb, disk_mb, disk_files, open_files } =
            ConfinementLimits::default();
        Self { processes, memory_mb, file_mb, disk_mb, disk_files, open_files }
    }
}

impl From<ProgramLimits> for ConfinementLimits {
    fn from(limits: ProgramLimits) -> Self {
        let ProgramLimits { processes, memory_mb, file_mb, disk_mb, disk_files, open_files } = limits;
        Self { processes, memory_mb, file_mb, disk_mb, disk_files, open_files }
    }
}

/// Sandbox policy for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxSetting {
    /// Run programs in a sandbox; if that is not possible, the agent is not opened.
    Required,
    /// Run programs in a sandbox if that is possible.
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
    /// The purpose of the agent, as the HostAgent reads it. By default the agent's own introduction.
    pub introduction: Option<String>,
    /// The working folder of the program, which it may write to. By default a private folder for each session.
    pub folder: Option<PathBuf>,
    /// More folders that it may write to, and devices.
    pub write: Vec<PathBuf>,
    /// More folders that it may read, besides those of the system and the files that `command` names.
    pub read: Vec<PathBuf>,
    /// If `true`, the program may use the network.
    pub network: bool,
    /// Run it in a sandbox. Needs seccomp, and Landlock or `bubblewrap`.
    pub sandbox: SandboxSetting,
    /// Resource limits of the program in the sandbox.
    pub limits: ProgramLimits,
    /// Names of environment variables to pass to the program, besides the usual ones.
    pub environment: Vec<String>,
    /// Maximum time for the program to start, in seconds.
    #[schemars(range(min = 1))]
    pub start_timeout_s: u64,
    /// Maximum time for one sub-task, in seconds.
    #[schemars(range(min = 1))]
    pub subtask_timeout_s: u64,
}

impl Default for ProgramAgentSettings {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            introduction: None,
            folder: None,
            write: Vec::new(),
            read: Vec::new(),
            network: false,
            sandbox: SandboxSetting::Required,
            limits: ProgramLimits::default(),
            environment: Vec::new(),
            start_timeout_s: 20,
            subtask_timeout_s: 600,
        }
    }
}

/// An agent on another machine. A sub-task that is handed to it becomes a task of the fleet, which a worker with all that is needed takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MachineAgentSettings {
    /// Description of what the machine is good for, as the HostAgent reads it.
    pub introduction: Option<String>,
    /// Requirements on the worker.
    pub needs: NeedsSettings,
    /// Labels of its tasks: for limits, costs, and workers that take only such tasks.
    pub labels: BTreeSet<String>,
    /// If `true`, documents are sent along: those the sub-task names, out of those that the session began with, has
    /// saved or received back.
    pub documents: bool,
    /// Folder for returned files, with one subfolder for each sub-task. By default `~/deskhand-fleet/results`.
    pub folder: Option<PathBuf>,
    /// In how many minutes it has to be done.
    #[schemars(range(min = 1))]
    pub within_minutes: u64,
    /// Handling of a sub-task whose worker is lost while it acts.
    pub on_loss: OnLossSetting,
}

impl Default for MachineAgentSettings {
    fn default() -> Self {
        Self {
            introduction: None,
            needs: NeedsSettings::default(),
            labels: BTreeSet::new(),
            documents: false,
            folder: None,
            within_minutes: 30,
            on_loss: OnLossSetting::Resume,
        }
    }
}

/// Requirements on a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NeedsSettings {
    /// Words that it was started with: `deskhand worker --labels scanner`.
    pub labels: BTreeSet<String>,
    /// Applications, by their desktop entries without `.desktop`.
    pub applications: BTreeSet<String>,
    /// Agents that it has enabled.
    pub agents: BTreeSet<String>,
}

/// Handling of a task whose worker is lost while it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnLossSetting {
    /// Another worker goes on, and its agents hear what may have been done.
    Resume,
    /// Another worker begins anew.
    Afresh,
    /// Somebody has to decide: what was done cannot be done again.
    Person,
}
