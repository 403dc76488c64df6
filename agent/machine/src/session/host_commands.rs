//! Commands of the HostAgent.

use serde_json::{Map, Value};

use super::{
    commands::unknown_tool,
    delegation::agent_target,
    ledgers::Ledgers,
    nested::{unfit_workflow, workflow_command},
};
use crate::{
    command::{CallResult, ToolCommand, ToolSpec},
    intent::Does,
    known_tools::{LAUNCH, RUN_WORKFLOW, SELECT_WINDOW},
    reply::{HostReply, ProposedAction},
    states::HostStatus,
};
use deskhand_ui::{WindowInfo, action::Verdict, text::one_line};

impl From<&ProposedAction> for ToolCommand {
    fn from(action: &ProposedAction) -> Self {
        let (tool, arguments) = (action.function.clone(), action.arguments.clone());
        Self { tool, arguments, carries: action.carries.clone(), ..Self::default() }
    }
}

/// The commands of a reply: its action, then the selection of its target if that is a window.
pub(super) fn host_commands(ledgers: &Ledgers, reply: &HostReply) -> Vec<ToolCommand> {
    if matches!(reply.status, HostStatus::Pending | HostStatus::Fail | HostStatus::Error) {
        return Vec::new();
    }
    let mut commands: Vec<ToolCommand> = Vec::new();
    let mut launches = false;
    if let Some(command) = workflow_command(ledgers, reply) {
        let other = reply.action.as_ref().filter(|action| action.function != RUN_WORKFLOW);
        return other.map(ToolCommand::from).into_iter().chain([command]).collect();
    }
    if let Some(action) = &reply.action {
        launches = action.function == LAUNCH;
        commands.push(ToolCommand::from(action));
    }
    let selects = matches!(reply.status, HostStatus::Assign | HostStatus::Continue | HostStatus::Confirm);
    let target = reply.target.as_ref().filter(|id| {
        // An agent has no window to select.
        selects && !launches && agent_target(ledgers, id).is_none()
    });
    if let Some(target) = target {
        let mut arguments = Map::new();
        arguments.insert("id".to_owned(), Value::String(target.clone()));
        if let Some(name) = &reply.target_name {
            arguments.insert("name".to_owned(), Value::String(name.clone()));
        }
        commands.push(ToolCommand { tool: SELECT_WINDOW.to_owned(), arguments, ..ToolCommand::default() });
    }
    commands
}

/// Refuses a command regardless of the policy.
pub(super) fn host_refusal(
    ledgers: &Ledgers,
    tools: &[ToolSpec],
    command: &ToolCommand,
) -> Option<CallResult> {
    if command.intent.does == Does::Delegate {
        return None;
    }
    if let Some(refusal) = unknown_tool(command, tools).or_else(|| unfit_workflow(ledgers, command)) {
        return Some(refusal);
    }
    if command.tool != SELECT_WINDOW {
        return None;
    }
    let text = |name: &str| command.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let id = text("id");
    if let Some(window) = id.parse().ok().and_then(|id| ledgers.targets.window(id)) {
        return other_target(window, text("name"));
    }
    let targets = ledgers.targets.targets();
    let lines: Vec<String> =
        targets.iter().map(|target| format!("{} ({})", target.id, target.name)).collect();
    let text = format!("`{id}` is not a target; the targets are {}", lines.join(", "));
    Some(CallResult::failure(None, text))
}

/// The refusal of a window that is not called as the model says.
fn other_target(window: &WindowInfo, name: &str) -> Option<CallResult> {
    if window.may_be_called(name) {
        return None;
    }
    let label = window.label();
    let text = format!("{label} is not “{}”; give the id of the window that you mean", one_line(name));
    Some(CallResult::failure(Some(Verdict::Refused), text))
}
