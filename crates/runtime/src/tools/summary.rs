//! The tool `summary`.

use deskhand_core::command::{Listing, Verdict};
use deskhand_desktop::Desktop;
use deskhand_desktop_act::{ActionReport, Route, summary};
use schemars::JsonSchema;
use serde::Deserialize;

use super::registry::{Tool, ToolContext, ToolResult};

/// Tells in short what the window shows: its dialogs, the focus, how many elements of each kind, the beginning of its
/// text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Summary {
    /// A summary of the caller's own, which is given back.
    #[schemars(skip)]
    text: Option<String>,
}

impl<D: Desktop> Tool<D> for Summary {
    const NAME: &'static str = "summary";
    const LISTING: Listing = Listing::Name;
    const ACTS: bool = false;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        if let Some(text) = input.text {
            return Ok(ActionReport::new(Verdict::Seen, Route::None, text));
        }
        Ok(summary(context.desktop, context.window()?).await?)
    }
}
