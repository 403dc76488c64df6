//! The tool `visit`.
use deskhand_core::intent::Does;
use deskhand_desktop::Desktop;
use deskhand_desktop_act::visit;
use schemars::JsonSchema;
use serde::Deserialize;

use super::registry::{Tool, ToolContext, ToolResult};

/// Follows a path of names in one call: opens each menu, tab or tree item and activates the last one. For example
/// ["Insert", "Chart…"]. A missing name lists the names available.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Visit {
    /// The names, outermost first.
    #[schemars(extend("x-takes" = "path"))]
    path: Vec<String>,
}

impl<D: Desktop> Tool<D> for Visit {
    const NAME: &'static str = "visit";
    const DOES: Does = Does::Press;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        Ok(visit(context.desktop, context.window()?, &input.path, &context.limits).await?.into())
    }
}
