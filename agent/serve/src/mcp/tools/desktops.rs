//! The tool `desktops`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{McpToolContext, McpToolHandler, McpToolOutput};

/// Lists the desktops that were started and not ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Desktops {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    desktops: Vec<DesktopListEntry>,
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DesktopListEntry {
    desktop: String,
    /// Null while a call works on it.
    session: Option<String>,
}

impl McpToolHandler for Desktops {
    type Output = Output;
    const NAME: &'static str = "desktops";
    const ONLY_READS: bool = true;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        let listed = called.service.desks.list().await;
        // One at work is listed as such: who asks may wait for it.
        let line = |name: &str, session: Option<&String>| match session {
            Some(session) => format!("- {name}: session {session}"),
            None => format!("- {name}: at work"),
        };
        let mut lines: Vec<String> = listed.iter().map(|one| line(&one.name, one.session.as_ref())).collect();
        if lines.is_empty() {
            lines.push("No desktop is open; `start_desktop` starts one.".to_owned());
        }
        let text = lines.join("\n");
        let desktops =
            listed.into_iter().map(|one| DesktopListEntry { desktop: one.name, session: one.session });
        Ok(McpToolOutput::of(text.clone(), &Output { desktops: desktops.collect(), text }))
    }
}
