//! The tool `select_text`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::select_text;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    registry::{Tool, ToolContext, ToolResult},
};

/// Selects the first place where a text stands in an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectText {
    /// The id of the element.
    id: ElementArgument,
    /// The name that it should have.
    name: Option<String>,
    text: String,
}

impl<D: Desktop> Tool<D> for SelectText {
    const NAME: &'static str = "select_text";
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let target = (input.id.0, input.name.as_deref());
        Ok(select_text(context.desktop, context.window()?, target, &input.text, &context.limits).await?)
    }
}
