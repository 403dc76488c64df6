//! The tool `scroll_into_view`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::scroll_into_view;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Scrolls an element into view.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScrollIntoView {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
}

impl<D: Desktop> Tool<D> for ScrollIntoView {
    const NAME: &'static str = "scroll_into_view";
    const DOES: Does = Does::Point;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = (input.id.0, input.name.as_deref());
        Ok(scroll_into_view(context.desktop, context.window()?, target, &context.limits).await?.into())
    }
}
