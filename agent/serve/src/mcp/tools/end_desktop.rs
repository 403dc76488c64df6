//! The tool `end_desktop`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{McpToolContext, McpToolHandler, McpToolOutput, TextOutput};
use crate::mcp::words::ended;

/// Ends a desktop: closes its applications as a person would. Save first; what has unsaved changes is named.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EndDesktop {
    #[serde(default)]
    desktop: Option<String>,
    /// Summary of what was done, for the record.
    #[serde(default)]
    result: String,
}

impl McpToolHandler for EndDesktop {
    type Output = TextOutput;
    const NAME: &'static str = "end_desktop";
    const ONLY_READS: bool = false;
    const IS_DESTRUCTIVE: bool = true;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        let mut desk = called.desk(self.desktop.as_deref()).await?;
        let end = desk.end(&self.result).await;
        called.service.desks.remove(&desk.name).await;
        let text = format!("Desktop {} has ended.\n{}", desk.name, ended(&end?));
        Ok(McpToolOutput::of(text.clone(), &TextOutput { text }))
    }
}
