//! Replies of agents that are decided without a model.

use crate::{
    reply::{AppReply, HostReply, ProposedAction},
    states::{AppStatus, HostStatus},
    workflow::WorkflowStepFailure,
};

/// A synthetic reply of the HostAgent that assigns a sub-task.
pub(super) fn assigns(
    thought: &str,
    subtask: String,
    target: Option<String>,
    action: Option<ProposedAction>,
) -> HostReply {
    HostReply {
        observation: String::new(),
        thought: thought.to_owned(),
        status: HostStatus::Assign,
        subtask: Some(subtask),
        message: Vec::new(),
        target,
        target_name: None,
        plan: Vec::new(),
        comment: String::new(),
        notes: Vec::new(),
        questions: Vec::new(),
        action,
        next: None,
        result: None,
    }
}

/// A HostAgent's decision to run an action and to look again.
pub(super) fn with_action(thought: &str, action: ProposedAction) -> HostReply {
    let reply = assigns(thought, String::new(), None, Some(action));
    HostReply { status: HostStatus::Continue, subtask: None, ..reply }
}

/// A HostAgent's decision that ends the round.
pub(super) fn ends(status: HostStatus, thought: &str, result: String) -> HostReply {
    let reply = assigns(thought, String::new(), None, None);
    HostReply { status, subtask: None, result: Some(result), ..reply }
}

/// Formats the step at which a workflow stopped, and the reason.
pub(super) fn stopped(label: &str, trouble: &WorkflowStepFailure) -> String {
    format!("stopped at step {label}: {}", trouble.text)
}

/// A decision of an AppAgent.
pub(super) fn app_reply(status: AppStatus, thought: &str, actions: Vec<ProposedAction>) -> AppReply {
    AppReply {
        observation: String::new(),
        thought: thought.to_owned(),
        status,
        word: status.to_string(),
        actions,
        plan: Vec::new(),
        comment: String::new(),
        questions: Vec::new(),
        result: None,
        control_reannotate: Vec::new(),
        notes: Vec::new(),
        save_picture: None,
        heal: None,
    }
}
