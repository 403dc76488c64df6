//! The tool `start_desktop`.

use std::path::PathBuf;

use deskhand_host::SessionRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{McpToolContext, McpToolHandler, McpToolOutput};
use crate::{
    desk::Desk,
    mcp::{ask::ActiveCall, words},
};

/// Starts a desktop to work on, private and virtual unless configured otherwise, and opens files, folders or addresses on it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartDesktop {
    /// The user's request, in the user's own words. Everything that it names may be sent, deleted or run without
    /// asking; nothing else may.
    task: String,
    /// Absolute paths or addresses.
    #[serde(default)]
    open: Vec<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    desktop: String,
    session: String,
    windows: Vec<String>,
    text: String,
}

impl McpToolHandler for StartDesktop {
    type Output = Output;
    const NAME: &'static str = "start_desktop";
    const ONLY_READS: bool = false;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        called.service.desks.has_room().await?;
        let client = &called.call.client;
        let name = format!("MCP client {}", client.name.as_deref().unwrap_or("without a name"));
        let request = SessionRequest { open: self.open, ..SessionRequest::default() };
        let line = ActiveCall::default();
        let held = line.hold(&called.call);
        called.call.progress("starting a desktop");
        let starting = Desk::start(called.service.host(), &name, self.task, request, line.reach());
        let (desk, turn) = tokio::select! {
            started = starting => started?,
            () = called.call.cancelled() => return Err("the call was cancelled; no desktop was started".to_owned()),
        };
        drop(held);
        let (listed, notes) = (words::windows(&desk.desktop), words::done(&turn));
        let session = desk.session().unwrap_or_default();
        let windows = desk.desktop.windows.iter().map(|window| window.id.to_string()).collect();
        let desktop = called.service.desks.add(desk, client.id, line).await;
        let text = format!("Desktop {desktop} (session {session})\n{listed}\n{notes}").trim_end().to_owned();
        Ok(McpToolOutput::of(text.clone(), &Output { desktop, session, windows, text }))
    }
}
