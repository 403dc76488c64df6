//! The tool `drag_on_coordinates`.

use deskhand_core::command::Listing;
use deskhand_desktop::{
    Desktop,
    act::{Target, drag},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::{MouseButton, place},
    registry::{Tool, ToolContext, ToolError, ToolResult},
};

/// Drags from one place of the window to another with the left mouse button.
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
    /// A key to hold meanwhile.
    #[serde(default)]
    key_hold: Option<String>,
}

impl<D: Desktop> Tool<D> for DragOnCoordinates {
    const NAME: &'static str = "drag_on_coordinates";
    const LISTING: Listing = Listing::Nothing;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        if input.button != MouseButton::Left {
            return Err(ToolError::Reply(
                "`button` can only be left: nothing else drags here; nothing was done".to_owned(),
            ));
        }
        if let Some(key) = input.key_hold.filter(|key| !key.trim().is_empty()) {
            return Err(ToolError::Reply(format!(
                "`key_hold`: `{key}` cannot be held while dragging; leave it out, or use a command of the \
                 application; nothing was done"
            )));
        }
        let from = place(context, ("start_x", input.start_x), ("start_y", input.start_y)).await?;
        let to = place(context, ("end_x", input.end_x), ("end_y", input.end_y)).await?;
        let (from, to) = (Target::Point(from), Target::Point(to));
        Ok(drag(context.desktop, context.window()?, &from, &to, &context.limits).await?)
    }
}
