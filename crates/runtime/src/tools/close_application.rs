//! The tool `close_application`.

use deskhand_core::ids::WindowId;
use deskhand_desktop::Desktop;
use deskhand_desktop_act::close;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::parse,
    registry::{Tool, ToolContext, ToolResult},
};

/// Asks a window to close, as its close button does. When the application asks a question instead, you are told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CloseApplication {
    /// The id of the window, such as w2.
    id: String,
}

impl<D: Desktop> Tool<D> for CloseApplication {
    const NAME: &'static str = "close_application";
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let window: WindowId = parse(&input.id)?;
        Ok(close(context.desktop, window, &context.limits).await?)
    }
}
