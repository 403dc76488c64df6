//! The kind `shell`, and its agent.

use std::{
    ffi::OsString,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_core::{
    agent::{AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentHome, AgentSteps, usual_statuses},
    command::{CallResult, Command},
    known_tools,
};

use super::{
    environment::environment,
    run_command::spec,
    sandbox::{self, Confinement},
};
use crate::agents::{AgentError, AgentKind, AgentSetup, OpenAgent, Sight, StepsAgent};

/// Its name.
const NAME: &str = "shell";
/// The most files of the working folder that the agent is shown.
const FILES_SHOWN: usize = 60;
/// The most files that are looked at for that.
const FILES_READ: usize = 2_000;

const INSTRUCTIONS: &str = "\
You work on the command line, without a screen: you run programs with `run_command` and read what they write. There is
no shell, so there are no pipes, wildcards, redirections or variables; use the options of programs instead, or one
program after the other. Prefer the command that changes nothing over the one that does, look before you overwrite, and
check what you made.";

/// How programs are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SandboxMode {
    /// They are, or the agent is not opened.
    #[default]
    Required,
    /// They are where the kernel can.
    IfPossible,
    /// They are not.
    Off,
}

/// What the shell agent is run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellSettings {
    /// The working folder; without one, a private folder of each session.
    pub folder: Option<PathBuf>,
    /// Further folders that programs may change.
    pub write: Vec<PathBuf>,
    /// Further folders that programs may read.
    pub read: Vec<PathBuf>,
    /// Whether programs may use the network.
    pub network: bool,
    /// How they are confined.
    pub sandbox: SandboxMode,
    /// The beginning of a command that confines itself and becomes a program: the confinement as JSON, the program and
    /// its arguments are added to it. Without one, programs cannot be confined.
    pub helper: Vec<OsString>,
    /// Variables of our own environment that programs get beside the usual ones.
    pub environment: Vec<String>,
    /// The longest a program may run.
    pub timeout_max: Duration,
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self {
            folder: None,
            write: Vec::new(),
            read: Vec::new(),
            network: false,
            sandbox: SandboxMode::default(),
            helper: Vec::new(),
            environment: Vec::new(),
            timeout_max: Duration::from_secs(600),
        }
    }
}

/// The agent of the command line.
#[derive(Debug, Clone, Default)]
pub struct ShellKind {
    settings: ShellSettings,
}

impl ShellKind {
    /// With these settings.
    pub fn new(settings: ShellSettings) -> Self {
        Self { settings }
    }

    fn is_confined(&self) -> Result<bool, String> {
        let can = sandbox::support().is_enough() && !self.settings.helper.is_empty();
        match self.settings.sandbox {
            SandboxMode::Off => Ok(false),
            SandboxMode::IfPossible => Ok(can),
            SandboxMode::Required if can => Ok(true),
            SandboxMode::Required => Err(format!(
                "programs cannot be confined here ({}); `sandbox = \"if_possible\"` runs them all the same",
                sandbox::support().describe()
            )),
        }
    }
}

impl AgentKind for ShellKind {
    fn name(&self) -> &str {
        NAME
    }

    fn introduction(&self) -> String {
        "Works on the command line without a screen: runs programs; reads, makes and converts files in its working \
         folder."
            .to_owned()
    }

    fn home(&self) -> AgentHome {
        AgentHome::Steps(Box::new(AgentSteps {
            statuses: usual_statuses(),
            instructions: INSTRUCTIONS.to_owned(),
            system_prompt: AGENT_SYSTEM_PROMPT.to_owned(),
            user_prompt: AGENT_USER_PROMPT.to_owned(),
            tools: vec![spec()],
            subtask_steps_max: None,
        }))
    }

    async fn open(&self, setup: AgentSetup) -> Result<OpenAgent, AgentError> {
        let problem = |problem: String| AgentError { agent: NAME.to_owned(), problem };
        let confined = self.is_confined().map_err(problem)?;
        let private = |name: &str| -> io::Result<PathBuf> {
            let folder = setup.folder.join(name);
            fs::create_dir_all(&folder)?;
            folder.canonicalize()
        };
        let scratch = private("scratch").map_err(|error| problem(format!("make its folder: {error}")))?;
        let folder = match &self.settings.folder {
            Some(folder) => folder.canonicalize(),
            None => private("work"),
        };
        let folder = folder.map_err(|error| problem(format!("use its working folder: {error}")))?;
        if !folder.is_dir() {
            return Err(problem(format!("{} is no folder", folder.display())));
        }
        Ok(OpenAgent::steps(Shell { settings: self.settings.clone(), folder, scratch, confined }))
    }
}

/// The agent while it is open.
pub(super) struct Shell {
    settings: ShellSettings,
    folder: PathBuf,
    scratch: PathBuf,
    confined: bool,
}

impl Shell {
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn timeout_max(&self) -> Duration {
        self.settings.timeout_max
    }

    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        environment(std::env::vars_os(), &self.settings.environment, &self.scratch)
    }

    pub(super) fn path(&self) -> OsString {
        let all = self.environment();
        all.into_iter().find(|(name, _)| name == "PATH").map(|(_, path)| path).unwrap_or_default()
    }

    /// What starts a program for us, and what the program may do; nothing where it is started as it is.
    pub(super) fn confinement(&self, mark: &str) -> Option<(Vec<OsString>, Confinement)> {
        if self.settings.helper.is_empty() {
            return None;
        }
        let mut write = self.settings.write.clone();
        write.extend([self.folder.clone(), self.scratch.clone()]);
        let confinement = Confinement {
            confined: self.confined,
            write,
            read: self.settings.read.clone(),
            network: self.settings.network,
            mark: mark.to_owned(),
        };
        Some((self.settings.helper.clone(), confinement))
    }

    fn rules(&self) -> String {
        if !self.confined {
            return "Programs are not confined: they can change whatever the user can.".to_owned();
        }
        let network = if self.settings.network { "can use the network" } else { "cannot use the network" };
        let more: String =
            self.settings.write.iter().map(|folder| format!(" and {}", folder.display())).collect();
        format!("Programs can change files in the working folder{more} alone, and {network}.")
    }
}

impl StepsAgent for Shell {
    async fn look(&self, _picture: bool) -> Result<Sight, String> {
        let mut text = format!("Working folder: {}\n{}\n", self.folder.display(), self.rules());
        let files =
            listing(&self.folder).map_err(|error| format!("the working folder cannot be read: {error}"))?;
        text.push_str(if files.is_empty() { "It is empty." } else { "In it:\n" });
        for line in files.iter().take(FILES_SHOWN) {
            let _ = writeln!(text, "- {line}");
        }
        if files.len() > FILES_SHOWN {
            let _ = writeln!(text, "({} more are not listed)", files.len().saturating_sub(FILES_SHOWN));
        }
        Ok(Sight { text, png: None })
    }

    async fn call(&self, command: &Command) -> CallResult {
        if command.tool == known_tools::RUN_COMMAND {
            self.run_command(command).await
        } else {
            CallResult::failure(None, format!("there is no tool `{}`", command.tool))
        }
    }

    async fn close(&self) {}
}

/// The entries of a folder by name, with their sizes.
fn listing(folder: &Path) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder)?.take(FILES_READ) {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.metadata() {
            Ok(data) if data.is_dir() => lines.push(format!("{name}/")),
            Ok(data) => lines.push(format!("{name} ({} bytes)", data.len())),
            Err(_) => lines.push(name),
        }
    }
    lines.sort();
    Ok(lines)
}
