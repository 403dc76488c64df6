//! Agents that own no window: the configured kinds, and the enabled ones.

use std::{ffi::OsString, path::Path, time::Duration};

use deskhand_runtime::agents::{
    AgentRegistry, EnabledAgents,
    mcp::{McpKind, McpSettings},
    sandbox::{SandboxMode, SandboxSettings},
    shell::{ShellKind, ShellSettings},
};

use crate::{
    HostError,
    config::{Config, ProgramLimits, SandboxSetting, own_files},
    prompts::agent_prompts,
    secrets::variables,
};

/// The argument on which a helper program enters the sandbox and executes the program that follows
/// ([`deskhand_confine::run`]).
pub const SANDBOX_ARGUMENT: &str = "sandboxed";

/// Every configured kind.
pub(crate) fn registry(config: &Config, helper: Option<&Path>) -> Result<AgentRegistry, HostError> {
    let settings = &config.agents;
    let helper: Vec<OsString> =
        helper.map(|helper| vec![helper.into(), SANDBOX_ARGUMENT.into()]).unwrap_or_default();
    let protected = own_files(config);
    let confined = |mode: SandboxSetting, limits: ProgramLimits| SandboxSettings {
        mode: match mode {
            SandboxSetting::Required => SandboxMode::Required,
            SandboxSetting::IfPossible => SandboxMode::IfPossible,
            SandboxSetting::Off => SandboxMode::Off,
        },
        helper: helper.clone(),
        limits: limits.into(),
        protected: protected.clone(),
        ..SandboxSettings::default()
    };
    // A program that could read a secret could also print it.
    let secret = variables(config);
    let passed = |named: &[String]| -> Vec<String> {
        named.iter().filter(|name| !secret.contains(name)).cloned().collect()
    };
    let mut registry = AgentRegistry::default();
    let shell = &settings.shell;
    let kind = ShellKind::new(ShellSettings {
        folder: shell.folder.clone(),
        sandbox: SandboxSettings {
            write: shell.write.clone(),
            read: shell.read.clone(),
            network: shell.network,
            ..confined(shell.sandbox, shell.limits)
        },
        environment: passed(&shell.environment),
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
                ..confined(program.sandbox, program.limits)
            },
            environment: passed(&program.environment),
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
