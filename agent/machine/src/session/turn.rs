//! Results of what a machine took in: it waits for an event, or something else follows.

use super::{
    effect::{Effect, StepRef},
    phases::RepliedStep,
};
use crate::{
    agent::{AgentDefinition, SubtaskWorker},
    outcome::{Outcome, OutcomeKind},
    reply::HostReply,
};

/// State of a machine after an event.
#[derive(Debug)]
pub(super) enum MachineTurn<P> {
    /// Waits in this phase for the event that answers the effect.
    Wait(P, Option<StepRef>, Effect),
    /// The end of the machine.
    Then(NextMove),
}

/// Continuation after a machine has ended.
#[derive(Debug)]
pub(super) enum NextMove {
    /// The HostAgent takes a step.
    HostStep,
    /// The HostAgent takes a step that was decided already.
    HostDecision(Box<RepliedStep<HostReply>>),
    /// The agent of a worker takes a step.
    AppStep(SubtaskWorker),
    /// An agent gets a sub-task, with messages, and reports.
    Delegate(Box<AgentDefinition>, String, Vec<String>),
    /// The round ends, after an evaluation if it finished and evaluations are enabled.
    Finish(OutcomeKind, String),
    /// The round ends because a budget is exhausted.
    Exhaust(String),
    /// The round ends with a system error.
    BreakOff(String),
    /// The round ends with this outcome.
    Conclude(Box<Outcome>),
}

impl<P> MachineTurn<P> {
    /// The turn of a machine that contains this one.
    pub(super) fn map<Q>(self, contain: impl FnOnce(P) -> Q) -> MachineTurn<Q> {
        match self {
            Self::Wait(phase, step, effect) => MachineTurn::Wait(contain(phase), step, effect),
            Self::Then(next) => MachineTurn::Then(next),
        }
    }
}

impl<P> From<NextMove> for MachineTurn<P> {
    fn from(next: NextMove) -> Self {
        Self::Then(next)
    }
}
