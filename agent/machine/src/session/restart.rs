//! Steps that start over: after a takeover, on a new desktop, or because a question was not answered.

use super::{
    agent_desk::AgentDesk,
    effect::Effect,
    ledgers::Ledgers,
    phases::ActingStep,
    step::{StepEnd, StepPhase, StepTurn, ask, look_as},
    step_agent::{ProposalEvent, StepAgent},
};

/// Why a call was not run that was next when a person took over.
const NOT_RUN: &str = "not run, because the user took over mouse and keyboard; look at what is there now";

/// Asks again what the model did not answer or was not asked yet; gives back a step that does not wait for a model.
#[expect(clippy::result_large_err, reason = "what is given back is moved once and lives on")]
pub(super) fn ask_again<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    phase: StepPhase<A::Reply>,
) -> Result<StepTurn<A::Reply>, StepPhase<A::Reply>> {
    match phase {
        StepPhase::Asking(observed) => Ok(ask(agent, ledgers, observed)),
        phase @ (StepPhase::Retrieving(_)
        | StepPhase::Observing(_)
        | StepPhase::Ranking(_)
        | StepPhase::Acting(_)
        | StepPhase::Looking(_)
        | StepPhase::Parked(..)
        | StepPhase::Questioning(_)) => Err(phase),
    }
}

/// Observes again what an agent was shown and no longer exists; gives back a step that has decided.
#[expect(clippy::result_large_err, reason = "what is given back is moved once and lives on")]
pub(super) fn look_anew<A: StepAgent>(
    agent: A,
    ledgers: &Ledgers,
    phase: StepPhase<A::Reply>,
) -> Result<StepTurn<A::Reply>, StepPhase<A::Reply>> {
    match phase {
        StepPhase::Retrieving(start) | StepPhase::Observing(start) => Ok(look_as(agent, ledgers, start)),
        StepPhase::Ranking(ranking) => Ok(look_as(agent, ledgers, ranking.start)),
        StepPhase::Asking(observed) => Ok(look_as(agent, ledgers, observed.restart())),
        phase @ (StepPhase::Acting(_)
        | StepPhase::Looking(_)
        | StepPhase::Parked(..)
        | StepPhase::Questioning(_)) => Err(phase),
    }
}

/// Drops what a step was at, and looks again; gives back a step in which nothing was seen yet.
#[expect(clippy::result_large_err, reason = "what is given back is moved once and lives on")]
pub(super) fn taken_over<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    phase: StepPhase<A::Reply>,
) -> Result<StepTurn<A::Reply>, StepPhase<A::Reply>> {
    Ok(match phase {
        phase @ (StepPhase::Retrieving(_) | StepPhase::Observing(_)) => return Err(phase),
        StepPhase::Ranking(ranking) => look_as(agent, ledgers, ranking.start),
        StepPhase::Asking(observed) => {
            if let Some(desk) = agent.desk_mut(ledgers) {
                desk.not_asked(observed.once.clone());
            }
            look_as(agent, ledgers, observed.restart())
        }
        StepPhase::Acting(acting) => {
            ledgers.budget.uncount_call();
            give_up(agent, ledgers, acting)
        }
        StepPhase::Looking(acting) | StepPhase::Parked(acting, _) => give_up(agent, ledgers, acting),
        // The step is over, and its questions are not about what was seen.
        StepPhase::Questioning(questions) => {
            StepTurn::Wait(StepPhase::Questioning(questions.clone()), None, Effect::AskUser { questions })
        }
    })
}

/// Ends a step whose commands were decided on what was seen before: it starts over if none of them ran.
fn give_up<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    acting: ActingStep<A::Reply>,
) -> StepTurn<A::Reply> {
    withdraw(agent, ledgers);
    match acting.given_up(NOT_RUN) {
        Ok(mut acted) => {
            ledgers.effects.refuse(&mut acted.refused);
            StepTurn::End(StepEnd::Acted(acted))
        }
        Err(start) => {
            ledgers.plans.anew();
            look_as(agent, ledgers, start)
        }
    }
}

/// Withdraws a proposal, which no longer waits for approval and is no repetition if it is proposed again.
pub(super) fn withdraw<A: StepAgent>(agent: A, ledgers: &mut Ledgers) {
    agent.moves(ledgers, ProposalEvent::Withdrawn);
    if let Some(desk) = agent.desk_mut(ledgers) {
        AgentDesk::forget_repetitions(desk);
    }
}
