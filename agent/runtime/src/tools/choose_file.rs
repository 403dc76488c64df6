//! The tool `choose_file`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::choose_file;
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Tool, ToolContext, ToolResult};

/// Chooses a file in the open file dialog.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChooseFile {
    #[schemars(extend("x-takes" = "chosen"))]
    path: String,
}

impl<D: Desktop> Tool<D> for ChooseFile {
    const NAME: &'static str = "choose_file";
    const DOES: Does = Does::Open;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let path = context.places.absolute(&input.path).unwrap_or(input.path);
        Ok(choose_file(context.desktop, context.window()?, &path, &context.limits).await?.into())
    }
}
