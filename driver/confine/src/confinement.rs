//! Permissions of a program, as data that is passed to the helper processes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Permissions of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confinement {
    /// Stage that the helper process carries out.
    #[serde(default)]
    pub stage: ConfinementStage,
    /// The process that starts the helper and must still be its parent; if it has died meanwhile, nothing is started.
    #[serde(default)]
    pub owner: Option<u32>,
    /// Mechanism that enforces it.
    pub enforcement: Enforcement,
    /// Writable folders and files.
    pub write: Vec<PathBuf>,
    /// Readable folders and files, besides those of the system.
    pub read: Vec<PathBuf>,
    /// `true` if the network is allowed.
    pub network: bool,
    /// Resource limits.
    #[serde(default)]
    pub limits: ConfinementLimits,
    /// The prefix of the message when the program is not started; identifies it reliably.
    pub mark: String,
}

/// The stages of a start; each is a process of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfinementStage {
    /// Starts the next stage, waits for it, and ends everything that descends from it.
    #[default]
    Supervisor,
    /// The same below another supervisor: when either is killed, the other one ends everything.
    SecondSupervisor,
    /// Restricts itself and becomes the program.
    Program,
}

/// Mechanism that enforces a confinement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// Nothing: the program is only ended with its descendants.
    Nothing,
    /// Landlock, seccomp and limits. Calls that Landlock does not cover, such as `chmod`, are refused everywhere.
    Rules,
    /// The same inside of namespaces made by bubblewrap: nothing else is mounted, no other process is visible, and calls such
    /// as `chmod` work in writable folders.
    Namespaces {
        /// The bubblewrap program.
        bubblewrap: PathBuf,
    },
}

/// Resource limits of a program and its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfinementLimits {
    /// The most processes and threads.
    pub processes: u32,
    /// The most memory of one process, and of all together, in MiB.
    pub memory_mb: u64,
    /// The size of the largest file, in MiB.
    pub file_mb: u64,
    /// The most disk space that is filled below the writable folders, in MiB. What is there before is free.
    pub disk_mb: u64,
    /// The most files and folders that are added below the writable folders.
    pub disk_files: u64,
    /// The most open files of one process.
    pub open_files: u32,
}

impl ConfinementLimits {
    pub(crate) const fn memory_bytes(&self) -> u64 {
        self.memory_mb.saturating_mul(MIB)
    }

    pub(crate) const fn disk_bytes(&self) -> u64 {
        self.disk_mb.saturating_mul(MIB)
    }

    pub(crate) const fn file_bytes(&self) -> u64 {
        self.file_mb.saturating_mul(MIB)
    }
}

impl Default for ConfinementLimits {
    fn default() -> Self {
        Self {
            processes: 512,
            memory_mb: 4_096,
            file_mb: 2_048,
            disk_mb: 8_192,
            disk_files: 500_000,
            open_files: 4_096,
        }
    }
}

const MIB: u64 = 1024 * 1024;
