//! The state of a session and its accessors. Only [`super::machine`] and the steps of agents change it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{
    agent_state::{AppAgent, Delegation, HostAgent},
    config::SessionConfig,
    documents::UnsavedDocuments,
    effect::{Effect, EffectRecord, RefusedCommand, StepRef},
    evaluation_state::EvaluationState,
    gate::{Grants, ParkedCommands},
    hands::UserRemarks,
    heard::OutsideContent,
    nested::NestedWorkflows,
    passwords::TypedPassword,
    phases::{ActingStep, ObservedStep, RankingStep, StepStart},
    plan::PlanProgress,
    review::ShadowPolicyReview,
    round::{RoundTally, SpentBudget, SubtaskRecord},
    words::{Foreign, ReturnedTexts, SavedFiles, UserTexts},
};
use crate::{
    agent::{AgentRef, SubtaskWorker},
    blackboard::Blackboard,
    evaluation::Evaluation,
    outcome::Outcome,
    policy::{PathRoots, Policy},
    prompt::PromptSet,
    reply::{AppReply, HostReply, NextSubtask, UserQuestion},
    states::{AppStatus, AppTrigger, HostStatus, next_app},
    target::TargetRegistry,
    workflow::WorkflowExecution,
};
use deskhand_ui::{action::words::CallReportFormatter, ids::EffectId};

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

/// The agent at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionStage {
    /// None; waiting for the next request.
    Idle,
    /// The HostAgent.
    Host(StepPhase<HostReply>),
    /// The AppAgent of a window, or an agent of another kind with steps.
    App(SubtaskWorker, StepPhase<AppReply>),
    /// A delegate agent.
    Delegated(Delegation),
    /// The EvaluationAgent.
    Evaluating(Box<EvaluationState>),
    /// None; the outcome was reported.
    Done(Outcome),
    /// The session has ended.
    Over,
}

/// The current round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RoundState {
    pub(super) request: String,
    pub(super) started_ms: u64,
    pub(super) spent: SpentBudget,
    pub(super) subtasks: Vec<SubtaskRecord>,
    pub(super) failures_in_row: u32,
    /// The sub-tasks that the HostAgent planned ahead; `None` if it has to be asked.
    pub(super) next: Option<VecDeque<NextSubtask>>,
    /// The plan in progress.
    pub(super) following: Option<PlanProgress>,
    /// The workflow in progress.
    #[serde(default)]
    pub(super) performing: Option<WorkflowExecution>,
    /// The workflows that agents run.
    #[serde(default)]
    pub(super) nesting: NestedWorkflows,
    /// Set while any effect since the HostAgent's last decision is unverified.
    pub(super) unverified: bool,
    /// The documents with unsaved changes.
    #[serde(default)]
    pub(super) unsaved: UnsavedDocuments,
    /// Set if the user wrote or did something since the last request to the HostAgent.
    #[serde(default)]
    pub(super) unheard: bool,
}

impl RoundState {
    pub(super) fn new(request: String, started_ms: u64) -> Self {
        Self {
            request,
            started_ms,
            spent: SpentBudget::default(),
            subtasks: Vec::new(),
            failures_in_row: 0,
            next: None,
            following: None,
            performing: None,
            nesting: NestedWorkflows::default(),
            unverified: false,
            unsaved: UnsavedDocuments::default(),
            unheard: false,
        }
    }
}

/// A session: agents, blackboard, and the current step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub(super) config: SessionConfig,
    /// Another policy that the commands are judged by for comparison.
    #[serde(skip)]
    pub(super) review: Option<Box<ShadowPolicyReview>>,
    pub(super) prompts: PromptSet,
    /// Makes the sentences that prompts show of results.
    #[serde(skip)]
    pub(super) wording: CallReportFormatter,
    pub(super) blackboard: Blackboard,
    /// Text that the user has entered.
    #[serde(default)]
    pub(super) said: UserTexts,
    /// Text that the user entered of their own accord.
    #[serde(default)]
    pub(super) words: UserRemarks,
    /// Since when a person has taken over, if they have, in milliseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub(super) taken_over_ms: Option<u64>,
    /// Output of tools and agents.
    #[serde(default)]
    pub(super) returned: ReturnedTexts,
    /// Text received from outside the session.
    #[serde(default)]
    pub(super) heard: OutsideContent,
    /// The texts of files that say what is done and that this user has not made.
    #[serde(default)]
    pub(super) foreign: Foreign,
    /// The files that were saved.
    #[serde(default)]
    pub(super) made: SavedFiles,
    /// The passwords that were typed without a reference.
    #[serde(default)]
    pub(super) passwords: Vec<TypedPassword>,
    /// The dots of all texts that were withheld because their field was not known.
    #[serde(default)]
    pub(super) withheld: Vec<String>,
    pub(super) targets: TargetRegistry,
    pub(super) host: HostAgent,
    pub(super) apps: Vec<AppAgent>,
    pub(super) grants: Grants,
    pub(super) round: RoundState,
    /// Resources used by all rounds.
    pub(super) spent: SpentBudget,
    /// Total time of the finished rounds, in milliseconds.
    pub(super) rounds_ms: u64,
    pub(super) rounds: u32,
    /// The last judgement that returned work to the HostAgent, with its round.
    #[serde(default)]
    pub(super) evaluated: Option<(u32, Evaluation)>,
    pub(super) steps: u32,
    pub(super) now_ms: u64,
    pub(super) stage: SessionStage,
    pub(super) pending: Option<EffectRecord>,
    /// The commands that were refused since the last effect.
    #[serde(default)]
    pub(super) refused: Vec<RefusedCommand>,
    next_effect: u64,
}

impl Session {
    /// A session that waits for its first request.
    pub fn new(config: SessionConfig, prompts: PromptSet) -> Self {
        let targets = TargetRegistry::new(config.agents.clone()).with_workflows(config.workflows.clone());
        let mut session = Self {
            config,
            review: None,
            prompts,
            wording: CallReportFormatter::default(),
            blackboard: Blackboard::default(),
            said: UserTexts::default(),
            words: UserRemarks::default(),
            taken_over_ms: None,
            returned: ReturnedTexts::default(),
            heard: OutsideContent::default(),
            foreign: Foreign::default(),
            made: SavedFiles::default(),
            passwords: Vec::new(),
            withheld: Vec::new(),
            targets,
            host: HostAgent::default(),
            apps: Vec::new(),
            grants: Grants::default(),
            round: RoundState::new(String::new(), 0),
            spent: SpentBudget::default(),
            rounds_ms: 0,
            rounds: 0,
            evaluated: None,
            steps: 0,
            now_ms: 0,
            stage: SessionStage::Idle,
            pending: None,
            refused: Vec::new(),
            next_effect: 1,
        };
        session.want(SessionStage::Idle, None, Effect::AwaitRequest);
        session
    }

    /// The same session with other sentences in its prompts. No decision depends on them.
    #[must_use]
    pub const fn with_wording(mut self, wording: CallReportFormatter) -> Self {
        self.wording = wording;
        self
    }

    /// The policy in force.
    pub const fn policy(&self) -> &Policy {
        &self.config.policy
    }

    /// Returns the directories that paths are relative to.
    pub const fn places(&self) -> &PathRoots {
        &self.config.places
    }

    /// The pending effect; `None` once the session has ended.
    pub fn next(&self) -> Option<&EffectRecord> {
        self.pending.as_ref()
    }

    /// The agent at work.
    pub(super) const fn stage(&self) -> &SessionStage {
        &self.stage
    }

    /// Returns `true` if the session has ended. [`Event::Resumed`] reopens it for another request.
    pub fn has_ended(&self) -> bool {
        self.pending.is_none()
    }

    /// Returns `true` if a round is in progress.
    pub fn in_round(&self) -> bool {
        !matches!(self.stage, SessionStage::Idle | SessionStage::Over)
    }

    /// Returns `true` if the round could go on if the model answered: it is asked for a decision of an agent, not for a judgement, without
    /// which a round can end.
    pub fn needs_model(&self) -> bool {
        matches!(
            self.stage,
            SessionStage::Host(StepPhase::Asking(_)) | SessionStage::App(_, StepPhase::Asking(_))
        )
    }

    /// The resources used by the current round.
    pub fn tally(&self) -> &RoundTally {
        &self.round.spent.tally
    }

    /// The resources used by all rounds.
    pub const fn session_tally(&self) -> &RoundTally {
        &self.spent.tally
    }

    /// The finished sub-tasks of the current round.
    pub fn subtasks(&self) -> &[SubtaskRecord] {
        &self.round.subtasks
    }

    /// The state of the HostAgent.
    pub fn host_status(&self) -> HostStatus {
        self.host.status
    }

    /// The shared memory.
    pub fn blackboard(&self) -> &Blackboard {
        &self.blackboard
    }

    pub(super) fn want(&mut self, stage: SessionStage, step: Option<StepRef>, effect: Effect) {
        self.stage = stage;
        let id = EffectId(self.next_effect);
        self.next_effect = self.next_effect.saturating_add(1);
        let refused = std::mem::take(&mut self.refused);
        self.pending = Some(EffectRecord { id, round: self.rounds, step, effect, refused });
    }

    /// The time of the current round up to the last event, in milliseconds.
    pub fn elapsed_ms(&self) -> u64 {
        self.now_ms.saturating_sub(self.round.started_ms)
    }

    /// The id of the next effect.
    pub(super) const fn next_effect_id(&self) -> EffectId {
        EffectId(self.next_effect)
    }

    /// A step of an agent that has taken so many before.
    pub(super) const fn step_ref(
        &self,
        number: u32,
        agent: AgentRef,
        subtask: String,
        taken: u32,
    ) -> StepRef {
        let round_step = self.round.spent.tally.steps;
        StepRef { number, round_step, agent_step: taken.saturating_add(1), agent, subtask }
    }

    pub(super) fn app(&self, worker: SubtaskWorker) -> Option<&AppAgent> {
        self.apps.iter().find(|app| app.owner.worker() == worker)
    }

    pub(super) fn app_mut(&mut self, worker: SubtaskWorker) -> Option<&mut AppAgent> {
        self.apps.iter_mut().find(|app| app.owner.worker() == worker)
    }

    /// Moves an AppAgent's state.
    pub(super) fn app_moves(&mut self, worker: SubtaskWorker, trigger: AppTrigger) -> AppStatus {
        self.app_mut(worker).map_or(AppStatus::Error, |app| {
            app.status = next_app(app.status, trigger);
            app.status
        })
    }
}
