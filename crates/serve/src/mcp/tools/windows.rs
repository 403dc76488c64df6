//! The tool `windows`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Called, Tool, WindowsOutput};
use crate::mcp::words;

/// Lists the open windows with their documents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Windows {
    #[serde(default)]
    desktop: Option<String>,
}

impl Tool for Windows {
    type Output = WindowsOutput;
    const NAME: &'static str = "windows";
    const ONLY_READS: bool = true;

    async fn run(self, called: Called) -> Result<Answer, String> {
        let mut work = called.desk(self.desktop.as_deref()).await?;
        let text = words::windows(work.windows().await?);
        Ok(Answer::of(text.clone(), &WindowsOutput::of(&work, &text)))
    }
}
