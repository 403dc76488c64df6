//! The tool `select`.
use deskhand_core::intent::Does;
use deskhand_desktop::Desktop;
use deskhand_desktop_act::select;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    registry::{Tool, ToolContext, ToolResult},
};

/// Selects an item of a list, combo box, tree or tab bar.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Select {
    /// The element id.
    id: ElementArgument,
    #[schemars(extend("x-takes" = "item"))]
    item: String,
}

impl<D: Desktop> Tool<D> for Select {
    const NAME: &'static str = "select";
    const DOES: Does = Does::Press;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        Ok(select(context.desktop, context.window()?, input.id.0, &input.item, &context.limits).await?.into())
    }
}
