//! What a session holds: data, and the accessors that everything above it uses. How events move it is the business of
//! [`super::machine`], of the steps of its agents, and of nothing else.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{
    agent_state::{AppAgent, Delegation, HostAgent},
    config::SessionConfig,
    effect::{Effect, EffectRecord, StepRef},
    evaluation_state::Evaluating,
    gate::{Grants, Parked},
    phases::{Acting, Observed, Replied, StepStart},
    plan::Following,
    round::{Spent, SubtaskRecord, Tally},
};
use crate::{
    agent::Worker,
    blackboard::Blackboard,
    evaluation::Evaluation,
    ids::EffectId,
    outcome::Outcome,
    prompt::PromptSet,
    reply::{AppReply, HostReply, NextSubtask, Question},
    states::{AppStatus, AppTrigger, HostStatus, next_app},
    target::TargetRegistry,
};

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
    pub(super) fn new(request: String, started_ms: u64) -> Self {
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

    pub(super) fn app(&self, worker: Worker) -> Option<&AppAgent> {
        self.apps.iter().find(|app| app.owner.worker() == worker)
    }

    pub(super) fn app_mut(&mut self, worker: Worker) -> Option<&mut AppAgent> {
        self.apps.iter_mut().find(|app| app.owner.worker() == worker)
    }

    /// Moves an AppAgent's machine.
    pub(super) fn app_moves(&mut self, worker: Worker, trigger: AppTrigger) -> AppStatus {
        self.app_mut(worker).map_or(AppStatus::Error, |app| {
            app.status = next_app(app.status, trigger);
            app.status
        })
    }
}
