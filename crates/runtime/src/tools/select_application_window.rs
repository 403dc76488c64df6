//! The tool `select_application_window`.

use deskhand_core::ids::WindowId;
use deskhand_desktop::{Desktop, act::activate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::parse,
    registry::{Tool, ToolContext, ToolResult},
};

/// Brings a window to the front and gives it the focus. ASSIGN does this by itself.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SelectApplicationWindow {
    /// The id of the window, such as w2.
    id: String,
}

impl<D: Desktop> Tool<D> for SelectApplicationWindow {
    const NAME: &'static str = deskhand_core::reply::SELECT_WINDOW;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let window: WindowId = parse(&input.id)?;
        Ok(activate(context.desktop, window).await?)
    }
}
