//! Checks on commands before they are sent, common to all agents.

use crate::{
    command::{CallResult, Command, ToolSpec},
    suggest::nearest,
};

/// Refuses a command with an unknown tool, naming similar ones.
pub(super) fn unknown_tool(command: &Command, tools: &[ToolSpec]) -> Option<CallResult> {
    if tools.iter().any(|tool| tool.name == command.tool) {
        return None;
    }
    let near = nearest(&command.tool, tools.iter().map(|tool| tool.name.as_str()));
    let hint = near.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    Some(CallResult::failure(None, format!("there is no tool `{}`{hint}", command.tool)))
}
