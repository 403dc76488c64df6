//! Requests of the client, as the replies of agents.

use deskhand_machine::reply::{ReplyError, parse_app_reply, parse_host_reply};
use deskhand_ui::ids::WindowId;
use serde_json::{Value, json};

use super::{Action, DeskError};

/// Time to watch the desktop when its windows are listed again, in seconds.
const MOMENT: f64 = 0.05;

/// The placeholder for a thought that the client does not give.
const UNSAID: &str = "as the client says";

/// Actions in the window of an AppAgent.
///
/// # Errors
/// There is none, there are too many, or one has not the form of an action.
pub(super) fn act(why: &str, actions: Vec<Action>) -> Result<String, DeskError> {
    let actions: Vec<Value> = actions
        .into_iter()
        .map(|(function, arguments)| json!({"function": function, "arguments": arguments}))
        .collect();
    let why = if why.trim().is_empty() { UNSAID } else { why };
    let text = json!({"thought": why, "status": "CONTINUE", "action": actions}).to_string();
    parse_app_reply(&text).map(drop).map_err(|error| malformed(&error))?;
    Ok(text)
}

/// Another look at the window of an AppAgent.
pub(super) fn look() -> String {
    json!({"thought": UNSAID, "status": "SCREENSHOT"}).to_string()
}

/// The end of the work in a window.
pub(super) fn done() -> String {
    json!({"thought": UNSAID, "status": "FINISH", "result": "the client goes on elsewhere"}).to_string()
}

/// The choice of a window to work in.
pub(super) fn assign(window: WindowId, task: &str) -> String {
    json!({"thought": UNSAID, "status": "ASSIGN", "current_subtask": task, "control_label": window.to_string()})
        .to_string()
}

/// An action of the HostAgent.
///
/// # Errors
/// It has not the form of an action.
pub(super) fn host_act((function, arguments): Action) -> Result<String, DeskError> {
    let text = json!({"thought": UNSAID, "status": "CONTINUE", "function": function, "arguments": arguments})
        .to_string();
    parse_host_reply(&text).map(drop).map_err(|error| malformed(&error))?;
    Ok(text)
}

/// Another look at the desktop.
pub(super) fn look_at_desktop() -> String {
    json!({"thought": UNSAID, "status": "CONTINUE", "function": "wait", "arguments": {"seconds": MOMENT}})
        .to_string()
}

/// The end of the round.
pub(super) fn finish(result: &str) -> String {
    json!({"thought": UNSAID, "status": "FINISH", "result": result}).to_string()
}

fn malformed(error: &ReplyError) -> DeskError {
    DeskError::Malformed { problem: error.to_string() }
}
