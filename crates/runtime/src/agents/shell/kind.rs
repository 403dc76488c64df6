//! The agent kind `shell` and its agent.

use std::{
    ffi::OsString,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_confine::Enforcement;
use deskhand_core::{
    agent::{AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentHome, AgentSteps, usual_statuses},
    command::{CallResult, Command},
    known_tools,
};
use deskhand_process::ProcessGroup;
use tokio::process::Child;

use super::run_command::spec;
use crate::agents::{
    AgentError, AgentKind, AgentObservation, AgentSetup, OpenAgent, StepsAgent, environment::environment,
    sandbox::SandboxSettings,
};

/// Its name.
const NAME: &str = "shell";
/// The most files of the working folder shown to the agent.
const FILES_SHOWN: usize = 60;
/// The most files read for that.
const FILES_READ: usize = 2_000;

const INSTRUCTIONS: &str = "\
You work on the command line, without a screen: run programs with `run_command` and read their output. There is no
shell, hence no pipes, wildcards, redirections or variables; use the options of programs instead, or run one program
after the other. Prefer commands that change nothing, look before you overwrite, and verify what you made.";

/// Settings of the shell agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellSettings {
    /// The working folder; `None` for a private folder per session.
    pub folder: Option<PathBuf>,
    /// How programs are confined.
    pub sandbox: SandboxSettings,
    /// Additional variables that programs inherit.
    pub environment: Vec<String>,
    /// The maximum timeout of a program.
    pub timeout_max: Duration,
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self {
            folder: None,
            sandbox: SandboxSettings::default(),
            environment: Vec::new(),
            timeout_max: Duration::from_secs(600),
        }
    }
}

/// The command-line agent.
#[derive(Debug, Clone, Default)]
pub struct ShellKind {
    settings: ShellSettings,
}

impl ShellKind {
    /// Creates the kind with these settings.
    pub fn new(settings: ShellSettings) -> Self {
        Self { settings }
    }
}

impl AgentKind for ShellKind {
    fn name(&self) -> &str {
        NAME
    }

    fn introduction(&self) -> String {
        "Works on the command line without a screen: runs programs; reads, creates and converts files in its working \
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
        let enforcement =
            self.settings.sandbox.enforcement(self.settings.folder.as_ref()).map_err(problem)?;
        let private = |name: &str| -> io::Result<PathBuf> {
            let folder = setup.folder.join(name);
            crate::private::create_folders(&folder)?;
            folder.canonicalize()
        };
        let scratch = private("scratch").map_err(|error| problem(format!("create its folder: {error}")))?;
        let folder = match &self.settings.folder {
            Some(folder) => folder.canonicalize(),
            None => private("work"),
        };
        let folder = folder.map_err(|error| problem(format!("open its working folder: {error}")))?;
        if !folder.is_dir() {
            return Err(problem(format!("{} is not a folder", folder.display())));
        }
        Ok(OpenAgent::steps(Shell { settings: self.settings.clone(), folder, scratch, enforcement }))
    }
}

/// An open shell agent.
pub(super) struct Shell {
    settings: ShellSettings,
    folder: PathBuf,
    scratch: PathBuf,
    enforcement: Enforcement,
}

impl Shell {
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn timeout_max(&self) -> Duration {
        self.settings.timeout_max
    }

    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut all = environment(std::env::vars_os(), &self.settings.environment, &self.scratch);
        for (_, path) in all.iter_mut().filter(|(name, _)| name == "PATH") {
            *path = self.settings.sandbox.search_path(&self.enforcement, path, &self.own());
        }
        all
    }

    pub(super) fn path(&self) -> OsString {
        let all = self.environment();
        all.into_iter().find(|(name, _)| name == "PATH").map(|(_, path)| path).unwrap_or_default()
    }

    pub(super) fn command(&self, program: &Path, mark: &str) -> io::Result<tokio::process::Command> {
        self.settings.sandbox.command(&self.enforcement, program, (&self.own(), &[]), mark)
    }

    pub(super) fn group(&self, child: &Child, mark: String) -> ProcessGroup {
        self.settings.sandbox.group(child, mark)
    }

    /// The folders that its programs may write to in any case.
    fn own(&self) -> [PathBuf; 2] {
        [self.folder.clone(), self.scratch.clone()]
    }

    fn rules(&self) -> String {
        if self.enforcement == Enforcement::Nothing {
            return "Programs are not sandboxed: they can change whatever the user can.".to_owned();
        }
        let network =
            if self.settings.sandbox.network { "can use the network" } else { "cannot use the network" };
        let more: String =
            self.settings.sandbox.write.iter().map(|folder| format!(" and {}", folder.display())).collect();
        let modes = match self.enforcement {
            Enforcement::Rules => " They cannot change modes, owners or times of files.",
            Enforcement::Namespaces { .. } | Enforcement::Nothing => "",
        };
        format!("Programs can change files in the working folder{more} alone, and {network}.{modes}")
    }
}

impl StepsAgent for Shell {
    async fn observe(&self, _picture: bool) -> Result<AgentObservation, String> {
        let mut text = format!("Working folder: {}\n{}\n", self.folder.display(), self.rules());
        let files =
            listing(&self.folder).map_err(|error| format!("cannot read the working folder: {error}"))?;
        text.push_str(if files.is_empty() { "It is empty." } else { "In it:\n" });
        for line in files.iter().take(FILES_SHOWN) {
            let _ = writeln!(text, "- {line}");
        }
        if files.len() > FILES_SHOWN {
            let _ = writeln!(text, "({} more not listed)", files.len().saturating_sub(FILES_SHOWN));
        }
        Ok(AgentObservation { text, png: None })
    }

    async fn call(&self, command: &Command) -> CallResult {
        if command.tool == known_tools::RUN_COMMAND {
            self.run_command(command).await
        } else {
            CallResult::failure(None, format!("unknown tool `{}`", command.tool))
        }
    }

    async fn close(&self) {}
}

/// The entries of a folder by name, with sizes.
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
