//! The tool `read_clipboard`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::read_clipboard;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Tool, ToolContext, ToolResult};

/// Returns the text on the clipboard.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadClipboard {}

impl<D: Desktop> Tool<D> for ReadClipboard {
    const NAME: &'static str = deskhand_machine::known_tools::READ_CLIPBOARD;
    const DOES: Does = Does::Read;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(_input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        Ok(read_clipboard(context.desktop).await?.into())
    }
}
