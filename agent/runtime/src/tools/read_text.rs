//! The tool `read_text`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::read_text;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Returns the whole text of an element or of what is inside it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadTextArgs {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
}

impl<D: Desktop> Tool<D> for ReadTextArgs {
    const NAME: &'static str = "read_text";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Read;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        Ok(read_text(context.desktop, context.window()?, input.id.0, input.name.as_deref()).await?.into())
    }
}
