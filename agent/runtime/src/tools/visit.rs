//! The tool `visit`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{visit, visit_context_menu};
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Follows menus, tabs or tree items by name and activates the last: ["Insert", "Chart…"]. A wrong name lists the right ones.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VisitArgs {
    #[schemars(extend("x-takes" = "path"))]
    path: Vec<String>,
    /// An id.
    context_menu_of: Option<ElementArgument>,
}

impl<D: Desktop> Tool<D> for VisitArgs {
    const NAME: &'static str = "visit";
    const DOES: Does = Does::Press;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let (desktop, window, path) = (context.desktop, context.window()?, &input.path);
        let report = match input.context_menu_of {
            Some(of) => visit_context_menu(desktop, window, of.0, path, &context.limits).await?,
            None => visit(desktop, window, path, &context.limits).await?,
        };
        Ok(report.into())
    }
}
