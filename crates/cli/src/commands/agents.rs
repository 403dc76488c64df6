//! `deskhand agents`: the kinds of agents; and which of them a session is run with.

use std::time::Duration;

use deskhand_core::{
    agent::AgentHome,
    states::{AppStatus, HostStatus},
};
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_host::config::{Config, Overrides, SandboxSetting};
use deskhand_runtime::{
    Toolbox,
    agents::{
        AgentRegistry, EnabledAgents, KindInfo,
        mcp::{McpKind, McpSettings},
        shell::{SandboxMode, ShellKind, ShellSettings},
    },
};
use serde::Serialize;

use super::configuration::load;
use crate::{
    args::AgentsArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
};

/// The name of our own command that confines a program.
const SANDBOXED: &str = "sandboxed";

/// Every kind that the configuration knows.
fn registry(config: &Config) -> Result<AgentRegistry, CliError> {
    let mut registry = AgentRegistry::default();
    let ourselves = std::env::current_exe()
        .map_err(|error| CliError::failed_to("find this program, to confine others with it", error))?;
    let shell = &config.agents.shell;
    let settings = ShellSettings {
        folder: shell.folder.clone(),
        write: shell.write.clone(),
        read: shell.read.clone(),
        network: shell.network,
        sandbox: match shell.sandbox {
            SandboxSetting::Required => SandboxMode::Required,
            SandboxSetting::IfPossible => SandboxMode::IfPossible,
            SandboxSetting::Off => SandboxMode::Off,
        },
        helper: vec![ourselves.into_os_string(), SANDBOXED.into()],
        environment: shell.environment.clone(),
        timeout_max: Duration::from_secs(shell.timeout_s),
    };
    registry.register(ShellKind::new(settings)).map_err(|error| CliError::from_error(&error))?;
    for (name, program) in &config.agents.programs {
        let settings = McpSettings {
            introduction: program.introduction.clone(),
            folder: program.folder.clone(),
            environment: program.environment.clone(),
            start_timeout: Duration::from_secs(program.start_timeout_s),
            subtask_timeout: Duration::from_secs(program.subtask_timeout_s),
            ..McpSettings::new(name, program.command.clone())
        };
        registry.register(McpKind::new(settings)).map_err(|error| CliError::from_error(&error))?;
    }
    Ok(registry)
}

/// The agents that the configuration enables.
///
/// # Errors
/// One of them is not known, or is no agent.
pub(super) fn enabled(config: &Config) -> Result<EnabledAgents, CliError> {
    enable(config, &config.agents.enabled)
}

/// The agents of these names.
///
/// # Errors
/// One of them is not known, or is no agent.
pub(super) fn enable(config: &Config, names: &[String]) -> Result<EnabledAgents, CliError> {
    registry(config)?.enable(names).map_err(|error| {
        CliError::failed_to("set up the agents", error).with_help(
            "`deskhand agents` lists them; `agents.enabled` in the configuration names those to use",
        )
    })
}

/// One kind as it is shown.
#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    state: &'static str,
    lives: &'static str,
    introduction: String,
    statuses: Vec<String>,
    tools: Vec<String>,
}

impl Shown {
    fn of(kind: KindInfo, enabled: bool) -> Self {
        let (lives, statuses, tools) = match kind.home {
            AgentHome::Steps(steps) => (
                "in this program",
                steps.statuses.into_iter().map(|status| status.word).collect(),
                steps.tools.into_iter().map(|tool| tool.name).collect(),
            ),
            AgentHome::Delegate => ("in a program of its own", Vec::new(), Vec::new()),
        };
        let state = if enabled { "enabled" } else { "disabled" };
        Self { name: kind.name, state, lives, introduction: kind.introduction, statuses, tools }
    }
}

fn built_in() -> Result<[Shown; 2], CliError> {
    let tools = Toolbox::<LinuxDesktop>::standard(ActLimits::default())
        .map_err(|error| CliError::failed_to("set up the tools", error))?;
    let words = |words: Vec<&'static str>| words.into_iter().map(str::to_owned).collect();
    let names =
        |tools: Vec<deskhand_core::command::ToolSpec>| tools.into_iter().map(|tool| tool.name).collect();
    Ok([
        Shown {
            name: "host".to_owned(),
            state: "built in",
            lives: "in this program",
            introduction: "Owns the request: breaks it into sub-tasks and hands them out.".to_owned(),
            statuses: words(HostStatus::sayable()),
            tools: names(tools.host_specs()),
        },
        Shown {
            name: "app".to_owned(),
            state: "built in",
            lives: "in this program",
            introduction: "Owns one window: sees its elements and acts on them.".to_owned(),
            statuses: words(AppStatus::sayable()),
            tools: names(tools.app_specs()),
        },
    ])
}

/// Lists all kinds.
pub(crate) fn agents(args: &AgentsArgs) -> CommandResult {
    let config = load(Overrides::default())?.config;
    enabled(&config)?;
    let mut shown: Vec<Shown> = built_in()?.into_iter().collect();
    for kind in registry(&config)?.kinds() {
        let is_enabled = config.agents.enabled.contains(&kind.name);
        shown.push(Shown::of(kind, is_enabled));
    }
    let out = Output::to(Stream::Out);
    for kind in &shown {
        if args.json {
            out.json(kind);
            continue;
        }
        let tone = if kind.state == "disabled" { Tone::Faint } else { Tone::Good };
        out.line(
            &Line::of(Tone::Strong, kind.name.as_str())
                .with(tone, format!("  {}", kind.state))
                .with(Tone::Faint, format!(", {}", kind.lives)),
        );
        out.line(&Line::of(Tone::Plain, format!("  {}", kind.introduction)));
        for (what, words) in [("statuses", &kind.statuses), ("tools", &kind.tools)] {
            if !words.is_empty() {
                out.line(&Line::of(Tone::Faint, format!("  {what}: ")).with(Tone::Plain, words.join(", ")));
            }
        }
    }
    Ok(Exit::Success)
}
