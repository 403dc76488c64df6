//! Confinement of agents' programs: settings, and the command that starts a program.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use deskhand_confine::{
    Confinement, ConfinementLimits, ConfinementStage, Enforcement, folders_with, readable_path, support,
};
use deskhand_process::{PATH_DEFAULT, ProcessGroup};
use tokio::process::{Child, Command};

/// The sandbox mode of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SandboxMode {
    /// Always; the agent is not opened otherwise.
    #[default]
    Required,
    /// If the kernel supports it.
    IfPossible,
    /// Never.
    Off,
}

/// Confinement settings for the programs of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxSettings {
    /// The sandbox mode.
    pub mode: SandboxMode,
    /// The command of the sandbox helper; the confinement as JSON, the program and its arguments are appended. If empty,
    /// programs cannot be sandboxed.
    pub helper: Vec<OsString>,
    /// Writable folders besides the agent's own.
    pub write: Vec<PathBuf>,
    /// Readable folders besides those of the system.
    pub read: Vec<PathBuf>,
    /// If `true`, the network is allowed.
    pub network: bool,
    /// Resource limits of programs.
    pub limits: ConfinementLimits,
    /// Files and folders of ours, which must not be writable.
    pub protected: Vec<PathBuf>,
}

impl SandboxSettings {
    /// Programs are not sandboxed.
    pub fn off() -> Self {
        Self { mode: SandboxMode::Off, ..Self::default() }
    }

    /// Returns the mechanism that enforces the sandbox on this machine.
    ///
    /// # Errors
    /// The sandbox is required and cannot be enforced, or a folder of ours would be writable. The message names the
    /// next step.
    pub(crate) fn enforcement(&self, folder: Option<&PathBuf>) -> Result<Enforcement, String> {
        if self.mode == SandboxMode::Off {
            return Ok(Enforcement::Nothing);
        }
        let write: Vec<PathBuf> = self.write.iter().chain(folder).cloned().collect();
        if let Some((folder, own)) = folders_with(&write, &self.protected) {
            return Err(format!(
                "programs of agents must not write to {}, which has to do with {} of Deskhand itself; name a folder \
                 without it",
                folder.display(),
                own.display()
            ));
        }
        let support = support(&std::env::var_os("PATH").unwrap_or_else(|| PATH_DEFAULT.into()));
        let found = support.enforcement().filter(|_| !self.helper.is_empty());
        match (self.mode, found) {
            (_, Some(enforcement)) => Ok(enforcement),
            (SandboxMode::IfPossible | SandboxMode::Off, None) => Ok(Enforcement::Nothing),
            (SandboxMode::Required, None) => Err(format!(
                "the kernel cannot sandbox programs ({}); {}; or set `sandbox = \"if_possible\"` to run them unconfined",
                support.describe(),
                support.advice()
            )),
        }
    }

    /// The command that starts a program. `own` are the agent's own writable folders, `also` more readable files.
    pub(crate) fn command(
        &self,
        enforcement: &Enforcement,
        program: &Path,
        (own, also): (&[PathBuf], &[PathBuf]),
        mark: &str,
    ) -> io::Result<Command> {
        let Some((helper, first)) = self.helper.split_first() else { return Ok(Command::new(program)) };
        let confinement = Confinement {
            stage: ConfinementStage::Supervisor,
            owner: Some(std::process::id()),
            enforcement: enforcement.clone(),
            write: self.write.iter().chain(own).cloned().collect(),
            read: self.read.iter().chain(also).cloned().collect(),
            network: self.network,
            limits: self.limits,
            mark: mark.to_owned(),
        };
        let mut command = Command::new(helper);
        command.args(first).arg(serde_json::to_string(&confinement)?).arg(program);
        Ok(command)
    }

    /// The processes of a child that was started by [`command`](Self::command).
    pub(crate) fn group(&self, child: &Child, mark: String) -> ProcessGroup {
        let group = ProcessGroup::of(child.id(), mark);
        if self.helper.is_empty() { group } else { group.supervised() }
    }

    /// The folders of a search path with programs that can be started.
    pub(crate) fn search_path(&self, enforcement: &Enforcement, path: &OsStr, own: &[PathBuf]) -> OsString {
        match enforcement {
            Enforcement::Nothing => path.to_owned(),
            Enforcement::Rules | Enforcement::Namespaces { .. } => {
                let more: Vec<PathBuf> = self.read.iter().chain(&self.write).chain(own).cloned().collect();
                readable_path(path, &more)
            }
        }
    }
}
