//! The tool `select_application_window`.

use deskhand_desktop::{Desktop, DesktopError, WindowManagement as _};
use deskhand_desktop_act::activate;
use deskhand_machine::intent::Does;
use deskhand_ui::ids::WindowId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::parse,
    tool::{Tool, ToolContext, ToolError, ToolResult},
};

/// Raises and focuses a window, as ASSIGN does by itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectApplicationWindow {
    #[schemars(extend("x-takes" = "window"))]
    id: String,
    /// The expected title.
    #[schemars(skip)]
    name: Option<String>,
}

impl<D: Desktop> Tool<D> for SelectApplicationWindow {
    const NAME: &'static str = deskhand_machine::known_tools::SELECT_WINDOW;
    const DOES: Does = Does::Switch;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let window: WindowId = parse(&input.id)?;
        if let Some(name) = input.name.filter(|name| !name.trim().is_empty()) {
            let windows = context.desktop.windows().await?;
            let found =
                windows.iter().find(|info| info.id == window).ok_or(DesktopError::NoWindow(window))?;
            if !found.may_be_called(&name) {
                return Err(ToolError::Reply(format!(
                    "{window} has the title \"{}\", not \"{name}\"; nothing was done",
                    found.title
                )));
            }
        }
        Ok(activate(context.desktop, window).await?.into())
    }
}
