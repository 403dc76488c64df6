//! Checks on commands before they are sent, common to all agents.

use crate::{
    command::{CallResult, ToolCommand, ToolSpec},
    known_tools::ZOOM,
    prompt::Marks,
    workflow::WorkflowOffer,
};
use deskhand_ui::suggest::nearest;

/// Refuses a command with an unknown tool, naming similar ones.
pub(super) fn unknown_tool(command: &ToolCommand, tools: &[ToolSpec]) -> Option<CallResult> {
    if command.tool_in(tools).is_some() {
        return None;
    }
    if command.tool == ZOOM {
        let why =
            "this session takes no pictures, so there is no `zoom`; `read_text` and `more` read elements";
        return Some(CallResult::failure(None, why));
    }
    let near = nearest(&command.tool, tools.iter().map(|tool| tool.name.as_str()));
    let hint = near.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    Some(CallResult::failure(None, format!("there is no tool `{}`{hint}", command.tool)))
}

/// Why a workflow cannot be run that is not offered, naming a similar one or all of them.
pub(super) fn unknown_workflow(name: &str, offers: &[WorkflowOffer]) -> String {
    let names = || offers.iter().map(|offer| offer.name.as_str());
    let hint = match nearest(name, names()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; there is {}", names().collect::<Vec<_>>().join(", ")),
    };
    format!("there is no workflow `{name}`{hint}")
}

/// Refuses a command that would tell a program or a page the number of the prompt's marks.
pub(super) fn tells_marks(command: &ToolCommand, marks: &Marks) -> Option<CallResult> {
    let tells = command.arguments.values().any(|value| marks.are_in(&value.to_string()));
    tells.then(|| {
        let reason = "the arguments contain the number of the marks around untrusted text, which nothing outside of this prompt \
                      may learn; leave it out";
        CallResult::failure(None, reason)
    })
}
