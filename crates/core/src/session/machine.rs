//! The machine: dispatches events, starts and ends rounds, and handles stops.

use serde_json::Value;

use super::{
    agent_state::Owner,
    app::App,
    config::SessionConfig,
    effect::Effect,
    event::{Event, EventRecord, FollowerPlan, Incoming, StopReason, Suspension},
    host::Host,
    phases::Observed,
    plan::Following,
    state::{Round, Session, Stage},
};
use crate::{
    ids::EffectId,
    model::{ModelRequest, ReplyKind},
    outcome::{Outcome, OutcomeKind},
    prompt::PromptSet,
    provenance::Provenance,
    states::{AppTrigger, HostTrigger, next_app, next_host},
    target::TargetRegistry,
};

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
        if let Event::Resumed { desktop_kept } = record.event {
            return self.resume(desktop_kept, record);
        }
        if self.pending.is_none() {
            return Err(ApplyError::Ended);
        }
        if let Event::Stopped { reason } = record.event {
            self.now_ms = self.now_ms.max(record.at_ms);
            self.stop(reason);
            return Ok(());
        }
        if let Event::Suspended { reason } = &record.event {
            self.now_ms = self.now_ms.max(record.at_ms);
            if let Suspension::Model { failure } = reason {
                self.count_model_failure(failure);
                self.ask_again();
            }
            return Ok(());
        }
        if let Event::Disclosed { .. } = record.event {
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
        self.dispatch(Incoming { answers, event: record.event.clone() });
        Ok(())
    }

    /// Handles an answer to the pending effect.
    pub(super) fn dispatch(&mut self, incoming: Incoming) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Idle => {
                if let Event::Requested { text, plan } = incoming.event {
                    self.begin_round(text, plan);
                } else {
                    self.pending = None;
                }
            }
            Stage::Host(phase) => self.step_event(Host, phase, incoming),
            Stage::App(worker, phase) => self.step_event(App(worker), phase, incoming),
            Stage::Delegated(delegation) => self.delegation_event(delegation, incoming.event),
            Stage::Evaluating(evaluating) => self.evaluation_event(*evaluating, incoming.event),
            Stage::Done(_) => self.end_round(),
            Stage::Over => self.pending = None,
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
        self.round = Round::new(request, self.now_ms);
        self.host.begin_round();
        match plan.map(|plan| (plan.workflow, plan.object, plan.steps)) {
            Some((Some(workflow), ..)) => self.begin_workflow(*workflow),
            Some((None, object, steps)) => self.round.following = Some(Following::new(object, steps)),
            None => {}
        }
        if self.round.following.as_ref().is_some_and(Following::is_empty) {
            self.host.moves(HostTrigger::PlanFailed);
            self.finish(OutcomeKind::Failed, "the plan has no steps");
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
        self.want(Stage::Done(outcome.clone()), None, Effect::Finish { outcome });
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
        observed: &Observed,
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
const fn answers(effect: &Effect, event: &Event) -> bool {
    match effect {
        Effect::AwaitRequest => matches!(event, Event::Requested { .. } | Event::Ended),
        Effect::Observe { .. } => matches!(event, Event::Observed { .. } | Event::ObserveFailed { .. }),
        Effect::Rank { .. } => matches!(event, Event::Ranked { .. }),
        Effect::Retrieve { .. } => matches!(event, Event::Retrieved { .. }),
        Effect::Ask { .. } => matches!(event, Event::Replied { .. } | Event::ModelFailed { .. }),
        Effect::Call { .. } => matches!(event, Event::Returned { .. }),
        Effect::AskUser { .. } => matches!(event, Event::Answered { .. } | Event::Unanswered { .. }),
        Effect::AwaitApproval { .. } => {
            matches!(event, Event::Approved { .. } | Event::Rejected { .. } | Event::Unanswered { .. })
        }
        Effect::Delegate { .. } => matches!(event, Event::Delegated { .. }),
        Effect::Finish { .. } => matches!(event, Event::Acknowledged { .. }),
    }
}

const fn event_word(event: &Event) -> &'static str {
    match event {
        Event::Requested { .. } => "requested",
        Event::Ended => "ended",
        Event::Observed { .. } => "observed",
        Event::ObserveFailed { .. } => "observe_failed",
        Event::Ranked { .. } => "ranked",
        Event::Retrieved { .. } => "retrieved",
        Event::Replied { .. } => "replied",
        Event::ModelFailed { .. } => "model_failed",
        Event::Returned { .. } => "returned",
        Event::Answered { .. } => "answered",
        Event::Unanswered { .. } => "unanswered",
        Event::Approved { .. } => "approved",
        Event::Rejected { .. } => "rejected",
        Event::Delegated { .. } => "delegated",
        Event::Acknowledged { .. } => "acknowledged",
        Event::Stopped { .. } => "stopped",
        Event::Suspended { .. } => "suspended",
        Event::Told { .. } => "told",
        Event::TakenOver { .. } => "taken_over",
        Event::HandedBack { .. } => "handed_back",
        Event::Disclosed { .. } => "disclosed",
        Event::Resumed { .. } => "resumed",
    }
}
