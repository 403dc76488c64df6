//! The tool `scroll`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{ActionTarget, ScrollDistance as By, scroll, scroll_to};
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Turns the mouse wheel over an element, by notches.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScrollArgs {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    /// Negative for up.
    #[serde(default)]
    down: i32,
    /// Negative for left.
    #[serde(default)]
    right: i32,
    /// Scrolls until this text shows.
    until: Option<String>,
}

impl<D: Desktop> Tool<D> for ScrollArgs {
    const NAME: &'static str = "scroll";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Point;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        if let Some(text) = input.until.as_deref().filter(|text| !text.trim().is_empty()) {
            let (id, name) = (input.id.0, input.name.as_deref());
            let up = input.down < 0;
            let window = context.window()?;
            return Ok(scroll_to(context.desktop, window, (id, name), (text, up), &context.limits)
                .await?
                .into());
        }
        let target = ActionTarget::Element { id: input.id.0, name: input.name };
        let by = By { right: input.right, down: input.down };
        Ok(scroll(context.desktop, context.window()?, &target, by, &context.limits).await?.into())
    }
}
