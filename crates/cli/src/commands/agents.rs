//! `deskhand agents`: lists the kinds of agents, and which are enabled.

use deskhand_core::{
    agent::AgentHome,
    states::{AppStatus, HostStatus},
};
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_host::config::Overrides;
use deskhand_runtime::{Toolbox, agents::KindInfo};
use serde::Serialize;

use super::host::load;
use crate::{
    args::AgentsArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
};

/// One kind in the list.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    state: &'static str,
    lives: &'static str,
    introduction: String,
    statuses: Vec<String>,
    tools: Vec<String>,
}

impl Row {
    fn of(kind: KindInfo, enabled: bool) -> Self {
        let (lives, statuses, tools) = match kind.home {
            AgentHome::Steps(steps) => (
                "in this program",
                steps.statuses.into_iter().map(|status| status.word).collect(),
                steps.tools.into_iter().map(|tool| tool.name).collect(),
            ),
            AgentHome::Delegate => ("in a separate program", Vec::new(), Vec::new()),
        };
        let state = if enabled { "enabled" } else { "disabled" };
        Self { name: kind.name, state, lives, introduction: kind.introduction, statuses, tools }
    }
}

fn built_in() -> Result<[Row; 2], CliError> {
    let tools = Toolbox::<LinuxDesktop>::standard(ActLimits::default())
        .map_err(|error| CliError::failed_to("set up the tools", error))?;
    let words = |words: Vec<&'static str>| words.into_iter().map(str::to_owned).collect();
    let names =
        |tools: Vec<deskhand_core::command::ToolSpec>| tools.into_iter().map(|tool| tool.name).collect();
    Ok([
        Row {
            name: "host".to_owned(),
            state: "built in",
            lives: "in this program",
            introduction: "Owns the request: breaks it into sub-tasks and hands them out.".to_owned(),
            statuses: words(HostStatus::sayable()),
            tools: names(tools.host_specs()),
        },
        Row {
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
    let kinds = load(Overrides::default())?.agents()?;
    let mut shown: Vec<Row> = built_in()?.into_iter().collect();
    shown.extend(kinds.into_iter().map(|(kind, enabled)| Row::of(kind, enabled)));
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
