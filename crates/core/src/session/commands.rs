//! What all agents do with commands before they go out.

use crate::command::{CallResult, Command, ToolSpec};

/// The result of a command whose tool does not exist, with the nearest names.
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
