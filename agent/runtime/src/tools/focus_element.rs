//! The tool `focus_element`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::focus;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Focuses an element without clicking it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FocusElement {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
}

impl<D: Desktop> Tool<D> for FocusElement {
    const NAME: &'static str = "focus_element";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Point;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let (id, name) = (input.id.0, input.name.as_deref());
        Ok(focus(context.desktop, context.window()?, id, name, &context.limits).await?.into())
    }
}
