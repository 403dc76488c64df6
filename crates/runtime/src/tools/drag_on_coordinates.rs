//! The tool `drag_on_coordinates`.

use deskhand_core::command::Listing;
use deskhand_desktop::{Desktop, Held};
use deskhand_desktop_act::{Target, drag};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{MouseButton, place},
    registry::{Tool, ToolContext, ToolError, ToolResult},
};

/// Drags from one place of the window to another.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DragOnCoordinates {
    /// Where to press: 0 is the left edge of the window, 1 its right edge.
    start_x: f64,
    /// Where to press: 0 is the top edge of the window, 1 its bottom edge.
    start_y: f64,
    /// Where to let go, as fractions too.
    end_x: f64,
    /// Where to let go, as fractions too.
    end_y: f64,
    #[serde(default)]
    button: MouseButton,
    /// How long it would take, in seconds. It takes as long as the application needs to follow, whatever this says.
    #[serde(default, rename = "duration")]
    _duration: Option<f64>,
    /// A key to hold meanwhile: ctrl, shift, alt or super.
    #[serde(default)]
    key_hold: Option<String>,
}

impl<D: Desktop> Tool<D> for DragOnCoordinates {
    const NAME: &'static str = "drag_on_coordinates";
    const LISTING: Listing = Listing::Nothing;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let modifiers = match input.key_hold.filter(|key| !key.trim().is_empty()) {
            Some(key) => vec![
                key.parse()
                    .map_err(|error| ToolError::Reply(format!("`key_hold`: {error}; nothing was done")))?,
            ],
            None => Vec::new(),
        };
        let held = Held { button: input.button.into(), modifiers };
        let from = place(context, ("start_x", input.start_x), ("start_y", input.start_y)).await?;
        let to = place(context, ("end_x", input.end_x), ("end_y", input.end_y)).await?;
        let (from, to) = (Target::Point(from), Target::Point(to));
        Ok(drag(context.desktop, context.window()?, (&from, &to), &held, &context.limits).await?)
    }
}
