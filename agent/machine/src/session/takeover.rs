//! A person's words and hands in a running session: what they say of their own accord, and what they do when they take over.
//!
//! Words go on the blackboard, and into a question that is next and not sent yet. Who takes over makes what was decided before worthless:
//! the call, question or approval that is next is dropped, and the agent looks again. Steps that have begun keep what they did.

use super::{
    app::{self, App},
    dispatch::settle,
    event::{EventRecord, SessionEvent},
    host::{self, HostAgentKind},
    ledgers::Ledgers,
    people::WORDS_CHARS_MAX,
    restart::{self, withdraw},
    run::SessionMachine,
    step::{StepEnd, StepPhase, StepTurn},
    step_agent::StepAgent,
    subtask::back_to_host,
    turn::MachineTurn,
};
use crate::{
    blackboard::TakeoverSummary,
    reply::{AppReply, HostReply},
};
use deskhand_ui::{ids::EffectId, text::clip};

/// Notice to an agent after a takeover.
const TAKEN_OVER: &str = "The user took over mouse and keyboard, and handed back. What they did is told with the answers of the user. Anything \
                          may have changed: go by what is there now, and do not undo it.";

/// Description of a person's work if the process ended meanwhile.
const LOST: &str = "what they did is not known, because the process ended meanwhile";

/// Applies what a person said or did of their own accord; false for all other events.
pub(super) fn is_of_person(
    machine: &mut SessionMachine,
    ledgers: &mut Ledgers,
    record: &EventRecord,
) -> bool {
    match &record.event {
        SessionEvent::Told { text, during } => {
            ledgers.budget.advance(record.at_ms);
            told(machine, ledgers, text);
            if !ledgers.effects.is_pending(*during) {
                ask_with_words(machine, ledgers);
            }
            true
        }
        SessionEvent::TakenOver { during } => {
            ledgers.budget.advance(record.at_ms);
            taken_over(machine, ledgers, *during);
            true
        }
        SessionEvent::HandedBack { acts, unwatched, note } => {
            let away_ms =
                ledgers.people.taken_over_ms().map_or(0, |since| record.at_ms.saturating_sub(since));
            ledgers.budget.advance(record.at_ms);
            // The time of the person is not the agents'.
            ledgers.budget.leave_out(away_ms);
            handed_back(machine, ledgers, acts.clone(), unwatched.clone());
            if let Some(note) = note {
                told(machine, ledgers, note);
            }
            true
        }
        SessionEvent::Requested { .. }
        | SessionEvent::Ended
        | SessionEvent::Observed { .. }
        | SessionEvent::ObserveFailed { .. }
        | SessionEvent::Ranked { .. }
        | SessionEvent::Retrieved { .. }
        | SessionEvent::Replied { .. }
        | SessionEvent::Disclosed { .. }
        | SessionEvent::ModelFailed { .. }
        | SessionEvent::Returned { .. }
        | SessionEvent::Answered { .. }
        | SessionEvent::Unanswered { .. }
        | SessionEvent::Approved { .. }
        | SessionEvent::Rejected { .. }
        | SessionEvent::Delegated { .. }
        | SessionEvent::Acknowledged { .. }
        | SessionEvent::Stopped { .. }
        | SessionEvent::Suspended { .. }
        | SessionEvent::Resumed { .. } => false,
    }
}

fn told(machine: &SessionMachine, ledgers: &mut Ledgers, text: &str) {
    let text = clip(text.trim(), WORDS_CHARS_MAX);
    if text.is_empty() {
        return;
    }
    ledgers.blackboard.add_words(ledgers.budget.steps(), &text);
    ledgers.people.remarks(text);
    is_to_be_heard(machine, ledgers);
}

/// The round does not end before the HostAgent was asked once more.
const fn is_to_be_heard(machine: &SessionMachine, ledgers: &mut Ledgers) {
    if machine.is_in_round() {
        ledgers.round.is_to_be_heard();
    }
}

/// Puts words of the user into a question that is next and was not sent yet.
pub(super) fn ask_with_words(machine: &mut SessionMachine, ledgers: &mut Ledgers) {
    let count = ledgers.people.remarks_count();
    if machine.words_asked().is_none_or(|asked| asked >= count) {
        return;
    }
    ledgers.effects.keep_refused();
    let taken = std::mem::replace(machine, SessionMachine::Over);
    if let SessionMachine::Evaluating(state) = taken {
        *machine = match state.ask_again(ledgers) {
            Ok(turn) => settle(ledgers, turn.map(|state| SessionMachine::Evaluating(Box::new(state)))),
            Err(state) => SessionMachine::Evaluating(Box::new(state)),
        };
    } else {
        *machine = taken;
        ask_again(machine, ledgers);
    }
}

/// Asks again what the model did not answer or was not asked yet, within what is left of the budget.
pub(super) fn ask_again(machine: &mut SessionMachine, ledgers: &mut Ledgers) {
    *machine = match std::mem::replace(machine, SessionMachine::Over) {
        SessionMachine::Host(phase) => match restart::ask_again(HostAgentKind, ledgers, phase) {
            Ok(turn) => settle_host(ledgers, turn),
            Err(phase) => SessionMachine::Host(phase),
        },
        SessionMachine::App(worker, phase) => match restart::ask_again(App(worker), ledgers, phase) {
            Ok(turn) => settle_app(ledgers, App(worker), turn),
            Err(phase) => SessionMachine::App(worker, phase),
        },
        other @ (SessionMachine::Idle
        | SessionMachine::Delegated(_)
        | SessionMachine::Evaluating(_)
        | SessionMachine::Done(_)
        | SessionMachine::Over) => other,
    };
}

/// Goes on with the HostAgent until a machine waits.
pub(super) fn settle_host(ledgers: &mut Ledgers, turn: StepTurn<HostReply>) -> SessionMachine {
    let turn = host::follow(ledgers, turn).map(SessionMachine::Host);
    settle(ledgers, turn)
}

fn settle_app(ledgers: &mut Ledgers, App(worker): App, turn: StepTurn<AppReply>) -> SessionMachine {
    let turn = app::follow(ledgers, worker, turn).map(|phase| SessionMachine::App(worker, phase));
    settle(ledgers, turn)
}

fn taken_over(machine: &mut SessionMachine, ledgers: &mut Ledgers, during: Option<EffectId>) {
    ledgers.people.take_over(ledgers.budget.now_ms());
    if !machine.is_in_round() {
        return;
    }
    is_to_be_heard(machine, ledgers);
    // What they were shown before tells nothing any more.
    ledgers.agents.forget_views();
    if !ledgers.effects.is_pending(during) {
        ledgers.effects.keep_refused();
    }
    *machine = match std::mem::replace(machine, SessionMachine::Over) {
        SessionMachine::Host(phase) => {
            step_taken_over(HostAgentKind, ledgers, phase, SessionMachine::Host, settle_host)
        }
        SessionMachine::App(worker, phase) => step_taken_over(
            App(worker),
            ledgers,
            phase,
            |phase| SessionMachine::App(worker, phase),
            |ledgers, turn| settle_app(ledgers, App(worker), turn),
        ),
        // If it was handed over before the session was resumed, work goes on there.
        SessionMachine::Delegated(delegation) if delegation.is_elsewhere(ledgers) => {
            ledgers.effects.take_back_refused();
            ledgers.agents.host_mut().desk_mut().add_notice(TAKEN_OVER);
            SessionMachine::Delegated(delegation)
        }
        SessionMachine::Delegated(_) => {
            let next = back_to_host(ledgers);
            let machine = settle(ledgers, MachineTurn::Then(next));
            ledgers.agents.host_mut().desk_mut().add_notice(TAKEN_OVER);
            machine
        }
        SessionMachine::Evaluating(state) => match state.taken_over(ledgers) {
            Ok(turn) => settle(ledgers, turn.map(|state| SessionMachine::Evaluating(Box::new(state)))),
            Err(state) => {
                ledgers.effects.take_back_refused();
                SessionMachine::Evaluating(Box::new(state))
            }
        },
        other @ (SessionMachine::Idle | SessionMachine::Done(_) | SessionMachine::Over) => other,
    };
}

/// Drops what a step was at, and looks again.
fn step_taken_over<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    phase: StepPhase<A::Reply>,
    contain: impl FnOnce(StepPhase<A::Reply>) -> SessionMachine,
    settle: impl FnOnce(&mut Ledgers, StepTurn<A::Reply>) -> SessionMachine,
) -> SessionMachine {
    let machine = match restart::taken_over(agent, ledgers, phase) {
        Ok(turn) => {
            let has_acted = matches!(turn, StepTurn::End(StepEnd::Acted(_)));
            let machine = settle(ledgers, turn);
            if has_acted {
                withdraw(agent, ledgers);
            }
            machine
        }
        // Nothing was seen yet.
        Err(phase) => {
            ledgers.effects.take_back_refused();
            contain(phase)
        }
    };
    if let Some(desk) = agent.desk_mut(ledgers) {
        desk.add_notice(TAKEN_OVER);
    }
    machine
}

fn handed_back(machine: &SessionMachine, ledgers: &mut Ledgers, acts: Vec<String>, unwatched: Vec<String>) {
    ledgers.people.hand_back();
    ledgers.sources.done_by_hand(&acts);
    ledgers.blackboard.add_hands(TakeoverSummary { step: ledgers.budget.steps(), acts, unwatched });
    is_to_be_heard(machine, ledgers);
}

/// The process ended while a person had taken over. Whoever resumes the session hands back.
pub(super) fn hands_are_gone(machine: &SessionMachine, ledgers: &mut Ledgers) {
    if ledgers.people.taken_over_ms().is_some() {
        handed_back(machine, ledgers, Vec::new(), vec![LOST.to_owned()]);
    }
}
