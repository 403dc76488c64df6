//! The system message, and parts that all messages have.

use serde::Serialize;

use crate::{
    command::ToolSpec,
    memory::MemoryItem,
    prompt::{PromptError, marks::Marks, set::render, tools_text},
};
use deskhand_ui::ids::ReadingId;

/// The plan of a model.
pub(super) fn plan_text(items: &[String], marks: &Marks) -> String {
    items
        .iter()
        .enumerate()
        .map(|(index, item)| format!("{}. {}", index + 1, marks.told(item)))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The system message of an agent.
///
/// # Errors
/// [`PromptError`] if the template is invalid.
pub fn system_message(
    name: &'static str,
    template: &str,
    tools: &[ToolSpec],
    examples: &str,
) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct SystemPromptVariables<'a> {
        tools: String,
        examples: &'a str,
    }
    render(name, template, &SystemPromptVariables { tools: tools_text(tools), examples: examples.trim() })
}

/// Returns the readings of a step's calls.
pub(super) fn readings_of(item: &MemoryItem) -> impl Iterator<Item = ReadingId> {
    item.actions.iter().filter_map(|info| info.reading)
}
