//! Agents that own no window: the configured kinds, and the enabled ones.

use std::{path::Path, time::Duration};

use deskhand_runtime::agents::{
    AgentRegistry, EnabledAgents,
    mcp::{McpKind, McpSettings},
    shell::{SandboxMode, ShellKind, ShellSettings},
};

use crate::{
    HostError,
    config::{AgentSettings, SandboxSetting},
};

/// The argument on which a helper program enters the sandbox and executes the program that follows
/// ([`deskhand_runtime::agents::shell::sandbox::run`]).
pub const SANDBOX_ARGUMENT: &str = "sandboxed";

/// Every configured kind.
pub(crate) fn registry(settings: &AgentSettings, helper: Option<&Path>) -> Result<AgentRegistry, HostError> {
    let mut registry = AgentRegistry::default();
    let shell = &settings.shell;
    let kind = ShellKind::new(ShellSettings {
        folder: shell.folder.clone(),
        write: shell.write.clone(),
        read: shell.read.clone(),
        network: shell.network,
        sandbox: match shell.sandbox {
            SandboxSetting::Required => SandboxMode::Required,
            SandboxSetting::IfPossible => SandboxMode::IfPossible,
            SandboxSetting::Off => SandboxMode::Off,
        },
        helper: helper.map(|helper| vec![helper.into(), SANDBOX_ARGUMENT.into()]).unwrap_or_default(),
        environment: shell.environment.clone(),
        timeout_max: Duration::from_secs(shell.timeout_s),
    });
    registry.register(kind).map_err(HostError::Register)?;
    for (name, program) in &settings.programs {
        let kind = McpKind::new(McpSettings {
            introduction: program.introduction.clone(),
            folder: program.folder.clone(),
            environment: program.environment.clone(),
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
    settings: &AgentSettings,
    helper: Option<&Path>,
    names: &[String],
) -> Result<EnabledAgents, HostError> {
    registry(settings, helper)?.enable(names).map_err(HostError::Agents)
}
