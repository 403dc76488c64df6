//! Resumes a session after its process ended.

use super::{
    app,
    delegation::is_machine,
    dispatch::{dispatch, settle},
    effect::Effect,
    error::ApplyError,
    event::{EventRecord, IncomingEvent, SessionEvent},
    host::HostAgentKind,
    ledgers::Ledgers,
    restart::look_anew,
    round::SubtaskStatus,
    run::SessionMachine,
    takeover::{ask_with_words, hands_are_gone, settle_host},
    turn::MachineTurn,
};
use crate::{
    agent::{AgentReport, SubtaskWorker},
    command::CallResult,
};
use deskhand_ui::action::Verdict;

/// The result of work that was in progress when the process ended.
const HALF_DONE: &str = "the process ended while it ran; it may be half done: check before you repeat it";

/// The notice to agents on a new desktop.
const DESKTOP_LOST: &str = "The process ended, and the session resumes on a new desktop. All earlier windows are gone, with \
                            everything that was not saved. Do not assume that anything is as it was.";

/// Resumes after the process ended; an ended session waits for another request. The event names the effect that was in
/// progress, if any. The time without a process does not count.
pub(super) fn resume(
    machine: &mut SessionMachine,
    ledgers: &mut Ledgers,
    desktop_kept: bool,
    record: &EventRecord,
) -> Result<(), ApplyError> {
    let at_ms = record.at_ms;
    match (ledgers.effects.pending(), record.effect) {
        (Some(pending), Some(begun)) if pending.id != begun => {
            return Err(ApplyError::OtherEffect { wanted: pending.id, came: record.effect });
        }
        (None, Some(_)) => return Err(ApplyError::Ended),
        (None, None) => {
            *machine = settle(ledgers, MachineTurn::Wait(SessionMachine::Idle, None, Effect::AwaitRequest));
        }
        (Some(_), _) => {}
    }
    let away_ms = at_ms.saturating_sub(ledgers.budget.now_ms());
    ledgers.budget.advance(at_ms);
    ledgers.budget.leave_out(away_ms);
    if !desktop_kept {
        ledgers.targets.set_windows(Vec::new());
    }
    if record.effect.is_some() {
        // What was interrupted may have changed nothing for that reason: neither it nor the next attempt is a repetition.
        ledgers.agents.forget_repetitions();
        return_interrupted_work(machine, ledgers);
        ledgers.agents.forget_repetitions();
    }
    if !desktop_kept {
        invalidate_windows(machine, ledgers);
        ledgers.agents.host_mut().desk_mut().set_notice(DESKTOP_LOST.to_owned());
    }
    hands_are_gone(machine, ledgers);
    ask_with_words(machine, ledgers);
    Ok(())
}

/// Reports a command or sub-task in progress as possibly half done; not one that another machine goes on with.
fn return_interrupted_work(machine: &mut SessionMachine, ledgers: &mut Ledgers) {
    let Some(pending) = ledgers.effects.pending() else { return };
    let answers = pending.id;
    let event = match &pending.effect {
        Effect::Call { .. } => {
            SessionEvent::Returned { result: CallResult::failure(Some(Verdict::Unknown), HALF_DONE) }
        }
        // It goes on there, and is asked for again.
        Effect::Delegate { agent, .. } if is_machine(ledgers, *agent) => return,
        Effect::Delegate { .. } => {
            let report = AgentReport { status: SubtaskStatus::Failed, result: HALF_DONE.to_owned() };
            SessionEvent::Delegated { report }
        }
        Effect::AwaitRequest
        | Effect::Observe { .. }
        | Effect::Rank { .. }
        | Effect::Retrieve { .. }
        | Effect::Ask { .. }
        | Effect::AskUser { .. }
        | Effect::AwaitApproval { .. }
        | Effect::Finish { .. } => return,
    };
    dispatch(machine, ledgers, IncomingEvent { answers, event });
}

/// Invalidates all work on windows of the old desktop: their ids may now mean other windows.
fn invalidate_windows(machine: &mut SessionMachine, ledgers: &mut Ledgers) {
    let at_work = machine.worker();
    ledgers.agents.keep_windows(|id| at_work == Some(SubtaskWorker::Window(id)));
    *machine = match std::mem::replace(machine, SessionMachine::Over) {
        SessionMachine::App(worker @ SubtaskWorker::Window(_), _) => {
            let next = app::lost(ledgers, worker, "the earlier desktop is gone, and its window with it");
            settle(ledgers, MachineTurn::Then(next))
        }
        // What the agent was shown no longer exists: observe again.
        SessionMachine::Host(phase) => match look_anew(HostAgentKind, ledgers, phase) {
            Ok(turn) => settle_host(ledgers, turn),
            Err(phase) => SessionMachine::Host(phase),
        },
        other @ (SessionMachine::Idle
        | SessionMachine::App(SubtaskWorker::Agent(_), _)
        | SessionMachine::Delegated(_)
        | SessionMachine::Evaluating(_)
        | SessionMachine::Done(_)
        | SessionMachine::Over) => other,
    };
}
