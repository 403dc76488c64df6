//! The tool `expand`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::expand;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    registry::{Tool, ToolContext, ToolResult},
};

/// Expands an item of a tree, a combo box or a section, or collapses it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Expand {
    /// The id of the element.
    id: ElementArgument,
    /// The name that it should have.
    name: Option<String>,
    /// False to collapse it.
    expanded: Option<bool>,
}

impl<D: Desktop> Tool<D> for Expand {
    const NAME: &'static str = "expand";
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = (input.id.0, input.name.as_deref());
        let open = input.expanded.unwrap_or(true);
        Ok(expand(context.desktop, context.window()?, target, open, &context.limits).await?)
    }
}
