//! The tool `type_text`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{TypeText as Request, type_text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    registry::{Tool, ToolContext, ToolResult},
};

/// Types text with the keyboard, into an element or into whatever has the focus. What arrives is read back where
/// that is possible. Use set_value to replace the content of a field in one go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeText {
    /// The text; a line break is Return, a tab is Tab.
    text: String,
    /// The element to type into; the focused one if not given.
    id: Option<ElementArgument>,
    /// The name that it should have.
    name: Option<String>,
    /// Whether to clear the element first.
    #[serde(default)]
    clear: bool,
}

impl<D: Desktop> Tool<D> for TypeText {
    const NAME: &'static str = "type_text";
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let request = Request {
            element: input.id.map(|id| id.0),
            name: input.name,
            text: input.text,
            clear: input.clear,
        };
        Ok(type_text(context.desktop, context.window()?, &request, &context.limits).await?)
    }
}
