//! The tool `select`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{select, select_items};
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolError, ToolResult},
};

/// Selects an item of a list, combo box, tree or tab bar, or several of a list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Select {
    /// The element id.
    id: ElementArgument,
    #[schemars(extend("x-takes" = "item"))]
    item: Option<String>,
    #[schemars(extend("x-takes" = "items"))]
    items: Option<Vec<String>>,
}

impl<D: Desktop> Tool<D> for Select {
    const NAME: &'static str = "select";
    const DOES: Does = Does::Press;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let (desktop, window, id) = (context.desktop, context.window()?, input.id.0);
        let report = match (input.item, input.items) {
            (Some(item), None) => select(desktop, window, id, &item, &context.limits).await?,
            (None, Some(items)) => select_items(desktop, window, id, &items, &context.limits).await?,
            (Some(_), Some(_)) | (None, None) => {
                let problem = "give `item`, or `items` for several; nothing was done";
                return Err(ToolError::Reply(problem.to_owned()));
            }
        };
        Ok(report.into())
    }
}
