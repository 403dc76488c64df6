//! One step of any agent of the machine: look, ask, act, record; with what can go wrong on the way.
//!
//! What is the same for all agents stands here. What makes an agent what it is — what it sees, how it is asked, what its
//! statuses lead to — is its [`AgentKind`].

use serde_json::Value;

use super::{
    effect::{AskedBy, Effect, StepRef},
    event::{Came, Event, NoAnswer},
    gate::{Cleared, Judged, Proposal, judge, open},
    phases::{Acted, Acting, Advance, Observed, Replied, StepStart},
    stall::{Stall, another_way},
    state::{Phase, Session, Stage},
};
use crate::{
    command::{CallResult, Command, ToolSpec},
    model::{Message, Part, ReplyKind, Speaker},
    observation::{Look, Observation, ObserveFailure},
    prompt::PromptError,
    reply::{Question, ReplyError},
    ui::PictureRef,
};

/// What is asked of a model: the instructions, then what the agent is shown.
pub(super) struct Asking {
    pub(super) system: String,
    pub(super) user: String,
    pub(super) picture: Option<PictureRef>,
}

/// Why a proposed action is not carried out.
pub(super) enum NotApproved {
    /// A person said no, and perhaps what to do instead.
    Rejected(Option<String>),
    /// Nobody decided.
    Unanswered(NoAnswer),
}

/// An agent that takes steps in the machine.
pub(super) trait AgentKind: Copy {
    /// What its model decides.
    type Reply;

    /// The machine's stage while it is in a phase of a step.
    fn stage(self, phase: Phase<Self::Reply>) -> Stage;
    /// Its next step; none when it is gone.
    fn step(self, session: &Session, number: u32) -> Option<StepRef>;
    /// Whether it may take no further step on its work, which was ended for that.
    fn exhausted(self, session: &mut Session) -> bool;
    /// What it looks at.
    fn look(self, session: &Session) -> Look;
    /// What it decides without asking its model, by what it sees.
    fn knows(self, session: &mut Session, observation: &Observation) -> Option<Self::Reply>;
    /// What its model is asked.
    fn asking(self, session: &mut Session, observation: &Observation) -> Result<Asking, PromptError>;
    /// The kind and the schema of its replies.
    fn schema(self, session: &Session) -> (ReplyKind, Value);
    /// Reads a reply.
    fn parse(self, session: &Session, text: &str) -> Result<Self::Reply, ReplyError>;
    /// The tools that it may use.
    fn tools(self, session: &Session) -> &[ToolSpec];
    /// What a reply wants to have done.
    fn proposal(self, session: &Session, reply: &Self::Reply) -> Proposal;
    /// Why a command cannot go out at all, whatever the policy says.
    fn refusal(self, session: &Session, command: &Command) -> Option<CallResult>;
    /// What it saw and what it wants to do, to notice that it repeats itself.
    fn doing(
        self,
        session: &Session,
        observation: &Observation,
        reply: &Self::Reply,
    ) -> (String, Vec<String>);
    /// How often it has repeated itself.
    fn stall(self, session: &Session) -> Option<&Stall>;

    /// Its proposal waits for an approval.
    fn waits(self, session: &mut Session, asked_by: &AskedBy);
    /// Phase 4: its step is recorded, and its state moves.
    fn acted(self, session: &mut Session, acted: Acted<Self::Reply>);
    /// What it proposed was not approved.
    fn not_approved(self, session: &mut Session, acted: Acted<Self::Reply>, what: &str, why: NotApproved);
    /// Its questions are closed: answered, or such that the work can go on without; or not.
    fn questions_closed(self, session: &mut Session, goes_on: bool);
    /// What it works on is gone.
    fn lost(self, session: &mut Session, reason: &str);
    /// It could not see, as often as it may be tried.
    fn cannot_see(self, session: &mut Session, failure: &ObserveFailure);
    /// It cannot go on, and with it the round.
    fn broke(self, session: &mut Session, reason: String);
}

impl Session {
    /// Begins the next step of an agent, unless that would exceed a budget.
    pub(super) fn begin_step<A: AgentKind>(&mut self, agent: A) {
        if agent.exhausted(self) {
            return;
        }
        let Some(number) = self.next_step() else { return };
        match agent.step(self, number) {
            Some(step) => self.look_as(agent, StepStart { step, looks_failed: 0 }),
            None => self.break_off("an agent that was to take a step is gone"),
        }
    }

    /// Phase 1: looks.
    pub(super) fn look_as<A: AgentKind>(&mut self, agent: A, start: StepStart) {
        let (step, look) = (start.step.clone(), agent.look(self));
        self.want(agent.stage(Phase::Observing(start)), Some(step), Effect::Observe { look });
    }

    /// Takes what came back for a step.
    pub(super) fn step_event<A: AgentKind>(&mut self, agent: A, phase: Phase<A::Reply>, came: Came) {
        match (phase, came.event) {
            (Phase::Observing(start), Event::Observed { observation }) => {
                self.seen(agent, start, observation);
            }
            (Phase::Observing(start), Event::ObserveFailed { failure }) => {
                self.blind(agent, start, &failure);
            }
            (Phase::Asking(observed), Event::Replied { reply }) => {
                self.count_reply(&reply);
                match agent.parse(self, &reply.text) {
                    Ok(decision) => self.decided(agent, observed.replied(decision)),
                    Err(error) => self.repair(agent, observed, &reply.text, &error.to_string()),
                }
            }
            (Phase::Asking(_), Event::ModelFailed { failure }) => {
                self.count_model_failure(&failure);
                agent.broke(self, format!("the model gave no reply: {failure}"));
            }
            (Phase::Acting(mut acting), Event::Returned { result }) => {
                acting.returned(result, self.config.action_sequences);
                self.act(agent, acting);
            }
            (Phase::Parked(replied, parked), Event::Rejected { instruction }) => {
                let what = parked.what();
                agent.not_approved(self, replied.not_acted(), &what, NotApproved::Rejected(instruction));
            }
            (Phase::Parked(replied, parked), Event::Unanswered { why }) => {
                let what = parked.what();
                agent.not_approved(self, replied.not_acted(), &what, NotApproved::Unanswered(why));
            }
            (Phase::Parked(replied, parked), event) => {
                match open(parked, came.answers, &event, &mut self.grants) {
                    Some(cleared) => self.act(agent, replied.acting(cleared)),
                    None => self.break_off(misfit("waiting for an approval", &event)),
                }
            }
            (Phase::Questioning(questions), Event::Answered { answers }) => {
                self.note_answers(&questions, &answers);
                agent.questions_closed(self, /*goes_on*/ true);
            }
            (Phase::Questioning(questions), Event::Unanswered { why }) => {
                let goes_on = self.note_no_answer(&questions, why);
                agent.questions_closed(self, goes_on);
            }
            (phase, event) => self.break_off(misfit(phase.word(), &event)),
        }
    }

    fn seen<A: AgentKind>(&mut self, agent: A, start: StepStart, observation: Observation) {
        if let Some(reply) = agent.knows(self, &observation) {
            self.decided(agent, start.observed(observation, Vec::new()).replied(reply));
            return;
        }
        match agent.asking(self, &observation) {
            Ok(asking) => {
                let messages = messages(asking);
                self.ask(agent, start.observed(observation, messages));
            }
            Err(error) => self.break_off(error.to_string()),
        }
    }

    fn blind<A: AgentKind>(&mut self, agent: A, mut start: StepStart, failure: &ObserveFailure) {
        start.looks_failed = start.looks_failed.saturating_add(1);
        if failure.desktop_gone {
            agent.broke(self, format!("the desktop could not be seen: {failure}"));
        } else if failure.window_gone {
            agent.lost(self, &failure.message);
        } else if start.looks_failed >= self.config.limits.looks_failed_max {
            agent.cannot_see(self, failure);
        } else {
            self.look_as(agent, start);
        }
    }

    /// Phase 2 is done: what was proposed goes through the gate.
    pub(super) fn decided<A: AgentKind>(&mut self, agent: A, replied: Replied<A::Reply>) {
        let (seen, did) = agent.doing(self, &replied.observation, &replied.reply);
        let repeats = agent.stall(self).map_or(0, |stall| stall.repeats(&seen, &did));
        let proposal = agent.proposal(self, &replied.reply);
        if let Some(refusal) = another_way(repeats, &self.config.limits, &proposal, agent.tools(self)) {
            self.act(agent, replied.acting(Cleared::refused(proposal, refusal)));
            return;
        }
        let refusal = |command: &Command| agent.refusal(self, command);
        let judged = judge(
            proposal,
            &self.config.policy,
            &self.grants,
            &replied.observation,
            self.next_effect_id(),
            &refusal,
        );
        match judged {
            Judged::Cleared(cleared) => self.act(agent, replied.acting(cleared)),
            Judged::Asks(parked, approval) => {
                agent.waits(self, &approval.asked_by);
                let step = replied.step.clone();
                self.want(
                    agent.stage(Phase::Parked(replied, parked)),
                    Some(step),
                    Effect::AwaitApproval { approval },
                );
            }
        }
    }

    /// Phase 3: sends the next command, or ends the phase when there is none left.
    fn act<A: AgentKind>(&mut self, agent: A, acting: Acting<A::Reply>) {
        match acting.next() {
            Advance::Send(next, command) => {
                let step = next.replied.step.clone();
                self.count_call();
                self.want(agent.stage(Phase::Acting(*next)), Some(step), Effect::Call { command });
            }
            Advance::Done(acted) => agent.acted(self, acted),
        }
    }

    /// Puts questions to the user, unless nobody is to be asked.
    pub(super) fn question<A: AgentKind>(&mut self, agent: A, questions: Vec<Question>) {
        if self.config.ask_questions {
            let stage = agent.stage(Phase::Questioning(questions.clone()));
            self.want(stage, None, Effect::AskUser { questions });
        } else {
            let goes_on = self.note_no_answer(&questions, NoAnswer::NoChannel);
            agent.questions_closed(self, goes_on);
        }
    }

    /// Asks the model, unless that would exceed a budget.
    fn ask<A: AgentKind>(&mut self, agent: A, observed: Observed) {
        let step = observed.step.clone();
        match self.model_request(agent.schema(self), &observed) {
            Ok(request) => {
                self.want(agent.stage(Phase::Asking(observed)), Some(step), Effect::Ask { request });
            }
            Err(reason) => self.exhaust(reason),
        }
    }

    /// Asks the model again after a reply that cannot be used; at the limit the agent cannot go on.
    fn repair<A: AgentKind>(&mut self, agent: A, observed: Observed, said: &str, problem: &str) {
        if observed.repairs >= self.config.limits.repairs_max {
            let attempts = observed.repairs.saturating_add(1);
            agent.broke(
                self,
                format!("the model's reply could not be used after {attempts} attempts: {problem}"),
            );
            return;
        }
        match self.prompts.repair_message(problem) {
            Ok(message) => self.ask(agent, observed.asked_again(said, message)),
            Err(error) => self.break_off(error.to_string()),
        }
    }
}

/// The messages of a fresh step: instructions, then what the agent is shown.
pub(super) fn messages(asking: Asking) -> Vec<Message> {
    let mut shown = Message::text(Speaker::User, asking.user);
    if let Some(picture) = asking.picture {
        shown.parts.push(Part::Picture { picture });
    }
    vec![Message::text(Speaker::System, asking.system), shown]
}

/// Why an event cannot be used; the checks of [`Session::apply`] leave no way to get here.
pub(super) fn misfit(phase: &'static str, event: &Event) -> String {
    debug_assert!(false, "{phase} got {event:?}");
    format!("the machine was {phase} and got an event that does not fit")
}
