//! Agents that own no window: the configured kinds, and the enabled ones.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_machine::agent::AgentHome;
use deskhand_runtime::{
    agents::{
        AgentRegistry, EnabledAgents, KindInfo,
        mcp::{McpKind, McpSettings},
        shell::{ShellKind, ShellSettings},
    },
    programs::sandbox::{SandboxMode, SandboxSettings},
    tools::FileSettings,
};
use deskhand_ui::text::error_chain;

use crate::{
    Host, HostError,
    config::{Config, ProgramLimits, SandboxSetting, ToolProgramSettings, expanded, own_files},
    prompts::agent_prompts,
    secrets::variables,
};

/// The argument on which a helper program enters the sandbox and executes the program that follows
/// ([`deskhand_confine::run`]).
pub const SANDBOX_ARGUMENT: &str = "sandboxed";

/// The argument on which a helper program does one job on files, which it reads on stdin.
const FILES_ARGUMENT: &str = "read-files";

/// Confinement of the programs of a configuration.
pub(crate) struct ProgramConfinement {
    helper: Vec<OsString>,
    /// Our own files, which no program may write to.
    protected: Vec<PathBuf>,
    /// Variables with secrets: a program that could read one could also print it.
    secret: Vec<String>,
}

impl ProgramConfinement {
    pub(crate) fn new(config: &Config, helper: Option<&Path>) -> Self {
        Self {
            helper: helper.map(|helper| vec![helper.into(), SANDBOX_ARGUMENT.into()]).unwrap_or_default(),
            protected: own_files(config),
            secret: variables(config),
        }
    }

    fn sandbox(&self, mode: SandboxSetting, limits: ProgramLimits) -> SandboxSettings {
        SandboxSettings {
            mode: match mode {
                SandboxSetting::Required => SandboxMode::Required,
                SandboxSetting::IfPossible => SandboxMode::IfPossible,
                SandboxSetting::Off => SandboxMode::Off,
            },
            helper: self.helper.clone(),
            limits: limits.into(),
            protected: self.protected.clone(),
            ..SandboxSettings::default()
        }
    }

    /// The sandbox of a program that brings tools.
    pub(crate) fn tool(&self, settings: &ToolProgramSettings) -> SandboxSettings {
        SandboxSettings {
            write: settings.write.iter().map(|folder| expanded(folder)).collect(),
            read: settings.read.iter().map(|folder| expanded(folder)).collect(),
            network: settings.network,
            ..self.sandbox(settings.sandbox, settings.limits)
        }
    }

    /// Returns the settings for reading files; `None` without a helper program.
    pub(crate) fn files(&self) -> Option<FileSettings> {
        let helper = self.helper.first()?.to_str()?.to_owned();
        let hidden = self.protected.clone();
        let sandbox = self.sandbox(SandboxSetting::IfPossible, ProgramLimits::default());
        Some(FileSettings { helper: vec![helper, FILES_ARGUMENT.to_owned()], sandbox, hidden })
    }

    /// The variables that a program inherits besides the usual ones.
    pub(crate) fn passed(&self, named: &[String]) -> Vec<String> {
        named.iter().filter(|name| !self.secret.contains(name)).cloned().collect()
    }
}

/// Resources of a host besides its configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostResources<'a> {
    /// The program that keeps desktops and confines programs.
    pub(crate) helper: Option<&'a Path>,
    /// Kinds of agents that it was given.
    pub(crate) kinds: &'a AgentRegistry,
}

/// Every configured kind, and those that the host was given.
pub(crate) fn registry(config: &Config, means: HostResources<'_>) -> Result<AgentRegistry, HostError> {
    let settings = &config.agents;
    let confined = ProgramConfinement::new(config, means.helper);
    let mut registry = means.kinds.clone();
    let shell = &settings.shell;
    let kind = ShellKind::new(ShellSettings {
        folder: shell.folder.clone(),
        sandbox: SandboxSettings {
            write: shell.write.clone(),
            read: shell.read.clone(),
            network: shell.network,
            ..confined.sandbox(shell.sandbox, shell.limits)
        },
        environment: confined.passed(&shell.environment),
        timeout_max: Duration::from_secs(shell.timeout_s),
    });
    registry.register(kind).map_err(HostError::Register)?;
    for (name, program) in &settings.programs {
        let kind = McpKind::new(McpSettings {
            introduction: program.introduction.clone(),
            folder: program.folder.clone(),
            sandbox: SandboxSettings {
                write: program.write.clone(),
                read: program.read.clone(),
                network: program.network,
                ..confined.sandbox(program.sandbox, program.limits)
            },
            environment: confined.passed(&program.environment),
            start_timeout: Duration::from_secs(program.start_timeout_s),
            subtask_timeout: Duration::from_secs(program.subtask_timeout_s),
            ..McpSettings::new(name, program.command.clone())
        });
        registry.register(kind).map_err(HostError::Register)?;
    }
    Ok(registry)
}

/// The agents of these names.
pub(crate) fn enable(
    config: &Config,
    means: HostResources<'_>,
    names: &[String],
) -> Result<EnabledAgents, HostError> {
    let enabled = registry(config, means)?.enable(names).map_err(HostError::Agents)?;
    Ok(enabled.with_prompts(agent_prompts(config)?))
}

impl Host {
    /// The kinds of agents that can work on sub-tasks, each with whether it is enabled.
    ///
    /// # Errors
    /// An agent cannot be registered or enabled.
    pub fn agents(&self) -> Result<Vec<(KindInfo, bool)>, HostError> {
        let settings = &self.config().agents;
        enable(self.config(), self.means(), &settings.enabled)?;
        let kinds = registry(self.config(), self.means())?.kinds();
        let is_enabled = |kind: &KindInfo| settings.enabled.contains(&kind.name);
        Ok(kinds
            .into_iter()
            .map(|kind| {
                let enabled = is_enabled(&kind);
                (kind, enabled)
            })
            .collect())
    }

    /// Returns whether agents of a kind could work on a sub-task now, with how or why not; `None` if that is
    /// determined only once one is opened.
    pub async fn agent_standing(&self, name: &str) -> Option<Result<String, String>> {
        let kinds = registry(self.config(), self.means()).ok()?;
        kinds.standing(name).await
    }

    /// Opens an agent as a session would, confined and with files of its own, and closes it again. What it says about itself, and its
    /// tools.
    ///
    /// # Errors
    /// The reason why a session with it would not start.
    pub async fn try_agent(&self, name: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        if let Some(standing) = self.agent_standing(name).await {
            return standing;
        }
        let enabled = enable(self.config(), self.means(), &[name.to_owned()]);
        let enabled = enabled.map_err(|error| error_chain(&error))?;
        let opened = enabled.open(folder.path()).await.map_err(|error| error_chain(&error))?;
        let told = opened.definitions().into_iter().map(|agent| match agent.home {
            AgentHome::Delegate | AgentHome::Machine => format!("works on its own: {}", agent.introduction),
            AgentHome::Steps(steps) => {
                let tools: Vec<String> = steps.tools.into_iter().map(|tool| tool.name).collect();
                format!("tools: {}", tools.join(", "))
            }
        });
        let told = told.collect::<Vec<_>>().join("; ");
        opened.close().await;
        Ok(told)
    }
}
