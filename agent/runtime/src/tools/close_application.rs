//! The tool `close_application`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::close;
use deskhand_machine::intent::Does;
use deskhand_ui::ids::WindowId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::parse,
    tool::{Tool, ToolContext, ToolResult},
};

/// Closes a window, or reports what the application asks instead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CloseApplication {
    #[schemars(extend("x-takes" = "window"))]
    id: String,
}

impl<D: Desktop> Tool<D> for CloseApplication {
    const NAME: &'static str = "close_application";
    const DOES: Does = Does::Close;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let window: WindowId = parse(&input.id)?;
        Ok(close(context.desktop, window, &context.limits).await?.into())
    }
}
