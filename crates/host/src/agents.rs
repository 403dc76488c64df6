//! Agents that own no window: the configured kinds, and the enabled ones.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_runtime::{
    agents::{
        AgentRegistry, EnabledAgents,
        mcp::{McpKind, McpSettings},
        shell::{ShellKind, ShellSettings},
    },
    programs::sandbox::{SandboxMode, SandboxSettings},
    tools::FileSettings,
};

use crate::{
    HostError,
    config::{Config, ProgramLimits, SandboxSetting, ToolProgramSettings, expanded, own_files},
    prompts::agent_prompts,
    secrets::variables,
};

/// The argument on which a helper program enters the sandbox and executes the program that follows
/// ([`deskhand_confine::run`]).
pub const SANDBOX_ARGUMENT: &str = "sandboxed";

/// The argument on which a helper program does one job on files, which it reads on stdin.
const FILES_ARGUMENT: &str = "read-files";

/// How programs of a configuration are confined.
pub(crate) struct Confined {
    helper: Vec<OsString>,
    /// Our own files, which no program may write to.
    protected: Vec<PathBuf>,
    /// Variables with secrets: a program that could read one could also print it.
    secret: Vec<String>,
}

impl Confined {
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

    /// How files are read; `None` without a helper program.
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

/// Every configured kind.
pub(crate) fn registry(config: &Config, helper: Option<&Path>) -> Result<AgentRegistry, HostError> {
    let settings = &config.agents;
    let confined = Confined::new(config, helper);
    let mut registry = AgentRegistry::default();
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
    helper: Option<&Path>,
    names: &[String],
) -> Result<EnabledAgents, HostError> {
    let enabled = registry(config, helper)?.enable(names).map_err(HostError::Agents)?;
    Ok(enabled.with_prompts(agent_prompts(config)?))
}
