//! The ledgers of a session: its data, each kind with an owner that alone changes it.

use serde::{Deserialize, Serialize};

use super::{
    budget::BudgetLedger, config::SessionConfig, effect::StepRef, effects::EffectLedger, grants::Grants,
    hiding::Values, password::TypedPassword, passwords::PasswordLedger, people::PeopleLedger,
    planned_work::PlannedWork, review::ShadowPolicyReview, roster::AgentRoster, round_ledger::RoundLedger,
    sources::SourceLedger,
};
use crate::{
    agent::AgentRef,
    blackboard::Blackboard,
    model::{ModelFailure, ModelReply},
    observation::Observation,
    prompt::{Marks, PromptSet},
    target::TargetRegistry,
};
use deskhand_ui::{action::words::CallReportFormatter, secret::SecretPermit};

/// The data of a session. Machines take the ledgers that they need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ledgers {
    pub(super) config: SessionConfig,
    pub(super) prompts: PromptSet,
    /// Makes the sentences that prompts show of results.
    #[serde(skip)]
    pub(super) wording: CallReportFormatter,
    /// Another policy that the commands are judged by for comparison.
    #[serde(skip)]
    pub(super) review: Option<Box<ShadowPolicyReview>>,
    pub(super) budget: BudgetLedger,
    pub(super) effects: EffectLedger,
    pub(super) grants: Grants,
    pub(super) people: PeopleLedger,
    pub(super) sources: SourceLedger,
    pub(super) passwords: PasswordLedger,
    pub(super) blackboard: Blackboard,
    pub(super) targets: TargetRegistry,
    pub(super) agents: AgentRoster,
    pub(super) round: RoundLedger,
    pub(super) plans: PlannedWork,
}

impl Ledgers {
    /// The ledgers of a new session.
    pub(super) fn new(config: SessionConfig, prompts: PromptSet) -> Self {
        let targets = TargetRegistry::new(config.agents.clone()).with_workflows(config.workflows.clone());
        Self {
            config,
            prompts,
            wording: CallReportFormatter::default(),
            review: None,
            budget: BudgetLedger::default(),
            effects: EffectLedger::default(),
            grants: Grants::default(),
            people: PeopleLedger::default(),
            sources: SourceLedger::default(),
            passwords: PasswordLedger::default(),
            blackboard: Blackboard::default(),
            targets,
            agents: AgentRoster::default(),
            round: RoundLedger::default(),
            plans: PlannedWork::default(),
        }
    }

    /// Begins a round.
    pub(super) fn begin_round(&mut self, request: String) {
        self.round.begin(request);
        self.plans = PlannedWork::default();
        self.budget.begin_round();
        self.agents.host_mut().begin_round();
    }

    /// Takes a step and returns its number.
    ///
    /// # Errors
    /// The reason, if no step is left.
    pub(super) fn take_step(&mut self) -> Result<u32, String> {
        self.budget.take_step(&self.config, self.plans.is_nested())
    }

    /// Why neither a step nor a model call is possible; `None` if both may be.
    pub(super) fn no_budget(&self) -> Option<String> {
        self.budget.no_budget(&self.config, self.plans.is_nested())
    }

    /// Counts a reply to the pending request.
    pub(super) fn count_reply(&mut self, reply: &ModelReply) {
        self.budget.count_reply(&self.config, self.effects.asked(), reply);
    }

    /// Counts the failure of the pending request.
    pub(super) fn count_model_failure(&mut self, failure: &ModelFailure) {
        self.budget.count_model_failure(&self.config, self.effects.asked(), failure);
    }

    /// Takes in what an agent sees.
    pub(super) fn see(&mut self, observation: &Observation) {
        self.round.see(observation);
        self.sources.see(observation);
    }

    /// A step of an agent that has taken so many before.
    pub(super) const fn step_ref(
        &self,
        number: u32,
        agent: AgentRef,
        subtask: String,
        taken: u32,
    ) -> StepRef {
        let round_step = self.budget.tally().steps;
        StepRef { number, round_step, agent_step: taken.saturating_add(1), agent, subtask }
    }

    /// The marks of prompts on this occasion.
    pub(super) fn marks(&self, occasion: &str) -> Marks {
        Marks::of(&self.config.marks_secret, occasion)
    }

    /// The marks in questions to small models: the same ones for a whole session, because the worked examples have them, too.
    pub(super) fn small_marks(&self) -> Marks {
        self.marks("small models")
    }

    /// The permits for typing secrets: those of the configuration, and passwords that were typed before.
    pub(super) fn secrets(&self) -> Vec<SecretPermit> {
        self.passwords.permits(&self.config.secrets)
    }

    /// Takes in passwords that were typed, and puts dots in the place of those in `values`.
    pub(super) fn take_passwords(&mut self, passwords: &[TypedPassword], values: &Values) {
        self.passwords.add_typed(passwords);
        if values.is_empty() {
            return;
        }
        self.people.hide(values);
        super::hiding::hide(&mut self.blackboard, values);
        self.sources.hide(values);
        self.agents.hide(values);
        self.round.hide(values);
        self.plans.hide(values);
        self.grants.hide(values);
    }
}
