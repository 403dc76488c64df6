//! The tool `write_clipboard`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::write_clipboard;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Tool, ToolContext, ToolResult};

/// Copies text to the clipboard.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteClipboard {
    /// The text.
    text: String,
}

impl<D: Desktop> Tool<D> for WriteClipboard {
    const NAME: &'static str = "write_clipboard";
    const DOES: Does = Does::Type;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        Ok(write_clipboard(context.desktop, &input.text).await?.into())
    }
}
