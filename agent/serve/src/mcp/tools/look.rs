//! The tool `look`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{McpToolContext, McpToolHandler, McpToolOutput, window_of};
use crate::mcp::words;

/// Shows a window: its elements with their ids, and a picture in which they are numbered. Brings it to the front.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LookToolArgs {
    #[serde(default)]
    desktop: Option<String>,
    /// Its id; by default the one that was opened or worked in last.
    #[serde(default)]
    window: Option<String>,
    /// Words to look for: large windows list what matches them best.
    #[serde(default)]
    words: String,
    /// By default false.
    #[serde(default)]
    picture: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    desktop: String,
    window: String,
    text: String,
}

impl McpToolHandler for LookToolArgs {
    type Output = Output;
    const NAME: &'static str = "look";
    const ONLY_READS: bool = false;
    const IS_REPEATABLE: bool = true;

    async fn run(self, called: McpToolContext) -> Result<McpToolOutput, String> {
        let mut desk = called.desk(self.desktop.as_deref()).await?;
        let window = window_of(&desk, self.window.as_deref())?;
        let view = desk.look(window).await?;
        let text = words::window(&view, None, &called.service.listing(&self.words));
        let picture = view.picture.clone().filter(|_| self.picture);
        desk.shown(window, view);
        let output = Output { desktop: desk.name.clone(), window: window.to_string(), text: text.clone() };
        McpToolOutput::of(text, &output).with_picture(&desk, picture.as_ref())
    }
}
