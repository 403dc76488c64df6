//! One step of any agent in the machine: observe, ask, act, record, and their failures.
//!
//! This module has what is common to all agents. What differs — the observation, the prompt, the tools — is
//! in [`StepAgent`]; what the end of a step leads to is decided by the machine of the agent.

use serde::{Deserialize, Serialize};

use super::{
    agent_desk::AgentDesk,
    asking::{model_request, with_words},
    at_hand::AtHand,
    effect::{Effect, StepRef},
    event::{IncomingEvent, NoAnswer, SessionEvent},
    gate::{ClearedCommands, GateVerdict, ParkedCommands, Proposal, judge, open},
    judging::GateContext,
    ledgers::Ledgers,
    nested::take_workflow,
    phases::{ActedStep, ActingStep, Advance, ObservedStep, RankingStep, RepliedStep, StepStart},
    questions::{NotApproved, note_answers, note_no_answer},
    stall::refuse_repetition,
    step_agent::{ProposalEvent, StepAgent},
};
use crate::{
    command::ToolCommand,
    model::ReplyKind,
    observation::{Observation, ObserveFailure},
    reply::UserQuestion,
    small::{SmallModelDecision, SmallModelOffer},
};
use deskhand_ui::ids::EffectId;

/// The phase of a step; each holds what the one before it made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepPhase<R> {
    /// Waiting for what retrievers find.
    Retrieving(StepStart),
    /// Observing.
    Observing(StepStart),
    /// Waiting for the ranks of what a small model could be offered.
    Ranking(RankingStep),
    /// Waiting for the model.
    Asking(ObservedStep),
    /// Running commands.
    Acting(ActingStep<R>),
    /// Looking again, for what the next commands are aimed at.
    Looking(ActingStep<R>),
    /// Commands wait for an approval.
    Parked(ActingStep<R>, ParkedCommands),
    /// Waiting for the user's answers, after the step was recorded.
    Questioning(Vec<UserQuestion>),
}

impl<R> StepPhase<R> {
    /// The observation that the model is being asked about.
    pub(super) const fn asking(&self) -> Option<&ObservedStep> {
        if let Self::Asking(observed) = self { Some(observed) } else { None }
    }

    /// The observation that the model is being asked about, to hide passwords in it.
    pub(super) const fn asking_mut(&mut self) -> Option<&mut ObservedStep> {
        if let Self::Asking(observed) = self { Some(observed) } else { None }
    }

    /// The step that looks again.
    pub(super) const fn looking(&self) -> Option<&ActingStep<R>> {
        if let Self::Looking(acting) = self { Some(acting) } else { None }
    }

    /// The step whose commands wait for an approval.
    pub(super) const fn parked(&self) -> Option<&ActingStep<R>> {
        if let Self::Parked(acting, _) = self { Some(acting) } else { None }
    }

    /// The phase as text.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Retrieving(_) => "asking retrievers",
            Self::Observing(_) => "observing",
            Self::Ranking(_) => "ranking",
            Self::Asking(_) => "asking the model",
            Self::Acting(_) => "acting",
            Self::Looking(_) => "looking again",
            Self::Parked(..) => "waiting for an approval",
            Self::Questioning(_) => "waiting for answers",
        }
    }
}

/// State of a step after an event.
#[expect(clippy::large_enum_variant, reason = "a turn lives for one call, and most turns are a phase")]
pub(super) enum StepTurn<R> {
    /// Waits in this phase for the event that answers the effect.
    Wait(StepPhase<R>, Option<StepRef>, Effect),
    /// The end of the step.
    End(StepEnd<R>),
}

/// End of a step.
pub(super) enum StepEnd<R> {
    /// A budget is exhausted.
    Exhausted(String),
    /// The object that the agent works on is gone.
    Lost(String),
    /// Observing failed as often as is allowed.
    LookFailed(ObserveFailure),
    /// The agent cannot continue.
    Broke(String),
    /// The machine cannot continue.
    BrokeOff(String),
    /// The questions of the step before were closed; `true` unless a required answer is missing.
    Closed(bool),
    /// Its commands have run, as far as they run.
    Acted(ActedStep<R>),
    /// Its proposal, as text for a person, was not approved.
    NotApproved(ActedStep<R>, String, NotApproved),
}

/// Starts the next step of an agent, unless that would exceed a budget.
pub(super) fn begin<A: StepAgent>(agent: A, ledgers: &mut Ledgers) -> StepTurn<A::Reply> {
    let number = match ledgers.take_step() {
        Ok(number) => number,
        Err(reason) => return StepTurn::End(StepEnd::Exhausted(reason)),
    };
    match agent.step(ledgers, number) {
        Some(step) => prepare(agent, ledgers, StepStart { step, looks_failed: 0 }),
        None => StepTurn::End(StepEnd::BrokeOff("the agent of the next step no longer exists".to_owned())),
    }
}

/// Asks retrievers if that is due, then observes.
fn prepare<A: StepAgent>(agent: A, ledgers: &Ledgers, start: StepStart) -> StepTurn<A::Reply> {
    let Some(lookup) = agent.lookup(ledgers) else { return look_as(agent, ledgers, start) };
    let step = start.step.clone();
    StepTurn::Wait(StepPhase::Retrieving(start), Some(step), Effect::Retrieve { lookup })
}

/// Phase 1: observes.
pub(super) fn look_as<A: StepAgent>(agent: A, ledgers: &Ledgers, start: StepStart) -> StepTurn<A::Reply> {
    let (step, look) = (start.step.clone(), agent.look(ledgers));
    StepTurn::Wait(StepPhase::Observing(start), Some(step), Effect::Observe { look })
}

/// Handles an event for a step.
pub(super) fn apply<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    phase: StepPhase<A::Reply>,
    incoming: IncomingEvent,
) -> StepTurn<A::Reply> {
    let IncomingEvent { answers, event } = incoming;
    match (phase, event) {
        (StepPhase::Retrieving(start), SessionEvent::Retrieved { hits, .. }) => {
            ledgers.sources.found(&hits);
            if let Some(desk) = agent.desk_mut(ledgers) {
                desk.found(hits);
            }
            look_as(agent, ledgers, start)
        }
        (StepPhase::Observing(start), SessionEvent::Observed { observation }) => {
            observed(agent, ledgers, start, observation)
        }
        (StepPhase::Observing(start), SessionEvent::ObserveFailed { failure }) => {
            retry_observation(agent, ledgers, start, failure)
        }
        (StepPhase::Ranking(RankingStep { start, observation, offer }), SessionEvent::Ranked { scores }) => {
            prompt(agent, ledgers, start, observation, Some(offer.narrowed(Some(&scores))))
        }
        (StepPhase::Asking(observed), SessionEvent::Replied { reply, .. }) => {
            ledgers.count_reply(&reply);
            replied(agent, ledgers, observed, &reply.text)
        }
        (StepPhase::Asking(_), SessionEvent::ModelFailed { failure }) => {
            ledgers.count_model_failure(&failure);
            StepTurn::End(StepEnd::Broke(format!("the model call failed: {failure}")))
        }
        (StepPhase::Acting(mut acting), SessionEvent::Returned { mut result }) => {
            take_workflow(&mut ledgers.plans, acting.tool(), &mut result);
            ledgers.round.call_returned(acting.window(), &result.report);
            ledgers.sources.call_returned(acting.tool(), acting.does(), &result);
            acting.returned(result, ledgers.config.action_sequences, Some(answers));
            act(agent, ledgers, acting)
        }
        (StepPhase::Looking(acting), SessionEvent::Observed { observation }) => {
            looked_again(agent, ledgers, acting, observation)
        }
        (StepPhase::Looking(mut acting), SessionEvent::ObserveFailed { failure }) => {
            acting.not_looked_again(&failure.message);
            act(agent, ledgers, acting)
        }
        (StepPhase::Parked(acting, parked), event) => {
            answered(agent, ledgers, (acting, parked), answers, event)
        }
        (StepPhase::Questioning(questions), SessionEvent::Answered { answers }) => {
            note_answers(ledgers, &questions, &answers);
            StepTurn::End(StepEnd::Closed(true))
        }
        (StepPhase::Questioning(questions), SessionEvent::Unanswered { why }) => {
            StepTurn::End(StepEnd::Closed(note_no_answer(ledgers, &questions, why)))
        }
        (phase, event) => StepTurn::End(StepEnd::BrokeOff(unexpected_event(phase.word(), &event))),
    }
}

/// Takes in the answer to a request for an approval.
fn answered<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    (acting, parked): (ActingStep<A::Reply>, ParkedCommands),
    answers: EffectId,
    event: SessionEvent,
) -> StepTurn<A::Reply> {
    let why = if let SessionEvent::Rejected { instruction, is_message } = event {
        match instruction {
            Some(message) if is_message => NotApproved::Refused(message),
            instruction => NotApproved::Rejected(instruction),
        }
    } else if let SessionEvent::Unanswered { why } = event {
        NotApproved::Unanswered(why)
    } else {
        return match open(parked, answers, &event, &mut ledgers.grants) {
            Some(cleared) => act(agent, ledgers, acting.resumed(cleared)),
            None => {
                let why = unexpected_event("waiting for an approval", &event);
                StepTurn::End(StepEnd::BrokeOff(why))
            }
        };
    };
    let what = parked.what();
    StepTurn::End(StepEnd::NotApproved(acting.broken_off(), what, why))
}

/// Takes in a reply: a decision, the reason for another question, or one that is not valid.
fn replied<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    observed: ObservedStep,
    text: &str,
) -> StepTurn<A::Reply> {
    match agent.parse(ledgers, &observed, text) {
        Ok(SmallModelDecision::Finally(decision)) => decided(agent, ledgers, observed.replied(decision)),
        Ok(SmallModelDecision::Further(offer)) => {
            let observation = observed.observation.clone();
            prompt(agent, ledgers, observed.restart(), observation, Some(offer))
        }
        Err(error) => repair(agent, ledgers, observed, text, &error.to_string()),
    }
}

fn observed<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    start: StepStart,
    observation: Observation,
) -> StepTurn<A::Reply> {
    ledgers.see(&observation);
    if let Some(reply) = agent.decide_without_model(ledgers, &observation) {
        return decided(agent, ledgers, start.observed(observation, Vec::new()).replied(reply));
    }
    match agent.offer(ledgers, &observation) {
        Some(offer) if ledgers.config.ranks && offer.is_choice() => {
            let (step, wanted, texts) = (start.step.clone(), offer.wanted.clone(), offer.texts());
            let ranking = StepPhase::Ranking(RankingStep { start, observation, offer });
            StepTurn::Wait(ranking, Some(step), Effect::Rank { wanted, texts })
        }
        offer => prompt(agent, ledgers, start, observation, offer.map(|offer| offer.narrowed(None))),
    }
}

/// Phase 2: asks the model about an observation, a small one by an offer.
fn prompt<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    start: StepStart,
    observation: Observation,
    offer: Option<SmallModelOffer>,
) -> StepTurn<A::Reply> {
    let once = agent.desk(ledgers).map(AgentDesk::once).unwrap_or_default();
    match agent.asking(ledgers, &observation, offer.as_ref()) {
        Ok(asking) => {
            let (messages, words) = (asking.messages(), ledgers.people.remarks_count());
            let offer = offer.map(Box::new);
            let observed = ObservedStep { offer, words, once, ..start.observed(observation, messages) };
            ask(agent, ledgers, observed)
        }
        Err(error) => StepTurn::End(StepEnd::BrokeOff(error.to_string())),
    }
}

fn retry_observation<A: StepAgent>(
    agent: A,
    ledgers: &Ledgers,
    mut start: StepStart,
    failure: ObserveFailure,
) -> StepTurn<A::Reply> {
    start.looks_failed = start.looks_failed.saturating_add(1);
    if failure.desktop_gone {
        StepTurn::End(StepEnd::Broke(format!("failed to observe the desktop: {failure}")))
    } else if failure.window_gone {
        StepTurn::End(StepEnd::Lost(failure.message))
    } else if start.looks_failed >= ledgers.config.limits.looks_failed_max {
        StepTurn::End(StepEnd::LookFailed(failure))
    } else {
        look_as(agent, ledgers, start)
    }
}

/// Phase 2 is done: the proposal goes through the gate.
pub(super) fn decided<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    replied: RepliedStep<A::Reply>,
) -> StepTurn<A::Reply> {
    let (seen, did) = agent.progress(ledgers, &replied.observation, &replied.reply);
    let repeats = agent.desk(ledgers).map_or(0, |desk| desk.stall().repeats(&seen, &did));
    let proposal = agent.proposal(ledgers, &replied.reply);
    let tools = agent.tools(ledgers);
    let refusal = refuse_repetition(repeats, &ledgers.config.limits, &proposal.commands, &tools);
    drop(tools);
    if let Some(refusal) = refusal {
        return act(agent, ledgers, replied.acting(ClearedCommands::refused(proposal, refusal)));
    }
    gated(agent, ledgers, replied.acting(ClearedCommands::default()), proposal)
}

/// The window was looked at again: what waited for that goes through the gate.
fn looked_again<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    mut acting: ActingStep<A::Reply>,
    observation: Observation,
) -> StepTurn<A::Reply> {
    ledgers.see(&observation);
    let commands = acting.looked_again(observation, &agent.tools(ledgers));
    let proposal = Proposal { commands, ..agent.proposal(ledgers, &acting.replied.reply) };
    gated(agent, ledgers, acting, proposal)
}

/// The gate decides on a proposal, by what was seen last.
fn gated<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    acting: ActingStep<A::Reply>,
    proposal: Proposal,
) -> StepTurn<A::Reply> {
    let tools = agent.tools(ledgers);
    let refusal = |command: &ToolCommand| agent.refusal(ledgers, &tools, command);
    let secrets = ledgers.secrets();
    let step = acting.replied.step.clone();
    let judging = GateContext {
        policy: &ledgers.config.policy,
        grants: &ledgers.grants,
        observation: acting.observation(),
        tools: &tools,
        applications: ledgers.config.applications.as_deref(),
        secrets: &secrets,
        places: &ledgers.config.places,
        texts: &AtHand::new(ledgers, acting.observation()),
        effect: ledgers.effects.next_id(),
    };
    let reviewed = ledgers.review.as_ref().map(|review| {
        let commands = match acting.has_looked_again() {
            true => proposal.commands.clone(),
            false => agent.reviewable(ledgers, &acting.replied.reply),
        };
        review.of(&step, commands, &judging)
    });
    let ruled = judge(proposal, &judging, &refusal);
    drop(tools);
    if let (Some(review), Some(reviewed)) = (&mut ledgers.review, reviewed) {
        review.add(reviewed);
    }
    match ruled {
        GateVerdict::Cleared(cleared) => act(agent, ledgers, acting.resumed(cleared)),
        GateVerdict::Asks(parked, approval) => {
            agent.moves(ledgers, ProposalEvent::Waits(&approval.asked_by));
            StepTurn::Wait(StepPhase::Parked(acting, parked), Some(step), Effect::AwaitApproval { approval })
        }
    }
}

/// Phase 3: sends the next command, or ends the phase.
fn act<A: StepAgent>(agent: A, ledgers: &mut Ledgers, acting: ActingStep<A::Reply>) -> StepTurn<A::Reply> {
    match acting.next() {
        Advance::Send(next, command) => {
            let step = next.replied.step.clone();
            ledgers.budget.count_call();
            StepTurn::Wait(StepPhase::Acting(*next), Some(step), Effect::Call { command })
        }
        Advance::Look(acting) => {
            let step = acting.replied.step.clone();
            let look = agent.look(ledgers).without_picture();
            StepTurn::Wait(StepPhase::Looking(*acting), Some(step), Effect::Observe { look })
        }
        Advance::Done(mut acted) => {
            ledgers.effects.refuse(&mut acted.refused);
            StepTurn::End(StepEnd::Acted(acted))
        }
    }
}

/// Asks the user, unless questions are disabled.
pub(super) fn question<R>(ledgers: &mut Ledgers, questions: Vec<UserQuestion>) -> StepTurn<R> {
    if ledgers.config.ask_questions {
        return StepTurn::Wait(
            StepPhase::Questioning(questions.clone()),
            None,
            Effect::AskUser { questions },
        );
    }
    StepTurn::End(StepEnd::Closed(note_no_answer(ledgers, &questions, NoAnswer::NoChannel)))
}

/// Asks the model, unless that would exceed a budget.
pub(super) fn ask<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    observed: ObservedStep,
) -> StepTurn<A::Reply> {
    let observed = with_words(ledgers, observed);
    let step = observed.step.clone();
    match model_request(ledgers, agent.schema(ledgers, observed.offer.as_deref()), &observed) {
        Ok(request) => StepTurn::Wait(StepPhase::Asking(observed), Some(step), Effect::Ask { request }),
        Err(reason) => StepTurn::End(StepEnd::Exhausted(reason)),
    }
}

/// Asks the model to repair an invalid reply; at the limit the agent fails.
fn repair<A: StepAgent>(
    agent: A,
    ledgers: &mut Ledgers,
    observed: ObservedStep,
    said: &str,
    problem: &str,
) -> StepTurn<A::Reply> {
    if observed.repairs >= ledgers.config.limits.repairs_max {
        let attempts = observed.repairs.saturating_add(1);
        let why = format!("the model's reply was invalid after {attempts} attempts: {problem}");
        return StepTurn::End(StepEnd::Broke(why));
    }
    let operates = agent.schema(ledgers, observed.offer.as_deref()).0 == ReplyKind::Operator;
    match ledgers.prompts.repair_message(problem, operates) {
        Ok(message) => ask(agent, ledgers, observed.with_repair(said, message)),
        Err(error) => StepTurn::End(StepEnd::BrokeOff(error.to_string())),
    }
}

/// The error for an unexpected event; the checks of [`Session::apply`](super::Session::apply) make it unreachable.
pub(super) fn unexpected_event(phase: &'static str, event: &SessionEvent) -> String {
    debug_assert!(false, "{phase} got {event:?}");
    format!("unexpected event while {phase}")
}
