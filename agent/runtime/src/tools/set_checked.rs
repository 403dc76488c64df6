//! The tool `set_checked`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::set_checked;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Sets a check box, radio button or toggle button.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetChecked {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    checked: bool,
}

impl<D: Desktop> Tool<D> for SetChecked {
    const NAME: &'static str = "set_checked";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Set;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let (id, name) = (input.id.0, input.name.as_deref());
        Ok(set_checked(context.desktop, context.window()?, id, name, input.checked, &context.limits)
            .await?
            .into())
    }
}
