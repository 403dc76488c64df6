//! The agent kind `shell` and its agent.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::run_command::{run, spec};
use crate::{
    agents::{AgentError, AgentKind, AgentObservation, AgentSetup, OpenAgent, StepsAgent},
    programs::{ProgramRunner, sandbox::SandboxSettings},
};
use deskhand_confine::Enforcement;
use deskhand_machine::{
    agent::{AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentHome, AgentSteps, usual_statuses},
    command::{CallResult, ToolCommand},
    known_tools,
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
    /// Confinement of programs.
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
        let ShellSettings { folder, sandbox, environment, timeout_max } = self.settings.clone();
        let runner = ProgramRunner::new(sandbox, folder.as_ref(), environment, &setup.folder)
            .map_err(|problem| AgentError { agent: NAME.to_owned(), problem })?;
        Ok(OpenAgent::steps(ShellAgent { timeout_max, runner }))
    }
}

/// An open shell agent.
struct ShellAgent {
    timeout_max: Duration,
    runner: ProgramRunner,
}

impl ShellAgent {
    fn rules(&self) -> String {
        let (sandbox, enforcement) = (self.runner.sandbox(), self.runner.enforcement());
        if *enforcement == Enforcement::Nothing {
            return "Programs are not sandboxed: they can change whatever the user can.".to_owned();
        }
        let network = if sandbox.network { "can use the network" } else { "cannot use the network" };
        let more: String = sandbox.write.iter().map(|folder| format!(" and {}", folder.display())).collect();
        let modes = match enforcement {
            Enforcement::Rules => " They cannot change modes, owners or times of files.",
            Enforcement::Namespaces { .. } | Enforcement::Nothing => "",
        };
        format!("Programs can change files in the working folder{more} alone, and {network}.{modes}")
    }
}

impl StepsAgent for ShellAgent {
    async fn observe(&self, _picture: bool) -> Result<AgentObservation, String> {
        let folder = self.runner.folder();
        let mut text = format!("Working folder: {}\n{}\n", folder.display(), self.rules());
        let files = listing(folder).map_err(|error| format!("cannot read the working folder: {error}"))?;
        text.push_str(if files.is_empty() { "It is empty." } else { "In it:\n" });
        for line in files.iter().take(FILES_SHOWN) {
            let _ = writeln!(text, "- {line}");
        }
        if files.len() > FILES_SHOWN {
            let _ = writeln!(text, "({} more not listed)", files.len().saturating_sub(FILES_SHOWN));
        }
        Ok(AgentObservation { text, png: None })
    }

    async fn call(&self, command: &ToolCommand) -> CallResult {
        if command.tool == known_tools::RUN_COMMAND {
            run(&self.runner, self.timeout_max, command).await
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
