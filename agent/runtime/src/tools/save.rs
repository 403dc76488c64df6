//! The tool `save`.
use deskhand_desktop::Desktop;
use deskhand_desktop_act::save;
use deskhand_machine::intent::Does;
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Tool, ToolContext, ToolResult};

/// Saves the document to its file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Save {
    /// The answer if the application asks.
    #[serde(default)]
    keep_format: Option<bool>,
}

impl<D: Desktop> Tool<D> for Save {
    const NAME: &'static str = "save";
    const DOES: Does = Does::Save;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        Ok(save(context.desktop, context.window()?, input.keep_format, &context.limits).await?.into())
    }
}
