//! The tool `scroll_into_view`.

use deskhand_core::command::Listing;
use deskhand_desktop::Desktop;
use deskhand_desktop_act::scroll_into_view;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    registry::{Tool, ToolContext, ToolResult},
};

/// Scrolls until an element is in view.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScrollIntoView {
    /// The id of the element.
    id: ElementArgument,
    /// The name that it should have.
    name: Option<String>,
}

impl<D: Desktop> Tool<D> for ScrollIntoView {
    const NAME: &'static str = "scroll_into_view";
    const LISTING: Listing = Listing::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = (input.id.0, input.name.as_deref());
        Ok(scroll_into_view(context.desktop, context.window()?, target, &context.limits).await?)
    }
}
