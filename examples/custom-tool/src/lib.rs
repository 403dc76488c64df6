//! A custom tool for AppAgents: `count_words` counts the words of a text on the screen.
//!
//! A tool is an input type, whose doc comments describe it to the model, and a function that runs a verified action.
//! Register it with [`Toolbox::with_app_tool`](deskhand_runtime::Toolbox::with_app_tool); the gate, the journal and the reports
//! treat it like any other. [`Dice`] is a source of tools that are not on the desktop.

mod source;

use deskhand_desktop::Desktop;
use deskhand_desktop_act::read_text;
use deskhand_machine::intent::Does;
use deskhand_runtime::tools::{Tool, ToolContext, ToolError, ToolOutput, ToolResult};
use deskhand_ui::{action::Verdict, ids::ElementId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
pub use source::Dice;

/// Counts the words of an element's text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountWords {
    /// The id of the element, such as `e17`.
    id: String,
}

impl<D: Desktop> Tool<D> for CountWords {
    const NAME: &'static str = "count_words";
    // A read-only tool, so its result has no verdict.
    const DOES: Does = Does::Read;
    type Input = Self;

    async fn run(input: Self, context: &ToolContext<'_, D>) -> ToolResult {
        let id: ElementId =
            input.id.parse().map_err(|_| ToolError::Reply(format!("`{}` is not an element id", input.id)))?;
        let read = read_text(context.desktop, context.window()?, id, None).await?;
        // A refusal says why nothing was read.
        if read.effect() != Verdict::Seen {
            return Ok(read.into());
        }
        let text = read.output.get("text").and_then(Value::as_str).unwrap_or_default();
        let words = text.split_whitespace().count();
        Ok(ToolOutput::read(format!("the text has {words} words"), json!({ "words": words })))
    }
}
