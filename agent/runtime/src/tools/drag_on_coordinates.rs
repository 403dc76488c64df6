//! The tool `drag_on_coordinates`.

use deskhand_desktop::{Desktop, PointerChord};
use deskhand_desktop_act::{ActionTarget, drag};
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{MouseButton, place},
    tool::{Tool, ToolContext, ToolError, ToolResult},
};

/// Drags between two positions of the window.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DragOnCoordinates {
    /// Start: 0 is the left edge of the window, 1 the right edge.
    #[schemars(extend("x-takes" = "across"))]
    start_x: f64,
    /// Start: 0 is the top edge of the window, 1 the bottom edge.
    #[schemars(extend("x-takes" = "down"))]
    start_y: f64,
    /// End, as a fraction too.
    #[schemars(extend("x-takes" = "across"))]
    end_x: f64,
    /// End, as a fraction too.
    #[schemars(extend("x-takes" = "down"))]
    end_y: f64,
    #[serde(default)]
    button: MouseButton,
    /// Duration in seconds; ignored, since the drag is paced by the application.
    #[serde(default, rename = "duration")]
    _duration: Option<f64>,
    /// A modifier to hold: ctrl, shift, alt or super.
    #[serde(default)]
    key_hold: Option<String>,
}

impl<D: Desktop> Tool<D> for DragOnCoordinates {
    const NAME: &'static str = "drag_on_coordinates";
    const DOES: Does = Does::Drag;
    const LISTING: ToolListingLevel = ToolListingLevel::Nothing;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let modifiers = match input.key_hold.filter(|key| !key.trim().is_empty()) {
            Some(key) => vec![
                key.parse()
                    .map_err(|error| ToolError::Reply(format!("`key_hold`: {error}; nothing was done")))?,
            ],
            None => Vec::new(),
        };
        let held = PointerChord { button: input.button.into(), modifiers };
        let from = place(context, ("start_x", input.start_x), ("start_y", input.start_y)).await?;
        let to = place(context, ("end_x", input.end_x), ("end_y", input.end_y)).await?;
        let (from, to) = (ActionTarget::Point(from), ActionTarget::Point(to));
        Ok(drag(context.desktop, context.window()?, (&from, &to), &held, &context.limits).await?.into())
    }
}
