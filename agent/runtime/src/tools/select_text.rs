//! The tool `select_text`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::select_text;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Selects the first occurrence of a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectText {
    /// The element id.
    id: ElementArgument,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    text: String,
}

impl<D: Desktop> Tool<D> for SelectText {
    const NAME: &'static str = "select_text";
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    const DOES: Does = Does::Point;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = (input.id.0, input.name.as_deref());
        Ok(select_text(context.desktop, context.window()?, target, &input.text, &context.limits)
            .await?
            .into())
    }
}
