//! Events for the machine at work, and what follows after it has ended: the next machine, or the end of the round.

use super::{
    app,
    delegation::Delegation,
    effect::Effect,
    evaluation::EvaluationState,
    event::{FollowerPlan, IncomingEvent, SessionEvent},
    host,
    ledgers::Ledgers,
    plan::PlanProgress,
    run::SessionMachine,
    turn::{MachineTurn, NextMove},
    workflow::begin_workflow,
};
use crate::{
    outcome::{Outcome, OutcomeKind},
    provenance::Provenance,
    states::HostTrigger,
};

/// Handles an answer to the pending effect.
pub(super) fn dispatch(machine: &mut SessionMachine, ledgers: &mut Ledgers, incoming: IncomingEvent) {
    let turn = match std::mem::replace(machine, SessionMachine::Over) {
        SessionMachine::Idle => {
            if let SessionEvent::Requested { text, plan } = incoming.event {
                begin_round(ledgers, text, plan).into()
            } else {
                ledgers.effects.end();
                return;
            }
        }
        SessionMachine::Host(phase) => host::apply(ledgers, phase, incoming).map(SessionMachine::Host),
        SessionMachine::App(worker, phase) => {
            app::apply(ledgers, worker, phase, incoming).map(|phase| SessionMachine::App(worker, phase))
        }
        SessionMachine::Delegated(delegation) => delegation.apply(ledgers, incoming.event).into(),
        SessionMachine::Evaluating(state) => {
            state.apply(ledgers, incoming.event).map(|state| SessionMachine::Evaluating(Box::new(state)))
        }
        SessionMachine::Done(_) => end_round(ledgers),
        SessionMachine::Over => {
            ledgers.effects.end();
            return;
        }
    };
    *machine = settle(ledgers, turn);
}

fn begin_round(ledgers: &mut Ledgers, request: String, plan: Option<FollowerPlan>) -> NextMove {
    let texts = plan.iter().flat_map(|plan| plan.object.iter().chain(&plan.steps));
    let texts: Vec<String> = std::iter::once(&request).chain(texts).cloned().collect();
    let made_by = plan.as_ref().map_or(Provenance::Made, FollowerPlan::made_by);
    if made_by.is_users() {
        texts.iter().for_each(|text| ledgers.people.says(text));
    } else {
        let place = "the task, whose file you have not made or trusted".to_owned();
        ledgers.sources.add_foreign(place, &texts);
    }
    let plan = plan.filter(|plan| !plan.is_request_alone());
    ledgers.begin_round(request);
    match plan.map(|plan| (plan.workflow, plan.object, plan.steps)) {
        Some((Some(workflow), ..)) => begin_workflow(ledgers, *workflow),
        Some((None, object, steps)) => ledgers.plans.follow(PlanProgress::new(object, steps)),
        None => {}
    }
    if ledgers.plans.plan().is_some_and(PlanProgress::is_empty) {
        ledgers.agents.host_mut().moves(HostTrigger::PlanFailed);
        return NextMove::Finish(OutcomeKind::Failed, "the plan has no steps".to_owned());
    }
    NextMove::HostStep
}

fn end_round(ledgers: &mut Ledgers) -> MachineTurn<SessionMachine> {
    let request = ledgers.round.end();
    ledgers.blackboard.add_request(&request);
    ledgers.budget.end_round();
    MachineTurn::Wait(SessionMachine::Idle, None, Effect::AwaitRequest)
}

/// Goes on until a machine waits; returns that.
pub(super) fn settle(ledgers: &mut Ledgers, turn: MachineTurn<SessionMachine>) -> SessionMachine {
    let mut turn = turn;
    loop {
        match turn {
            MachineTurn::Wait(machine, step, effect) => {
                ledgers.effects.want(ledgers.round.number(), step, effect);
                return machine;
            }
            MachineTurn::Then(next) => turn = follow(ledgers, next),
        }
    }
}

fn follow(ledgers: &mut Ledgers, next: NextMove) -> MachineTurn<SessionMachine> {
    match next {
        NextMove::HostStep => host::begin(ledgers).map(SessionMachine::Host),
        NextMove::HostDecision(replied) => host::decided(ledgers, *replied).map(SessionMachine::Host),
        NextMove::AppStep(worker) => {
            app::begin(ledgers, worker).map(|phase| SessionMachine::App(worker, phase))
        }
        NextMove::Delegate(agent, subtask, message) => {
            Delegation::begin(ledgers, &agent, (subtask, message)).map(SessionMachine::Delegated)
        }
        NextMove::Finish(kind, reason) => finish(ledgers, kind, reason),
        NextMove::Exhaust(reason) => {
            ledgers.agents.stop();
            NextMove::Finish(OutcomeKind::BudgetExhausted, reason).into()
        }
        NextMove::BreakOff(reason) => {
            ledgers.agents.host_mut().moves(HostTrigger::Broke);
            NextMove::Finish(OutcomeKind::Error, reason).into()
        }
        NextMove::Conclude(outcome) => conclude(ledgers, *outcome),
    }
}

/// Ends the round, after an evaluation if it finished and evaluations are enabled.
fn finish(ledgers: &mut Ledgers, kind: OutcomeKind, reason: String) -> MachineTurn<SessionMachine> {
    // A workflow is judged by its steps.
    let is_judged = kind == OutcomeKind::Finished && ledgers.plans.performing().is_none();
    let evaluation = is_judged.then(|| EvaluationState::begin(ledgers, &reason)).flatten();
    match evaluation {
        Some(turn) => turn.map(|state| SessionMachine::Evaluating(Box::new(state))),
        None => NextMove::Conclude(Box::new(Outcome::new(kind, reason))).into(),
    }
}

/// Reports the outcome of the round. A round that was continued after an evaluation keeps that judgement.
fn conclude(ledgers: &mut Ledgers, mut outcome: Outcome) -> MachineTurn<SessionMachine> {
    if outcome.kind == OutcomeKind::Finished {
        outcome.unsaved = ledgers.round.unsaved();
    }
    outcome.workflow = ledgers.plans.workflow_end().map(Box::new);
    outcome.nested = ledgers.plans.nested_ends();
    if outcome.evaluation.is_none() {
        outcome.evaluation = ledgers.round.repair().cloned();
    }
    let (request, round) = (ledgers.round.request(), ledgers.round.number());
    let memory = ledgers.agents.host_mut().desk_mut().memory_mut();
    memory.end(round, request, outcome.kind.word(), &outcome.reason);
    MachineTurn::Wait(SessionMachine::Done(outcome.clone()), None, Effect::Finish { outcome })
}
