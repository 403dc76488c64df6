//! The tool `save_as`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{SaveAsOptions as Request, save_as};
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Tool, ToolContext, ToolResult};

/// Saves the document to another file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SaveAsArgs {
    #[schemars(extend("x-takes" = "file"))]
    path: String,
    /// Its name in the dialog, if the extension does not tell.
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    keep_format: Option<bool>,
    #[serde(default)]
    #[schemars(extend("x-takes" = "replaces"))]
    overwrite: bool,
}

impl<D: Desktop> Tool<D> for SaveAsArgs {
    const NAME: &'static str = "save_as";
    const DOES: Does = Does::Save;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let Self { path, format, keep_format, overwrite } = input;
        let request = Request { path, format, keep_format, overwrite };
        Ok(save_as(context.desktop, context.window()?, &request, &context.limits).await?.into())
    }
}
