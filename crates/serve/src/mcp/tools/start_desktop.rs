//! The tool `start_desktop`.

use std::path::PathBuf;

use deskhand_host::SessionRequest;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Called, Tool};
use crate::{
    desk::Desk,
    mcp::{ask::attending, words},
};

/// Starts a desktop to work on, private and virtual unless configured otherwise, and opens files, folders or addresses on it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartDesktop {
    /// What the user wants, in the user's own words. What it names may be sent, deleted or run without asking; nothing else may.
    task: String,
    /// Absolute paths or addresses.
    #[serde(default)]
    open: Vec<PathBuf>,
}

impl Tool for StartDesktop {
    const NAME: &'static str = "start_desktop";
    const ONLY_READS: bool = false;

    async fn run(self, called: Called) -> Result<Answer, String> {
        let peer = &called.context.peer;
        let client =
            peer.peer_info().map(|info| info.client_info.name.clone()).filter(|name| !name.is_empty());
        let client = format!("MCP client {}", client.as_deref().unwrap_or("without a name"));
        let request = SessionRequest { open: self.open, ..SessionRequest::default() };
        let started = Desk::start(called.server.host(), &client, self.task, request, attending(peer.clone()));
        let (desk, turn) = started.await?;
        let (listed, notes) = (words::windows(&desk.desktop), words::done(&turn));
        let session = desk.session().unwrap_or_default();
        let name = called.server.desks().add(desk).await;
        Ok(Answer::text(format!("Desktop {name} (session {session})\n{listed}\n{notes}").trim_end()))
    }
}
