//! The tool `click_on_coordinates`.

use deskhand_core::command::Listing;
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{Click, Target, click};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{MouseButton, place},
    registry::{Tool, ToolContext, ToolResult},
};

/// Clicks a place of the window that no element stands for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClickOnCoordinates {
    /// How far to the right: 0 is the left edge of the window, 1 its right edge.
    x: f64,
    /// How far down: 0 is the top edge of the window, 1 its bottom edge.
    y: f64,
    #[serde(default)]
    button: MouseButton,
    /// Whether to click twice.
    #[serde(default)]
    double: bool,
}

impl<D: Desktop> Tool<D> for ClickOnCoordinates {
    const NAME: &'static str = "click_on_coordinates";
    const LISTING: Listing = Listing::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let point = place(context, ("x", input.x), ("y", input.y)).await?;
        let count = if input.double { 2 } else { 1 };
        let request = Click { target: Target::Point(point), button: input.button.into(), count };
        Ok(click(context.desktop, context.window()?, &request, &context.limits).await?)
    }
}
