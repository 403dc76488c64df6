//! Effects and replies, as a story shows them.

use deskhand_core::{
    agent::AgentReport,
    command::{CallResult, CallStatus, Command},
    ids::AgentId,
    intent::Does,
    observation::Look,
    outcome::OutcomeKind,
    reply::{Reply, ReplyError},
    session::{Effect, EffectRecord, StepRef, SubtaskStatus},
    states::AppStatus,
};

use super::{Doing, SubtaskEnd, ledger::Phase};

/// The reported end of the agent's sub-task in a reply, if any.
pub(super) fn subtask_end(said: &Result<Reply, ReplyError>) -> Option<SubtaskEnd> {
    let Ok(Reply::App(reply)) = said else { return None };
    let finished = match reply.status {
        AppStatus::Finish => true,
        AppStatus::Fail | AppStatus::Error => false,
        AppStatus::Continue | AppStatus::Screenshot | AppStatus::Pending | AppStatus::Confirm => return None,
    };
    let words = reply.result.clone().filter(|text| !text.is_empty());
    Some(SubtaskEnd { finished, words: words.unwrap_or_else(|| reply.thought.clone()) })
}

/// A delegated sub-task as a command.
pub(crate) fn delegation(agent: AgentId, subtask: &str, message: &[String], context: &[String]) -> Command {
    let context = (!context.is_empty()).then(|| ("context".to_owned(), context.to_vec().into()));
    let arguments = [
        ("agent".to_owned(), agent.to_string().into()),
        ("subtask".to_owned(), subtask.into()),
        ("message".to_owned(), message.to_vec().into()),
    ];
    Command {
        tool: "delegate".to_owned(),
        arguments: arguments.into_iter().chain(context).collect(),
        ..Command::default()
    }
}

/// A delegate's report as a call result.
pub(crate) fn result_of(report: &AgentReport) -> CallResult {
    let status = match report.status {
        SubtaskStatus::Finished => CallStatus::Success,
        SubtaskStatus::Failed | SubtaskStatus::Rejected | SubtaskStatus::Error => CallStatus::Failure,
    };
    let summary = format!("{}: {}", report.status, report.result);
    CallResult { status, ..CallResult::failure(None, summary) }
}

/// Returns `true` if an effect can be the first one of the work on a sub-task.
pub(super) fn begins(record: &EffectRecord) -> bool {
    match &record.effect {
        Effect::Observe { look: Look::Window { .. } | Look::Agent { .. } } | Effect::Delegate { .. } => true,
        // The HostAgent has no sub-task.
        Effect::Retrieve { .. } => record.step.as_ref().is_some_and(|step| !step.subtask.is_empty()),
        Effect::AwaitRequest
        | Effect::Observe { look: Look::Desktop { .. } }
        | Effect::Rank { .. }
        | Effect::Ask { .. }
        | Effect::Call { .. }
        | Effect::AskUser { .. }
        | Effect::AwaitApproval { .. }
        | Effect::Finish { .. } => false,
    }
}

/// Returns `true` if an effect ends a round that did not finish.
pub(super) fn has_failed(effect: &Effect) -> bool {
    if let Effect::Finish { outcome } = effect { outcome.kind != OutcomeKind::Finished } else { false }
}

/// The phase and activity of an effect.
pub(super) fn doing_of(effect: &Effect) -> (Phase, Doing) {
    match effect {
        Effect::AwaitRequest => (Phase::Outside, Doing::AwaitingRequest),
        // What was seen is sorted.
        Effect::Observe { .. } | Effect::Rank { .. } => (Phase::Observe, Doing::Looking),
        Effect::Retrieve { .. } => (Phase::Observe, Doing::LookingUp),
        Effect::Ask { .. } => (Phase::Ask, Doing::AskingModel),
        // What an agent waits for takes its time.
        Effect::Call { command } if command.intent.does == Does::Wait => {
            (Phase::Outside, Doing::Calling(command.tool.clone()))
        }
        Effect::Call { command } => (Phase::Act, Doing::Calling(command.tool.clone())),
        // Counted like a call.
        Effect::Delegate { agent, .. } => (Phase::Act, Doing::Delegating(*agent)),
        Effect::AskUser { .. } => (Phase::Outside, Doing::AskingUser),
        Effect::AwaitApproval { .. } => (Phase::Outside, Doing::AwaitingApproval),
        Effect::Finish { .. } => (Phase::Outside, Doing::Finishing),
    }
}

/// The agent that asks, as reports name it.
pub(super) fn asking(step: Option<&StepRef>) -> String {
    step.map(|step| step.agent.to_string()).unwrap_or_default()
}
