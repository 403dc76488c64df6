//! The tool `invoke_action`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::invoke;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Invokes an accessibility action; a wrong name lists the right ones.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InvokeAction {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    action: String,
}

impl<D: Desktop> Tool<D> for InvokeAction {
    const NAME: &'static str = "invoke_action";
    const DOES: Does = Does::Press;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let (id, name) = (input.id.0, input.name.as_deref());
        Ok(invoke(context.desktop, context.window()?, id, name, &input.action, &context.limits).await?.into())
    }
}
