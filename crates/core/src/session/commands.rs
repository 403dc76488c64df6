//! Checks on commands before they are sent, common to all agents.

use crate::command::{CallResult, Command, ToolSpec};

/// Refuses a command with an unknown tool, naming similar ones.
pub(super) fn unknown_tool(command: &Command, tools: &[ToolSpec]) -> Option<CallResult> {
    if tools.iter().any(|tool| tool.name == command.tool) {
        return None;
    }
    let near = tools
        .iter()
        .map(|tool| (strsim::jaro_winkler(&tool.name, &command.tool), &tool.name))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    let hint = near.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default();
    Some(CallResult::failure(None, format!("there is no tool `{}`{hint}", command.tool)))
}
