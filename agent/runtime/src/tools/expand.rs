//! The tool `expand`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::expand;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Expands a tree item, combo box or section, or collapses it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Expand {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    expanded: Option<bool>,
}

impl<D: Desktop> Tool<D> for Expand {
    const NAME: &'static str = "expand";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Set;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = (input.id.0, input.name.as_deref());
        let open = input.expanded.unwrap_or(true);
        Ok(expand(context.desktop, context.window()?, target, open, &context.limits).await?.into())
    }
}
