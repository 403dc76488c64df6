//! Effects and replies, as a story shows them.

use deskhand_machine::{
    agent::AgentReport,
    command::{CallResult, CallStatus, ToolCommand},
    intent::Does,
    observation::ObservationTarget,
    outcome::OutcomeKind,
    reply::{AgentReply, ReplyError},
    session::{Effect, EffectRecord, StepRef, SubtaskStatus},
    states::AppStatus,
};
use deskhand_ui::ids::AgentId;

use super::{SessionActivity, SubtaskEnd, ledger::LedgerPhase};

/// The reported end of the agent's sub-task in a reply, if any.
pub(super) fn subtask_end(said: &Result<AgentReply, ReplyError>) -> Option<SubtaskEnd> {
    let Ok(AgentReply::App(reply)) = said else { return None };
    let finished = match reply.status {
        AppStatus::Finish => true,
        AppStatus::Fail | AppStatus::Error => false,
        AppStatus::Continue | AppStatus::Screenshot | AppStatus::Pending | AppStatus::Confirm => return None,
    };
    let words = reply.result.clone().filter(|text| !text.is_empty());
    Some(SubtaskEnd { finished, words: words.unwrap_or_else(|| reply.thought.clone()) })
}

/// A delegated sub-task as a command.
pub(crate) fn delegation(
    agent: AgentId,
    subtask: &str,
    message: &[String],
    context: &[String],
) -> ToolCommand {
    let context = (!context.is_empty()).then(|| ("context".to_owned(), context.to_vec().into()));
    let arguments = [
        ("agent".to_owned(), agent.to_string().into()),
        ("subtask".to_owned(), subtask.into()),
        ("message".to_owned(), message.to_vec().into()),
    ];
    ToolCommand {
        tool: "delegate".to_owned(),
        arguments: arguments.into_iter().chain(context).collect(),
        ..ToolCommand::default()
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
        Effect::Observe { look: ObservationTarget::Window { .. } | ObservationTarget::Agent { .. } }
        | Effect::Delegate { .. } => true,
        // The HostAgent has no sub-task.
        Effect::Retrieve { .. } => record.step.as_ref().is_some_and(|step| !step.subtask.is_empty()),
        Effect::AwaitRequest
        | Effect::Observe { look: ObservationTarget::Desktop { .. } }
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
pub(super) fn doing_of(effect: &Effect) -> (LedgerPhase, SessionActivity) {
    match effect {
        Effect::AwaitRequest => (LedgerPhase::Outside, SessionActivity::AwaitingRequest),
        // What was seen is sorted.
        Effect::Observe { .. } | Effect::Rank { .. } => (LedgerPhase::Observe, SessionActivity::Looking),
        Effect::Retrieve { .. } => (LedgerPhase::Observe, SessionActivity::LookingUp),
        Effect::Ask { .. } => (LedgerPhase::Ask, SessionActivity::AskingModel),
        // What an agent waits for takes its time.
        Effect::Call { command } if command.intent.does == Does::Wait => {
            (LedgerPhase::Outside, SessionActivity::Calling(command.tool.clone()))
        }
        Effect::Call { command } => (LedgerPhase::Act, SessionActivity::Calling(command.tool.clone())),
        // Counted like a call.
        Effect::Delegate { agent, .. } => (LedgerPhase::Act, SessionActivity::Delegating(*agent)),
        Effect::AskUser { .. } => (LedgerPhase::Outside, SessionActivity::AskingUser),
        Effect::AwaitApproval { .. } => (LedgerPhase::Outside, SessionActivity::AwaitingApproval),
        Effect::Finish { .. } => (LedgerPhase::Outside, SessionActivity::Finishing),
    }
}

/// The agent that asks, as reports name it.
pub(super) fn asking(step: Option<&StepRef>) -> String {
    step.map(|step| step.agent.to_string()).unwrap_or_default()
}
