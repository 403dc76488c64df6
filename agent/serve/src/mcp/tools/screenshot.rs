//! The tool `screenshot`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{McpToolContext, McpToolHandler, McpToolOutput, TextOutput};

/// Takes a picture of the whole screen, without numbers. `look` has one of a window with numbers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScreenshotToolArgs {
    #[serde(default)]
    desktop: Option<String>,
}

impl McpToolHandler for ScreenshotToolArgs {
    type Output = TextOutput;
    const NAME: &'static str = "screenshot";
    const ONLY_READS: bool = true;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        let mut work = called.desk(self.desktop.as_deref()).await?;
        let picture = work.screen().await?;
        let text = format!("The screen of {}, as a picture.", work.name);
        McpToolOutput::of(text.clone(), &TextOutput { text }).with_picture(&work, Some(&picture))
    }
}
