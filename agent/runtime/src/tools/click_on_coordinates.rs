//! The tool `click_on_coordinates`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::{ActionTarget, Click, click};
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{MouseButton, held, place},
    tool::{Tool, ToolContext, ToolResult},
};

/// Clicks a position of the window where no element is listed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClickOnCoordinates {
    /// Horizontal position: 0 is the left edge of the window, 1 the right edge.
    #[schemars(extend("x-takes" = "across"))]
    x: f64,
    /// Vertical position: 0 is the top edge of the window, 1 the bottom edge.
    #[schemars(extend("x-takes" = "down"))]
    y: f64,
    #[serde(default)]
    button: MouseButton,
    /// If `true`, double-clicks.
    #[serde(default)]
    double: bool,
    /// Modifiers to hold, such as ctrl+shift.
    hold: Option<String>,
}

impl<D: Desktop> Tool<D> for ClickOnCoordinates {
    const NAME: &'static str = "click_on_coordinates";
    const DOES: Does = Does::Press;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let point = place(context, ("x", input.x), ("y", input.y)).await?;
        let count = if input.double { 2 } else { 1 };
        let held = held(input.button, input.hold.as_deref())?;
        let request = Click { target: ActionTarget::Point(point), held, count };
        Ok(click(context.desktop, context.window()?, &request, &context.limits).await?.into())
    }
}
