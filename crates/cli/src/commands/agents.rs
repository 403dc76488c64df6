//! `deskhand agents`: lists the kinds of agents, and which are enabled.

use deskhand_core::{
    agent::AgentHome,
    states::{AppStatus, HostStatus},
    text::one_line,
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
    /// Availability for a sub-task now.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<Now>,
}

/// Availability of an agent for a sub-task now, with the way or the reason why not.
#[derive(Debug, Serialize)]
struct Now {
    ok: bool,
    detail: String,
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
            AgentHome::Machine => ("on another machine", Vec::new(), Vec::new()),
        };
        let state = if enabled { "enabled" } else { "disabled" };
        Self { name: kind.name, state, lives, introduction: kind.introduction, statuses, tools, now: None }
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
            now: None,
        },
        Row {
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
    let mut shown: Vec<Row> = built_in()?.into_iter().collect();
    for (kind, enabled) in host.agents()? {
        let standing = host.agent_standing(&kind.name).await;
        let now = standing.map(|standing| match standing {
            Ok(detail) => Now { ok: true, detail },
            Err(detail) => Now { ok: false, detail },
        });
        shown.push(Row { now, ..Row::of(kind, enabled) });
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
        if let Some(Now { ok, detail }) = &kind.now {
            let tone = if *ok { Tone::Good } else { Tone::Bad };
            out.line(&Line::of(Tone::Faint, "  now: ").with(tone, one_line(detail)));
        }
        for (what, words) in [("statuses", &kind.statuses), ("tools", &kind.tools)] {
            if !words.is_empty() {
                out.line(&Line::of(Tone::Faint, format!("  {what}: ")).with(Tone::Plain, words.join(", ")));
            }
        }
    }
    Ok(Exit::Success)
}
