//! The machine: dispatches events, starts and ends rounds, and handles stops.

use serde_json::Value;

use super::{
    agent_state::Owner,
    app::App,
    config::SessionConfig,
    effect::Effect,
    event::{EventRecord, FollowerPlan, IncomingEvent, SessionEvent, StopReason, Suspension},
    host::HostAgentKind,
    phases::ObservedStep,
    plan::PlanProgress,
    state::{RoundState, Session, SessionStage},
};
use crate::{
    model::{ModelRequest, ReplyKind},
    outcome::{Outcome, OutcomeKind},
    prompt::PromptSet,
    provenance::Provenance,
    states::{AppTrigger, HostTrigger, next_app, next_host},
    target::TargetRegistry,
};
use deskhand_ui::ids::EffectId;

/// An event that the session cannot accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The session has ended.
    #[error("the session has ended and accepts no further event")]
    Ended,
    /// The event answers another effect than the pending one.
    #[error("the event answers effect {came:?}, but effect {wanted} is pending")]
    OtherEffect {
        /// The pending effect.
        wanted: EffectId,
        /// The effect that the event names.
        came: Option<EffectId>,
    },
    /// The event is not an answer to the pending effect.
    #[error("the event `{came}` does not answer effect {wanted}")]
    NoAnswer {
        /// The pending effect.
        wanted: EffectId,
        /// The kind of the event.
        came: &'static str,
    },
}

impl Session {
    /// Changes the configuration and the prompts from the next step on.
    pub fn change(&mut self, config: SessionConfig, prompts: PromptSet) {
        let windows = self.targets.windows().to_vec();
        let targets = TargetRegistry::new(config.agents.clone());
        self.targets = targets.with_workflows(config.workflows.clone());
        self.targets.set_windows(windows);
        let targets = &self.targets;
        self.apps.retain(|app| match &app.owner {
            Owner::Window(_) => true,
            Owner::Agent(id, name) => targets.agent(*id).is_some_and(|agent| agent.name == *name),
        });
        self.config = config;
        self.prompts = prompts;
    }

    /// Applies an event. On an error the machine is unchanged.
    ///
    /// # Errors
    /// [`ApplyError`] if the event does not answer the pending effect.
    pub fn apply(&mut self, record: &EventRecord) -> Result<(), ApplyError> {
        if let SessionEvent::Resumed { desktop_kept } = record.event {
            return self.resume(desktop_kept, record);
        }
        if self.pending.is_none() {
            return Err(ApplyError::Ended);
        }
        if let SessionEvent::Stopped { reason } = record.event {
            self.now_ms = self.now_ms.max(record.at_ms);
            self.stop(reason);
            return Ok(());
        }
        if let SessionEvent::Suspended { reason } = &record.event {
            self.now_ms = self.now_ms.max(record.at_ms);
            if let Suspension::Model { failure } = reason {
                self.count_model_failure(failure);
                self.ask_again();
            }
            return Ok(());
        }
        if let SessionEvent::Disclosed { .. } = record.event {
            self.now_ms = self.now_ms.max(record.at_ms);
            self.take_passwords(record);
            return Ok(());
        }
        if self.is_of_person(record) {
            return Ok(());
        }
        let pending = self.pending.as_ref().ok_or(ApplyError::Ended)?;
        if record.effect != Some(pending.id) {
            return Err(ApplyError::OtherEffect { wanted: pending.id, came: record.effect });
        }
        if !answers(&pending.effect, &record.event) {
            return Err(ApplyError::NoAnswer { wanted: pending.id, came: event_word(&record.event) });
        }
        self.now_ms = self.now_ms.max(record.at_ms);
        let answers = pending.id;
        self.take_passwords(record);
        self.dispatch(IncomingEvent { answers, event: record.event.clone() });
        Ok(())
    }

    /// Handles an answer to the pending effect.
    pub(super) fn dispatch(&mut self, incoming: IncomingEvent) {
        match std::mem::replace(&mut self.stage, SessionStage::Over) {
            SessionStage::Idle => {
                if let SessionEvent::Requested { text, plan } = incoming.event {
                    self.begin_round(text, plan);
                } else {
                    self.pending = None;
                }
            }
            SessionStage::Host(phase) => self.step_event(HostAgentKind, phase, incoming),
            SessionStage::App(worker, phase) => self.step_event(App(worker), phase, incoming),
            SessionStage::Delegated(delegation) => self.delegation_event(delegation, incoming.event),
            SessionStage::Evaluating(evaluating) => self.evaluation_event(*evaluating, incoming.event),
            SessionStage::Done(_) => self.end_round(),
            SessionStage::Over => self.pending = None,
        }
    }

    fn begin_round(&mut self, request: String, plan: Option<FollowerPlan>) {
        self.rounds = self.rounds.saturating_add(1);
        let texts = plan.iter().flat_map(|plan| plan.object.iter().chain(&plan.steps));
        let texts: Vec<String> = std::iter::once(&request).chain(texts).cloned().collect();
        let made_by = plan.as_ref().map_or(Provenance::Made, FollowerPlan::made_by);
        if made_by.is_users() {
            texts.iter().for_each(|text| self.said.add(text));
        } else {
            self.foreign.add("the task, whose file you have not made or trusted".to_owned(), &texts);
        }
        let plan = plan.filter(|plan| !plan.is_request_alone());
        self.round = RoundState::new(request, self.now_ms);
        self.host.begin_round();
        match plan.map(|plan| (plan.workflow, plan.object, plan.steps)) {
            Some((Some(workflow), ..)) => self.begin_workflow(*workflow),
            Some((None, object, steps)) => self.round.following = Some(PlanProgress::new(object, steps)),
            None => {}
        }
        if self.round.following.as_ref().is_some_and(PlanProgress::is_empty) {
            self.host.moves(HostTrigger::PlanFailed);
            self.finish(OutcomeKind::Failed, "the plan has no steps");
        } else {
            self.begin_step(HostAgentKind);
        }
    }

    fn end_round(&mut self) {
        let request = std::mem::take(&mut self.round.request);
        self.blackboard.add_request(&request);
        self.rounds_ms = self.rounds_ms.saturating_add(self.elapsed_ms());
        self.round.started_ms = self.now_ms;
        self.want(SessionStage::Idle, None, Effect::AwaitRequest);
    }

    /// Ends the round, after an evaluation if it finished and evaluations are enabled.
    pub(super) fn finish(&mut self, kind: OutcomeKind, reason: impl Into<String>) {
        let reason = reason.into();
        // A workflow is judged by its steps.
        let is_judged = kind == OutcomeKind::Finished && self.round.performing.is_none();
        if !is_judged || !self.begin_evaluation(&reason) {
            self.conclude(Outcome::new(kind, reason));
        }
    }

    /// Reports the outcome of the round. A round that was continued after an evaluation keeps that judgement.
    pub(super) fn conclude(&mut self, mut outcome: Outcome) {
        if outcome.kind == OutcomeKind::Finished {
            outcome.unsaved = self.round.unsaved.names();
        }
        outcome.workflow = self.workflow_end().map(Box::new);
        outcome.nested = self.nested_ends();
        if outcome.evaluation.is_none() {
            outcome.evaluation = self.repair_of_round().cloned();
        }
        let (request, round) = (self.round.request.clone(), self.rounds);
        self.host.memory.end(round, &request, outcome.kind.word(), &outcome.reason);
        self.want(SessionStage::Done(outcome.clone()), None, Effect::Finish { outcome });
    }

    /// Ends the round with a system error: the HostAgent's state is ERROR.
    pub(super) fn break_off(&mut self, reason: impl Into<String>) {
        self.host.status = next_host(self.host.status, HostTrigger::Broke);
        self.finish(OutcomeKind::Error, reason);
    }

    /// Ends the round because a budget is exhausted.
    pub(super) fn exhaust(&mut self, reason: String) {
        self.stop_agents();
        self.finish(OutcomeKind::BudgetExhausted, reason);
    }

    fn stop(&mut self, reason: StopReason) {
        match self.stage {
            SessionStage::Idle | SessionStage::Over => {
                self.stage = SessionStage::Over;
                self.pending = None;
            }
            SessionStage::Done(_) => {}
            SessionStage::Evaluating(_) => {
                if let SessionStage::Evaluating(evaluating) =
                    std::mem::replace(&mut self.stage, SessionStage::Over)
                {
                    self.evaluation_stopped(&evaluating);
                }
            }
            SessionStage::Host(_) | SessionStage::App(..) | SessionStage::Delegated(_) => {
                self.stop_agents();
                match reason {
                    StopReason::WallTime => {
                        let reason = self.time_is_up();
                        self.finish(OutcomeKind::BudgetExhausted, reason);
                    }
                    StopReason::User => self.finish(OutcomeKind::Cancelled, "stopped by the user"),
                    StopReason::Signal => {
                        self.finish(OutcomeKind::Cancelled, "stopped by a termination signal");
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

    /// The model request, or why it may not be sent.
    pub(super) fn model_request(
        &self,
        (reply, schema): (ReplyKind, Value),
        observed: &ObservedStep,
    ) -> Result<ModelRequest, String> {
        let application = observed.observation.application().map(|app| app.name.as_str());
        // A model that repairs texts may not see what an operator works in.
        let repairs = observed.repairs > 0 && reply != ReplyKind::Operator;
        let mut request = ModelRequest {
            agent: observed.step.agent.clone(),
            messages: observed.messages.clone(),
            reply,
            schema,
            completion_tokens_max: match observed.offer {
                Some(_) => self.config.limits.completion_tokens_max.min(SMALL_REPLY_TOKENS_MAX),
                None => self.config.limits.completion_tokens_max,
            },
            attempts_max: 0,
            models: self.config.roles.of(&observed.step.agent, application, repairs).to_vec(),
        };
        request.attempts_max = self.requests_allowed(&request)?;
        Ok(request)
    }
}

/// The most tokens of a small model's reply: one that repeats itself is stopped soon.
const SMALL_REPLY_TOKENS_MAX: u32 = 400;

/// Returns `true` if an event answers an effect.
const fn answers(effect: &Effect, event: &SessionEvent) -> bool {
    match effect {
        Effect::AwaitRequest => matches!(event, SessionEvent::Requested { .. } | SessionEvent::Ended),
        Effect::Observe { .. } => {
            matches!(event, SessionEvent::Observed { .. } | SessionEvent::ObserveFailed { .. })
        }
        Effect::Rank { .. } => matches!(event, SessionEvent::Ranked { .. }),
        Effect::Retrieve { .. } => matches!(event, SessionEvent::Retrieved { .. }),
        Effect::Ask { .. } => {
            matches!(event, SessionEvent::Replied { .. } | SessionEvent::ModelFailed { .. })
        }
        Effect::Call { .. } => matches!(event, SessionEvent::Returned { .. }),
        Effect::AskUser { .. } => {
            matches!(event, SessionEvent::Answered { .. } | SessionEvent::Unanswered { .. })
        }
        Effect::AwaitApproval { .. } => {
            matches!(
                event,
                SessionEvent::Approved { .. }
                    | SessionEvent::Rejected { .. }
                    | SessionEvent::Unanswered { .. }
            )
        }
        Effect::Delegate { .. } => matches!(event, SessionEvent::Delegated { .. }),
        Effect::Finish { .. } => matches!(event, SessionEvent::Acknowledged { .. }),
    }
}

const fn event_word(event: &SessionEvent) -> &'static str {
    match event {
        SessionEvent::Requested { .. } => "requested",
        SessionEvent::Ended => "ended",
        SessionEvent::Observed { .. } => "observed",
        SessionEvent::ObserveFailed { .. } => "observe_failed",
        SessionEvent::Ranked { .. } => "ranked",
        SessionEvent::Retrieved { .. } => "retrieved",
        SessionEvent::Replied { .. } => "replied",
        SessionEvent::ModelFailed { .. } => "model_failed",
        SessionEvent::Returned { .. } => "returned",
        SessionEvent::Answered { .. } => "answered",
        SessionEvent::Unanswered { .. } => "unanswered",
        SessionEvent::Approved { .. } => "approved",
        SessionEvent::Rejected { .. } => "rejected",
        SessionEvent::Delegated { .. } => "delegated",
        SessionEvent::Acknowledged { .. } => "acknowledged",
        SessionEvent::Stopped { .. } => "stopped",
        SessionEvent::Suspended { .. } => "suspended",
        SessionEvent::Told { .. } => "told",
        SessionEvent::TakenOver { .. } => "taken_over",
        SessionEvent::HandedBack { .. } => "handed_back",
        SessionEvent::Disclosed { .. } => "disclosed",
        SessionEvent::Resumed { .. } => "resumed",
    }
}
