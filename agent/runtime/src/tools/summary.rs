//! The tool `summary`.

use deskhand_desktop::Desktop;
use deskhand_desktop_act::summary;
use deskhand_machine::{command::ToolListingLevel, intent::Does};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::tool::{Tool, ToolContext, ToolOutput, ToolResult};

/// Summarises the window: dialogs, focus, number of elements by kind, start of its text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SummaryArgs {
    /// The caller's own summary, which is returned as is.
    #[schemars(skip)]
    text: Option<String>,
}

impl<D: Desktop> Tool<D> for SummaryArgs {
    const NAME: &'static str = "summary";
    const DOES: Does = Does::Read;
    const LISTING: ToolListingLevel = ToolListingLevel::Name;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        if let Some(text) = input.text {
            return Ok(ToolOutput::read(text, Value::Null));
        }
        Ok(summary(context.desktop, context.window()?).await?.into())
    }
}
