//! One step of any agent in the machine: observe, ask, act, record, and their failures.
//!
//! This module has what is common to all agents. What differs — the observation, the prompt, the meaning of a status — is
//! in [`StepAgentKind`].

use std::borrow::Cow;

use serde_json::Value;

use super::{
    effect::{AskedBy, Effect, StepRef},
    event::{IncomingEvent, NoAnswer, SessionEvent},
    gate::{ClearedCommands, GateContext, GateVerdict, Proposal, judge, open},
    phases::{
        ActedStep, ActingStep, Advance, Expects, ObservedStep, OneTimePromptParts, RankingStep, RepliedStep,
        StepStart,
    },
    stall::{Did, ObservationFingerprint, Stall, refuse_repetition},
    state::{Session, SessionStage, StepPhase},
    words::AtHand,
};
use crate::{
    command::{CallResult, ToolCommand, ToolSpec},
    model::{MessagePart, ModelMessage, ReplyKind, Speaker},
    observation::{Observation, ObservationTarget, ObserveFailure},
    prompt::PromptError,
    reply::{ReplyError, UserQuestion},
    retrieval::{Hit, Lookup},
    small::{SmallModelDecision, SmallModelOffer},
};
use deskhand_ui::PictureRef;

/// The prompt of a step: system message and user message.
pub(super) struct StepPrompt {
    pub(super) system: String,
    /// Worked examples: what was shown, and the reply to it.
    pub(super) examples: Vec<(String, String)>,
    pub(super) user: String,
    /// Pictures that other agents stored for it, placed before its own picture.
    pub(super) kept: Vec<PictureRef>,
    pub(super) picture: Option<PictureRef>,
}

/// Why a proposed action is not executed.
pub(super) enum NotApproved {
    /// A person rejected it, perhaps with an instruction.
    Rejected(Option<String>),
    /// Refused on a person's behalf, with a message that is not theirs.
    Refused(String),
    /// Nobody decided.
    Unanswered(NoAnswer),
}

/// An agent that takes steps in the machine: where it is, what it observes, and how its work breaks off.
pub(super) trait Steps: Copy {
    /// Its decision.
    type Reply: Expects;

    /// The machine's stage during a phase of its step.
    fn stage(self, phase: StepPhase<Self::Reply>) -> SessionStage;
    /// Its next step; `None` if the agent is gone.
    fn step(self, session: &Session, number: u32) -> Option<StepRef>;
    /// Returns `true` if its step limit is reached, in which case its work was ended.
    fn exhausted(self, session: &mut Session) -> bool;
    /// Returns the view that it observes.
    fn look(self, session: &Session) -> ObservationTarget;
    /// The object it works on is gone.
    fn lost(self, session: &mut Session, reason: &str);
    /// Observing failed as often as is allowed.
    fn observation_failed(self, session: &mut Session, failure: &ObserveFailure);
    /// Ends the round because the agent cannot continue.
    fn broke(self, session: &mut Session, reason: String);
}

/// Decisions of an agent, with or without a model.
pub(super) trait StepDecider: Steps {
    /// Returns the request to retrievers before its next step; `None` if it was already made, or retrievers do not
    /// serve this agent.
    fn lookup(self, session: &Session) -> Option<Lookup>;
    /// Takes in what they found.
    fn found(self, session: &mut Session, hits: Vec<Hit>);
    /// Its decision without a model, if the observation suffices.
    fn decide_without_model(self, session: &mut Session, observation: &Observation) -> Option<Self::Reply>;
    /// Returns the choices for a small model; `None` if it uses another model.
    fn offer(self, session: &Session, observation: &Observation) -> Option<SmallModelOffer>;
    /// Its prompt, for a small model if there is an offer.
    fn asking(
        self,
        session: &mut Session,
        observation: &Observation,
        offer: Option<&SmallModelOffer>,
    ) -> Result<StepPrompt, PromptError>;
    /// Returns the prompt parts that appear only in its next request.
    fn once(self, session: &Session) -> OneTimePromptParts;
    /// Its question was not sent, so that the next one has to tell and show that.
    fn not_asked(self, session: &mut Session, once: OneTimePromptParts);
    /// The kind and schema of its replies.
    fn schema(self, session: &Session, offer: Option<&SmallModelOffer>) -> (ReplyKind, Value);
    /// Parses the reply to a question about what it observed.
    fn parse(
        self,
        session: &Session,
        observed: &ObservedStep,
        text: &str,
    ) -> Result<SmallModelDecision<Self::Reply>, ReplyError>;
    /// Its questions were closed; `goes_on` unless a required answer is missing.
    fn questions_closed(self, session: &mut Session, goes_on: bool);
}

/// Actions of an agent and their outcome.
pub(super) trait StepActor: Steps {
    /// Its tools.
    fn tools(self, session: &Session) -> Cow<'_, [ToolSpec]>;
    /// The commands that a reply proposes.
    fn proposal(self, session: &Session, reply: &Self::Reply) -> Proposal;
    /// The commands that a policy could decide on, also where the one in force is not asked.
    fn reviewable(self, session: &Session, reply: &Self::Reply) -> Vec<ToolCommand> {
        self.proposal(session, reply).commands
    }
    /// Refuses a command regardless of the policy; `tools` are those of the agent.
    fn refusal(self, session: &Session, tools: &[ToolSpec], command: &ToolCommand) -> Option<CallResult>;
    /// Its observation and intended actions, to detect repetition.
    fn progress(
        self,
        session: &Session,
        observation: &Observation,
        reply: &Self::Reply,
    ) -> (ObservationFingerprint, Did);
    /// Its repetition counter.
    fn stall(self, session: &Session) -> Option<&Stall>;
    /// Its proposal waits for an approval.
    fn waits(self, session: &mut Session, asked_by: &AskedBy);
    /// Withdraws its proposal, which no longer waits for approval and is no repetition if it is proposed again.
    fn withdraws(self, session: &mut Session);
    /// Adds to the notice for its next step.
    fn notified(self, session: &mut Session, notice: &str);
    /// Phase 4: records its step and moves its state.
    fn acted(self, session: &mut Session, acted: ActedStep<Self::Reply>);
    /// Its proposal was not approved.
    fn not_approved(self, session: &mut Session, acted: ActedStep<Self::Reply>, what: &str, why: NotApproved);
}

/// A kind of agent with steps.
pub(super) trait StepAgentKind: StepDecider + StepActor {}

impl<A: StepDecider + StepActor> StepAgentKind for A {}

impl Session {
    /// Starts the next step of an agent, unless that would exceed a budget.
    pub(super) fn begin_step<A: StepAgentKind>(&mut self, agent: A) {
        if agent.exhausted(self) {
            return;
        }
        let Some(number) = self.next_step() else { return };
        match agent.step(self, number) {
            Some(step) => self.prepare(agent, StepStart { step, looks_failed: 0 }),
            None => self.break_off("the agent of the next step no longer exists"),
        }
    }

    /// Asks retrievers if that is due, then observes.
    fn prepare<A: StepAgentKind>(&mut self, agent: A, start: StepStart) {
        let Some(lookup) = agent.lookup(self) else { return self.look_as(agent, start) };
        let step = start.step.clone();
        self.want(agent.stage(StepPhase::Retrieving(start)), Some(step), Effect::Retrieve { lookup });
    }

    /// Phase 1: observes.
    pub(super) fn look_as<A: StepAgentKind>(&mut self, agent: A, start: StepStart) {
        let (step, look) = (start.step.clone(), agent.look(self));
        self.want(agent.stage(StepPhase::Observing(start)), Some(step), Effect::Observe { look });
    }

    /// Handles an event for a step.
    pub(super) fn step_event<A: StepAgentKind>(
        &mut self,
        agent: A,
        phase: StepPhase<A::Reply>,
        incoming: IncomingEvent,
    ) {
        match (phase, incoming.event) {
            (StepPhase::Retrieving(start), SessionEvent::Retrieved { hits, .. }) => {
                for hit in &hits {
                    self.heard.add_hit(hit);
                }
                agent.found(self, hits);
                self.look_as(agent, start);
            }
            (StepPhase::Observing(start), SessionEvent::Observed { observation }) => {
                self.observed(agent, start, observation);
            }
            (StepPhase::Observing(start), SessionEvent::ObserveFailed { failure }) => {
                self.retry_observation(agent, start, &failure);
            }
            (
                StepPhase::Ranking(RankingStep { start, observation, offer }),
                SessionEvent::Ranked { scores },
            ) => {
                self.prompt(agent, start, observation, Some(offer.narrowed(Some(&scores))));
            }
            (StepPhase::Asking(observed), SessionEvent::Replied { reply, .. }) => {
                self.count_reply(&reply);
                self.replied(agent, observed, &reply.text);
            }
            (StepPhase::Asking(_), SessionEvent::ModelFailed { failure }) => {
                self.count_model_failure(&failure);
                agent.broke(self, format!("the model call failed: {failure}"));
            }
            (StepPhase::Acting(mut acting), SessionEvent::Returned { mut result }) => {
                self.take_workflow(acting.tool(), &mut result);
                self.round.unsaved.take_in(acting.window(), &result.report);
                self.made.take_in(&result.report);
                self.returned.add_output(acting.tool(), &result.output);
                self.heard.add_output(acting.tool(), acting.does(), &result.output);
                acting.returned(result, self.config.action_sequences, Some(incoming.answers));
                self.act(agent, acting);
            }
            (StepPhase::Looking(acting), SessionEvent::Observed { observation }) => {
                self.looked_again(agent, acting, observation);
            }
            (StepPhase::Looking(mut acting), SessionEvent::ObserveFailed { failure }) => {
                acting.not_looked_again(&failure.message);
                self.act(agent, acting);
            }
            (StepPhase::Parked(acting, parked), SessionEvent::Rejected { instruction, is_message }) => {
                let what = parked.what();
                let why = match instruction {
                    Some(message) if is_message => NotApproved::Refused(message),
                    instruction => NotApproved::Rejected(instruction),
                };
                agent.not_approved(self, acting.broken_off(), &what, why);
            }
            (StepPhase::Parked(acting, parked), SessionEvent::Unanswered { why }) => {
                let what = parked.what();
                agent.not_approved(self, acting.broken_off(), &what, NotApproved::Unanswered(why));
            }
            (StepPhase::Parked(acting, parked), event) => {
                match open(parked, incoming.answers, &event, &mut self.grants) {
                    Some(cleared) => self.act(agent, acting.resumed(cleared)),
                    None => self.break_off(unexpected_event("waiting for an approval", &event)),
                }
            }
            (StepPhase::Questioning(questions), SessionEvent::Answered { answers }) => {
                self.note_answers(&questions, &answers);
                agent.questions_closed(self, /*goes_on*/ true);
            }
            (StepPhase::Questioning(questions), SessionEvent::Unanswered { why }) => {
                let goes_on = self.note_no_answer(&questions, why);
                agent.questions_closed(self, goes_on);
            }
            (phase, event) => self.break_off(unexpected_event(phase.word(), &event)),
        }
    }

    /// Takes in a reply: a decision, the reason for another question, or one that is not valid.
    fn replied<A: StepAgentKind>(&mut self, agent: A, observed: ObservedStep, text: &str) {
        match agent.parse(self, &observed, text) {
            Ok(SmallModelDecision::Finally(decision)) => self.decided(agent, observed.replied(decision)),
            Ok(SmallModelDecision::Further(offer)) => {
                let observation = observed.observation.clone();
                self.prompt(agent, observed.restart(), observation, Some(offer));
            }
            Err(error) => self.repair(agent, observed, text, &error.to_string()),
        }
    }

    fn observed<A: StepAgentKind>(&mut self, agent: A, start: StepStart, observation: Observation) {
        self.round.unsaved.see(&observation);
        self.heard.see(&observation);
        if let Some(reply) = agent.decide_without_model(self, &observation) {
            self.decided(agent, start.observed(observation, Vec::new()).replied(reply));
            return;
        }
        match agent.offer(self, &observation) {
            Some(offer) if self.config.ranks && offer.is_choice() => {
                let (step, wanted, texts) = (start.step.clone(), offer.wanted.clone(), offer.texts());
                let ranking = agent.stage(StepPhase::Ranking(RankingStep { start, observation, offer }));
                self.want(ranking, Some(step), Effect::Rank { wanted, texts });
            }
            offer => self.prompt(agent, start, observation, offer.map(|offer| offer.narrowed(None))),
        }
    }

    /// Phase 2: asks the model about an observation, a small one by an offer.
    fn prompt<A: StepAgentKind>(
        &mut self,
        agent: A,
        start: StepStart,
        observation: Observation,
        offer: Option<SmallModelOffer>,
    ) {
        let once = agent.once(self);
        match agent.asking(self, &observation, offer.as_ref()) {
            Ok(asking) => {
                let (messages, words) = (messages(asking), self.words.count());
                let offer = offer.map(Box::new);
                self.ask(agent, ObservedStep { offer, words, once, ..start.observed(observation, messages) });
            }
            Err(error) => self.break_off(error.to_string()),
        }
    }

    fn retry_observation<A: StepAgentKind>(
        &mut self,
        agent: A,
        mut start: StepStart,
        failure: &ObserveFailure,
    ) {
        start.looks_failed = start.looks_failed.saturating_add(1);
        if failure.desktop_gone {
            agent.broke(self, format!("failed to observe the desktop: {failure}"));
        } else if failure.window_gone {
            agent.lost(self, &failure.message);
        } else if start.looks_failed >= self.config.limits.looks_failed_max {
            agent.observation_failed(self, failure);
        } else {
            self.look_as(agent, start);
        }
    }

    /// Phase 2 is done: the proposal goes through the gate.
    pub(super) fn decided<A: StepAgentKind>(&mut self, agent: A, replied: RepliedStep<A::Reply>) {
        let (seen, did) = agent.progress(self, &replied.observation, &replied.reply);
        let repeats = agent.stall(self).map_or(0, |stall| stall.repeats(&seen, &did));
        let proposal = agent.proposal(self, &replied.reply);
        let tools = agent.tools(self);
        if let Some(refusal) = refuse_repetition(repeats, &self.config.limits, &proposal, &tools) {
            drop(tools);
            self.act(agent, replied.acting(ClearedCommands::refused(proposal, refusal)));
            return;
        }
        drop(tools);
        self.gated(agent, replied.acting(ClearedCommands::default()), proposal);
    }

    /// The window was looked at again: what waited for that goes through the gate.
    fn looked_again<A: StepAgentKind>(
        &mut self,
        agent: A,
        mut acting: ActingStep<A::Reply>,
        observation: Observation,
    ) {
        self.round.unsaved.see(&observation);
        self.heard.see(&observation);
        let commands = acting.looked_again(observation, &agent.tools(self));
        let proposal = Proposal { commands, ..agent.proposal(self, &acting.replied.reply) };
        self.gated(agent, acting, proposal);
    }

    /// The gate decides on a proposal, by what was seen last.
    fn gated<A: StepAgentKind>(&mut self, agent: A, acting: ActingStep<A::Reply>, proposal: Proposal) {
        let tools = agent.tools(self);
        let refusal = |command: &ToolCommand| agent.refusal(self, &tools, command);
        let secrets = self.secrets();
        let step = acting.replied.step.clone();
        let judging = GateContext {
            policy: &self.config.policy,
            grants: &self.grants,
            observation: acting.observation(),
            tools: &tools,
            applications: self.config.applications.as_deref(),
            secrets: &secrets,
            places: &self.config.places,
            texts: &AtHand::new(self, acting.observation()),
            effect: self.next_effect_id(),
        };
        let reviewed = self.review.as_ref().map(|review| {
            let commands = match acting.has_looked_again() {
                true => proposal.commands.clone(),
                false => agent.reviewable(self, &acting.replied.reply),
            };
            review.of(&step, commands, &judging)
        });
        let ruled = judge(proposal, &judging, &refusal);
        if let (Some(review), Some(reviewed)) = (&mut self.review, reviewed) {
            review.add(reviewed);
        }
        match ruled {
            GateVerdict::Cleared(cleared) => self.act(agent, acting.resumed(cleared)),
            GateVerdict::Asks(parked, approval) => {
                agent.waits(self, &approval.asked_by);
                self.want(
                    agent.stage(StepPhase::Parked(acting, parked)),
                    Some(step),
                    Effect::AwaitApproval { approval },
                );
            }
        }
    }

    /// Phase 3: sends the next command, or ends the phase.
    fn act<A: StepAgentKind>(&mut self, agent: A, acting: ActingStep<A::Reply>) {
        match acting.next() {
            Advance::Send(next, command) => {
                let step = next.replied.step.clone();
                self.count_call();
                self.want(agent.stage(StepPhase::Acting(*next)), Some(step), Effect::Call { command });
            }
            Advance::Look(acting) => {
                let step = acting.replied.step.clone();
                let look = agent.look(self).without_picture();
                self.want(agent.stage(StepPhase::Looking(*acting)), Some(step), Effect::Observe { look });
            }
            Advance::Done(mut acted) => {
                self.refused.append(&mut acted.refused);
                agent.acted(self, acted);
            }
        }
    }

    /// Asks the user, unless questions are disabled.
    pub(super) fn question<A: StepAgentKind>(&mut self, agent: A, questions: Vec<UserQuestion>) {
        if self.config.ask_questions {
            let stage = agent.stage(StepPhase::Questioning(questions.clone()));
            self.want(stage, None, Effect::AskUser { questions });
        } else {
            let goes_on = self.note_no_answer(&questions, NoAnswer::NoChannel);
            agent.questions_closed(self, goes_on);
        }
    }

    /// Asks the model, unless that would exceed a budget.
    pub(super) fn ask<A: StepAgentKind>(&mut self, agent: A, observed: ObservedStep) {
        let observed = self.with_words(observed);
        let step = observed.step.clone();
        match self.model_request(agent.schema(self, observed.offer.as_deref()), &observed) {
            Ok(request) => {
                self.want(agent.stage(StepPhase::Asking(observed)), Some(step), Effect::Ask { request });
            }
            Err(reason) => self.exhaust(reason),
        }
    }

    /// Asks the model to repair an invalid reply; at the limit the agent fails.
    fn repair<A: StepAgentKind>(&mut self, agent: A, observed: ObservedStep, said: &str, problem: &str) {
        if observed.repairs >= self.config.limits.repairs_max {
            let attempts = observed.repairs.saturating_add(1);
            agent.broke(self, format!("the model's reply was invalid after {attempts} attempts: {problem}"));
            return;
        }
        match self
            .prompts
            .repair_message(problem, agent.schema(self, observed.offer.as_deref()).0 == ReplyKind::Operator)
        {
            Ok(message) => self.ask(agent, observed.with_repair(said, message)),
            Err(error) => self.break_off(error.to_string()),
        }
    }
}

/// The messages of a new step: system, worked examples, then user.
pub(super) fn messages(asking: StepPrompt) -> Vec<ModelMessage> {
    let mut shown = ModelMessage::text(Speaker::User, asking.user);
    shown.parts.extend(
        asking.kept.into_iter().chain(asking.picture).map(|picture| MessagePart::Picture { picture }),
    );
    let examples = asking.examples.into_iter().flat_map(|(shown, reply)| {
        [ModelMessage::text(Speaker::User, shown), ModelMessage::text(Speaker::Assistant, reply)]
    });
    std::iter::once(ModelMessage::text(Speaker::System, asking.system))
        .chain(examples)
        .chain([shown])
        .collect()
}

/// The error for an unexpected event; the checks of [`Session::apply`] make it unreachable.
pub(super) fn unexpected_event(phase: &'static str, event: &SessionEvent) -> String {
    debug_assert!(false, "{phase} got {event:?}");
    format!("unexpected event while {phase}")
}
