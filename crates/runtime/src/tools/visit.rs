//! The tool `visit`.
use deskhand_core::intent::Does;
use deskhand_desktop::Desktop;
use deskhand_desktop_act::visit;
use schemars::JsonSchema;
use serde::Deserialize;

use super::registry::{Tool, ToolContext, ToolResult};

/// Goes through menus, tabs or tree items by their names and activates the last: ["Insert", "Chart…"]. A wrong name lists the right ones.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Visit {
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
