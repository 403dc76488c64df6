//! `deskhand agents`: lists the kinds of agents, and which are enabled.

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_host::config::Overrides;
use deskhand_machine::{
    agent::AgentHome,
    states::{AppStatus, HostStatus},
};
use deskhand_runtime::{Toolbox, agents::KindInfo};
use deskhand_ui::text::one_line;
use serde::Serialize;

use super::host::load;
use crate::{
    args::AgentsArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// One kind in the list.
#[derive(Debug, Serialize)]
struct AgentKindRow {
    name: String,
    state: &'static str,
    lives: &'static str,
    introduction: String,
    statuses: Vec<String>,
    tools: Vec<String>,
    /// Availability for a sub-task now.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<AgentAvailability>,
}

/// Availability of an agent for a sub-task now, with the way or the reason why not.
#[derive(Debug, Serialize)]
struct AgentAvailability {
    ok: bool,
    detail: String,
}

impl AgentKindRow {
    fn of(kind: KindInfo, enabled: bool) -> Self {
        let (lives, statuses, tools) = match kind.home {
            AgentHome::Steps(steps) => (
                "in this program",
                steps.statuses.into_iter().map(|status| status.word).collect(),
                steps.tools.into_iter().map(|tool| tool.name).collect(),
            ),
            AgentHome::Delegate => ("in a separate program", Vec::new(), Vec::new()),
            AgentHome::Machine => ("on another machine", Vec::new(), Vec::new()),
        };
        let state = if enabled { "enabled" } else { "disabled" };
        Self { name: kind.name, state, lives, introduction: kind.introduction, statuses, tools, now: None }
    }
}

fn built_in() -> Result<[AgentKindRow; 2], CliError> {
    let tools = Toolbox::<LinuxDesktop>::standard(ActLimits::default())
        .map_err(|error| CliError::failed_to("set up the tools", error))?;
    let words = |words: Vec<&'static str>| words.into_iter().map(str::to_owned).collect();
    let names =
        |tools: Vec<deskhand_machine::command::ToolSpec>| tools.into_iter().map(|tool| tool.name).collect();
    Ok([
        AgentKindRow {
            name: "host".to_owned(),
            state: "built in",
            lives: "in this program",
            introduction: "Owns the request: breaks it into sub-tasks and hands them out.".to_owned(),
            statuses: words(HostStatus::sayable()),
            tools: names(tools.host_specs()),
            now: None,
        },
        AgentKindRow {
            name: "app".to_owned(),
            state: "built in",
            lives: "in this program",
            introduction: "Owns one window: sees its elements and acts on them.".to_owned(),
            statuses: words(AppStatus::sayable()),
            tools: names(tools.app_specs()),
            now: None,
        },
    ])
}

/// Lists all kinds.
pub(crate) async fn agents(args: &AgentsArgs) -> CommandResult {
    let host = load(Overrides::default())?;
    let mut shown: Vec<AgentKindRow> = built_in()?.into_iter().collect();
    for (kind, enabled) in host.agents()? {
        let standing = host.agent_standing(&kind.name).await;
        let now = standing.map(|standing| match standing {
            Ok(detail) => AgentAvailability { ok: true, detail },
            Err(detail) => AgentAvailability { ok: false, detail },
        });
        shown.push(AgentKindRow { now, ..AgentKindRow::of(kind, enabled) });
    }
    let out = Output::to(OutputStream::Out);
    for kind in &shown {
        if args.json {
            out.json(kind);
            continue;
        }
        let tone = if kind.state == "disabled" { OutputTone::Faint } else { OutputTone::Good };
        out.line(
            &StyledLine::of(OutputTone::Strong, kind.name.as_str())
                .with(tone, format!("  {}", kind.state))
                .with(OutputTone::Faint, format!(", {}", kind.lives)),
        );
        out.line(&StyledLine::of(OutputTone::Plain, format!("  {}", kind.introduction)));
        if let Some(AgentAvailability { ok, detail }) = &kind.now {
            let tone = if *ok { OutputTone::Good } else { OutputTone::Bad };
            out.line(&StyledLine::of(OutputTone::Faint, "  now: ").with(tone, one_line(detail)));
        }
        for (what, words) in [("statuses", &kind.statuses), ("tools", &kind.tools)] {
            if !words.is_empty() {
                out.line(
                    &StyledLine::of(OutputTone::Faint, format!("  {what}: "))
                        .with(OutputTone::Plain, words.join(", ")),
                );
            }
        }
    }
    Ok(Exit::Success)
}
