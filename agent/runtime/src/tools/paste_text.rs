//! The tool `paste_text`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::paste;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Replaces the text of an element through the clipboard, whose content is then restored. For long texts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PasteText {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    /// The new text.
    #[schemars(extend("x-takes" = "pasted"))]
    text: String,
}

impl<D: Desktop> Tool<D> for PasteText {
    const NAME: &'static str = "paste_text";
    const DOES: Does = Does::Type;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = (input.id.0, input.name.as_deref());
        Ok(paste(context.desktop, context.window()?, target, &input.text, &context.limits).await?.into())
    }
}
