//! The tool `hover`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{ActionTarget, hover};
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Moves the pointer onto an element and leaves it there, for a tooltip or a menu.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Hover {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
}

impl<D: Desktop> Tool<D> for Hover {
    const NAME: &'static str = "hover";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Point;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = ActionTarget::Element { id: input.id.0, name: input.name };
        Ok(hover(context.desktop, context.window()?, &target, &context.limits).await?.into())
    }
}
