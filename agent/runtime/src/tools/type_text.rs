//! The tool `type_text`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{TypeTextOptions as Request, type_text};
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    arguments::ElementArgument,
    tool::{Tool, ToolContext, ToolResult},
};

/// Types text, by default where the focus is; it replaces the selection.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeTextArgs {
    /// A line break is Return, a tab is Tab.
    #[schemars(extend("x-takes" = "text"))]
    text: String,
    /// The element id.
    id: Option<ElementArgument>,
    /// The expected name.
    #[schemars(extend("x-takes" = "name"))]
    name: Option<String>,
    #[serde(default)]
    clear: bool,
}

impl<D: Desktop> Tool<D> for TypeTextArgs {
    const NAME: &'static str = "type_text";
    const DOES: Does = Does::Type;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let request = Request {
            element: input.id.map(|id| id.0),
            name: input.name,
            text: input.text,
            clear: input.clear,
        };
        Ok(type_text(context.desktop, context.window()?, &request, &context.limits).await?.into())
    }
}
