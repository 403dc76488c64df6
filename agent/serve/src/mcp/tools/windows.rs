//! The tool `windows`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{McpToolContext, McpToolHandler, McpToolOutput, WindowsOutput};
use crate::mcp::words;

/// Lists the open windows with their documents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowsToolArgs {
    #[serde(default)]
    desktop: Option<String>,
}

impl McpToolHandler for WindowsToolArgs {
    type Output = WindowsOutput;
    const NAME: &'static str = "windows";
    const ONLY_READS: bool = true;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        let mut work = called.desk(self.desktop.as_deref()).await?;
        let text = words::windows(work.windows().await?);
        Ok(McpToolOutput::of(text.clone(), &WindowsOutput::of(&work, &text)))
    }
}
