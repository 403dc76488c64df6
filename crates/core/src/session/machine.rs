//! The machine itself: what it holds, which effect it wants, and how an event moves it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    agents::{Delegation, Owner},
    app::{App, AppAgent},
    budget::Spent,
    config::SessionConfig,
    effect::{Effect, EffectRecord, StepRef},
    evaluation::Evaluating,
    event::{Came, Event, EventRecord, FollowerPlan, StopReason},
    gate::{Grants, Parked},
    host::{Host, HostAgent},
    phases::{Acting, Observed, Replied, StepStart},
    round::{SubtaskRecord, Tally},
    step::Asking,
    subtask::Following,
};
use crate::{
    agent::Worker,
    blackboard::Blackboard,
    evaluation::Evaluation,
    ids::EffectId,
    model::{Message, ModelRequest, Part, ReplyKind, Speaker},
    outcome::{Outcome, OutcomeKind},
    prompt::PromptSet,
    reply::{AppReply, HostReply, NextSubtask, Question},
    states::{AppTrigger, HostStatus, HostTrigger, next_app, next_host},
    target::TargetRegistry,
};

/// An event that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The session has ended.
    #[error("the session has ended; it takes no further event")]
    Ended,
    /// It answers another effect than the one that is wanted.
    #[error("the event answers effect {came:?}, but effect {wanted} is wanted")]
    OtherEffect {
        /// The wanted effect.
        wanted: EffectId,
        /// What the event names.
        came: Option<EffectId>,
    },
    /// It is no answer to the wanted effect.
    #[error("the event `{came}` is no answer to effect {wanted}")]
    NoAnswer {
        /// The wanted effect.
        wanted: EffectId,
        /// The kind of the event.
        came: &'static str,
    },
}

/// Where in a step an agent is; each phase holds what the one before it made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase<R> {
    /// It looks.
    Observing(StepStart),
    /// It asked the model.
    Asking(Observed),
    /// Its commands run.
    Acting(Acting<R>),
    /// Its commands wait for an approval.
    Parked(Replied<R>, Parked),
    /// It waits for the user's answers, after its step was recorded.
    Questioning(Vec<Question>),
}

impl<R> Phase<R> {
    /// The phase in words.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Observing(_) => "observing",
            Self::Asking(_) => "asking the model",
            Self::Acting(_) => "acting",
            Self::Parked(..) => "waiting for an approval",
            Self::Questioning(_) => "waiting for answers",
        }
    }
}

/// Who is at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Nobody; the next request is awaited.
    Idle,
    /// The HostAgent.
    Host(Phase<HostReply>),
    /// The AppAgent of a window, or an agent of another kind that steps like one.
    App(Worker, Phase<AppReply>),
    /// An agent that lives elsewhere.
    Delegated(Delegation),
    /// The EvaluationAgent.
    Evaluating(Box<Evaluating>),
    /// Nobody; the outcome was given out.
    Done(Outcome),
    /// The session has ended.
    Over,
}

/// The round that is going on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Round {
    pub(super) request: String,
    pub(super) started_ms: u64,
    pub(super) spent: Spent,
    pub(super) subtasks: Vec<SubtaskRecord>,
    pub(super) failures_in_row: u32,
    /// The sub-tasks that follow, where the HostAgent has named all of them; none where it is to be asked.
    pub(super) next: Option<VecDeque<NextSubtask>>,
    /// The plan that is followed.
    pub(super) following: Option<Following>,
    /// Whether something since the HostAgent last judged was not seen to be done.
    pub(super) doubt: bool,
}

impl Round {
    fn new(request: String, started_ms: u64) -> Self {
        Self {
            request,
            started_ms,
            spent: Spent::default(),
            subtasks: Vec::new(),
            failures_in_row: 0,
            next: None,
            following: None,
            doubt: false,
        }
    }
}

/// A session: agents, blackboard, and the step that is going on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub(super) config: SessionConfig,
    pub(super) prompts: PromptSet,
    pub(super) blackboard: Blackboard,
    pub(super) targets: TargetRegistry,
    pub(super) host: HostAgent,
    pub(super) apps: Vec<AppAgent>,
    pub(super) grants: Grants,
    pub(super) round: Round,
    /// What all rounds have used up.
    pub(super) spent: Spent,
    /// How long the rounds that are over took together, in milliseconds.
    pub(super) rounds_ms: u64,
    pub(super) rounds: u32,
    /// The last judgement for which work was taken up again, with its round.
    #[serde(default)]
    pub(super) evaluated: Option<(u32, Evaluation)>,
    pub(super) steps: u32,
    pub(super) now_ms: u64,
    pub(super) stage: Stage,
    pub(super) pending: Option<EffectRecord>,
    next_effect: u64,
}

impl Session {
    /// A session that waits for its first request.
    pub fn new(config: SessionConfig, prompts: PromptSet) -> Self {
        let targets = TargetRegistry::new(config.agents.clone());
        let mut session = Self {
            config,
            prompts,
            blackboard: Blackboard::default(),
            targets,
            host: HostAgent::default(),
            apps: Vec::new(),
            grants: Grants::default(),
            round: Round::new(String::new(), 0),
            spent: Spent::default(),
            rounds_ms: 0,
            rounds: 0,
            evaluated: None,
            steps: 0,
            now_ms: 0,
            stage: Stage::Idle,
            pending: None,
            next_effect: 1,
        };
        session.want(Stage::Idle, None, Effect::AwaitRequest);
        session
    }

    /// The effect that is wanted now; none once the session has ended.
    pub fn next(&self) -> Option<&EffectRecord> {
        self.pending.as_ref()
    }

    /// Who is at work.
    pub(super) const fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Whether no further effect is wanted. [`Event::Resumed`] opens the session again, for another request.
    pub fn has_ended(&self) -> bool {
        self.pending.is_none()
    }

    /// Whether a round is going on.
    pub fn in_round(&self) -> bool {
        !matches!(self.stage, Stage::Idle | Stage::Over)
    }

    /// From the next step on, the session runs under this configuration and these prompts.
    pub fn change(&mut self, config: SessionConfig, prompts: PromptSet) {
        let windows = self.targets.windows().to_vec();
        self.targets = TargetRegistry::new(config.agents.clone());
        self.targets.set_windows(windows);
        let targets = &self.targets;
        self.apps.retain(|app| match &app.owner {
            Owner::Window(_) => true,
            Owner::Agent(id, name) => targets.agent(*id).is_some_and(|agent| agent.name == *name),
        });
        self.config = config;
        self.prompts = prompts;
    }

    /// What the present round has used up.
    pub fn tally(&self) -> &Tally {
        &self.round.spent.tally
    }

    /// What all rounds so far have used up.
    pub const fn session_tally(&self) -> &Tally {
        &self.spent.tally
    }

    /// The sub-tasks of the present round that ended.
    pub fn subtasks(&self) -> &[SubtaskRecord] {
        &self.round.subtasks
    }

    /// Where the HostAgent's machine stands.
    pub fn host_status(&self) -> HostStatus {
        self.host.status
    }

    /// What all agents share.
    pub fn blackboard(&self) -> &Blackboard {
        &self.blackboard
    }

    /// Takes what came back. The machine is unchanged when this fails.
    ///
    /// # Errors
    /// [`ApplyError`] when the event does not answer the wanted effect.
    pub fn apply(&mut self, record: &EventRecord) -> Result<(), ApplyError> {
        if let Event::Resumed { desktop_kept } = record.event {
            return self.resume(desktop_kept, record);
        }
        let pending = self.pending.as_ref().ok_or(ApplyError::Ended)?;
        if let Event::Stopped { reason } = record.event {
            self.now_ms = self.now_ms.max(record.at_ms);
            self.stop(reason);
            return Ok(());
        }
        if record.effect != Some(pending.id) {
            return Err(ApplyError::OtherEffect { wanted: pending.id, came: record.effect });
        }
        if !answers(&pending.effect, &record.event) {
            return Err(ApplyError::NoAnswer { wanted: pending.id, came: event_word(&record.event) });
        }
        self.now_ms = self.now_ms.max(record.at_ms);
        let answers = pending.id;
        self.come(Came { answers, event: record.event.clone() });
        Ok(())
    }

    /// Moves on with an answer to the wanted effect.
    pub(super) fn come(&mut self, came: Came) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Idle => {
                if let Event::Requested { text, plan } = came.event {
                    self.begin_round(text, plan);
                } else {
                    self.pending = None;
                }
            }
            Stage::Host(phase) => self.step_event(Host, phase, came),
            Stage::App(worker, phase) => self.step_event(App(worker), phase, came),
            Stage::Delegated(delegation) => self.delegation_event(delegation, came.event),
            Stage::Evaluating(evaluating) => self.evaluation_event(*evaluating, came.event),
            Stage::Done(_) => self.end_round(),
            Stage::Over => self.pending = None,
        }
    }

    fn begin_round(&mut self, request: String, plan: Option<FollowerPlan>) {
        self.rounds = self.rounds.saturating_add(1);
        self.round = Round::new(request, self.now_ms);
        self.round.following = plan.map(|plan| Following::new(plan.object, plan.steps));
        self.host.begin_round();
        if self.round.following.as_ref().is_some_and(Following::is_empty) {
            self.host.moves(HostTrigger::PlanFailed);
            self.finish(OutcomeKind::Failed, "the plan has no step");
        } else {
            self.begin_step(Host);
        }
    }

    fn end_round(&mut self) {
        let request = std::mem::take(&mut self.round.request);
        self.blackboard.add_request(&request);
        self.rounds_ms = self.rounds_ms.saturating_add(self.elapsed_ms());
        self.round.started_ms = self.now_ms;
        self.want(Stage::Idle, None, Effect::AwaitRequest);
    }

    /// Ends the round; one that finished is judged first, where that is wanted.
    pub(super) fn finish(&mut self, kind: OutcomeKind, reason: impl Into<String>) {
        let reason = reason.into();
        if kind != OutcomeKind::Finished || !self.begin_evaluation(&reason) {
            self.conclude(Outcome::new(kind, reason));
        }
    }

    /// Gives out the outcome of the round. One that was judged and taken up again keeps that judgement.
    pub(super) fn conclude(&mut self, mut outcome: Outcome) {
        if outcome.evaluation.is_none() {
            outcome.evaluation = self.repair_of_round().cloned();
        }
        self.want(Stage::Done(outcome.clone()), None, Effect::Finish { outcome });
    }

    /// Ends the round because the machine cannot go on: the HostAgent's state is ERROR.
    pub(super) fn break_off(&mut self, reason: impl Into<String>) {
        self.host.status = next_host(self.host.status, HostTrigger::Broke);
        self.finish(OutcomeKind::Error, reason);
    }

    /// Ends the round because a budget is used up.
    pub(super) fn exhaust(&mut self, reason: String) {
        self.stop_agents();
        self.finish(OutcomeKind::BudgetExhausted, reason);
    }

    fn stop(&mut self, reason: StopReason) {
        match self.stage {
            Stage::Idle | Stage::Over => {
                self.stage = Stage::Over;
                self.pending = None;
            }
            Stage::Done(_) => {}
            Stage::Evaluating(_) => {
                if let Stage::Evaluating(evaluating) = std::mem::replace(&mut self.stage, Stage::Over) {
                    self.evaluation_stopped(&evaluating);
                }
            }
            Stage::Host(_) | Stage::App(..) | Stage::Delegated(_) => {
                self.stop_agents();
                match reason {
                    StopReason::WallTime => {
                        let reason = self.time_is_up();
                        self.finish(OutcomeKind::BudgetExhausted, reason);
                    }
                    StopReason::User => self.finish(OutcomeKind::Cancelled, "stopped by the user"),
                    StopReason::Signal => {
                        self.finish(OutcomeKind::Cancelled, "stopped because the process was told to end");
                    }
                }
            }
        }
    }

    fn stop_agents(&mut self) {
        self.host.status = next_host(self.host.status, HostTrigger::Stopped);
        for app in &mut self.apps {
            app.status = next_app(app.status, AppTrigger::Stopped);
        }
    }

    pub(super) fn want(&mut self, stage: Stage, step: Option<StepRef>, effect: Effect) {
        self.stage = stage;
        let id = EffectId(self.next_effect);
        self.next_effect = self.next_effect.saturating_add(1);
        self.pending = Some(EffectRecord { id, round: self.rounds, step, effect });
    }

    /// How long the present round has taken, as far as events say, in milliseconds.
    pub fn elapsed_ms(&self) -> u64 {
        self.now_ms.saturating_sub(self.round.started_ms)
    }

    /// The number of the effect that is wanted next.
    pub(super) const fn next_effect_id(&self) -> EffectId {
        EffectId(self.next_effect)
    }

    /// The question to the model; why it may not be asked.
    pub(super) fn model_request(
        &self,
        (reply, schema): (ReplyKind, Value),
        observed: &Observed,
    ) -> Result<ModelRequest, String> {
        let mut request = ModelRequest {
            agent: observed.step.agent.clone(),
            messages: observed.messages.clone(),
            reply,
            schema,
            completion_tokens_max: self.config.limits.completion_tokens_max,
            attempts_max: 0,
        };
        request.attempts_max = self.requests_allowed(&request)?;
        Ok(request)
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

/// Whether an event is an answer to an effect.
const fn answers(effect: &Effect, event: &Event) -> bool {
    match effect {
        Effect::AwaitRequest => matches!(event, Event::Requested { .. } | Event::Ended),
        Effect::Observe { .. } => matches!(event, Event::Observed { .. } | Event::ObserveFailed { .. }),
        Effect::Ask { .. } => matches!(event, Event::Replied { .. } | Event::ModelFailed { .. }),
        Effect::Call { .. } => matches!(event, Event::Returned { .. }),
        Effect::AskUser { .. } => matches!(event, Event::Answered { .. } | Event::Unanswered { .. }),
        Effect::AwaitApproval { .. } => {
            matches!(event, Event::Approved { .. } | Event::Rejected { .. } | Event::Unanswered { .. })
        }
        Effect::Delegate { .. } => matches!(event, Event::Delegated { .. }),
        Effect::Finish { .. } => matches!(event, Event::Acknowledged),
    }
}

const fn event_word(event: &Event) -> &'static str {
    match event {
        Event::Requested { .. } => "requested",
        Event::Ended => "ended",
        Event::Observed { .. } => "observed",
        Event::ObserveFailed { .. } => "observe_failed",
        Event::Replied { .. } => "replied",
        Event::ModelFailed { .. } => "model_failed",
        Event::Returned { .. } => "returned",
        Event::Answered { .. } => "answered",
        Event::Unanswered { .. } => "unanswered",
        Event::Approved { .. } => "approved",
        Event::Rejected { .. } => "rejected",
        Event::Delegated { .. } => "delegated",
        Event::Acknowledged => "acknowledged",
        Event::Stopped { .. } => "stopped",
        Event::Resumed { .. } => "resumed",
    }
}

/// Why an event cannot be used; the checks of [`Session::apply`] leave no way to get here.
pub(super) fn misfit(phase: &'static str, event: &Event) -> String {
    debug_assert!(false, "{phase} got {event:?}");
    format!("the machine was {phase} and got an event that does not fit")
}
