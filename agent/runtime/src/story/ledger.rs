//! The totals of a journal: outcome, counts, tokens, and times by phase.

use deskhand_machine::{
    model::{ModelFailure, ModelReply},
    outcome::Outcome,
    session::RoundTally,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prices::Prices;

/// Wall time by phase, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PhaseTimes {
    /// Phase 1: observing.
    pub observe: u64,
    /// Phase 2: the model.
    pub ask: u64,
    /// Phase 3: acting, including settling.
    pub act: u64,
    /// Phase 4 and the time between: core and journal.
    pub record: u64,
}

impl PhaseTimes {
    /// All phases except the model.
    pub const fn framework(&self) -> u64 {
        self.observe + self.act + self.record
    }
}

/// The totals of a round.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RoundSummary {
    /// The request.
    pub request: String,
    /// The outcome; `None` while it runs or after a crash.
    pub outcome: Option<Outcome>,
    /// The resources used.
    pub tally: RoundTally,
    /// The times by phase, of all steps.
    pub phases: PhaseTimes,
    /// From the request to the last line, in milliseconds.
    pub elapsed_ms: u64,
    #[serde(skip)]
    started_ms: u64,
}

/// The usage of a model by an agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ModelUse {
    /// The agent, as it is named in reports.
    pub agent: String,
    /// The model, as its endpoint and the price table name it.
    pub model: String,
    /// The resources used; the model takes no steps.
    #[serde(flatten)]
    pub tally: RoundTally,
}

/// The totals of a session, as summed up by [`super::Story`].
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RunSummary {
    /// The requests, in order.
    pub requests: Vec<String>,
    /// The outcome of the last round; `None` while it runs or after a crash.
    pub outcome: Option<Outcome>,
    /// The resources used, of all rounds.
    pub tally: RoundTally,
    /// The same by agent and model, in the order in which they were first asked.
    pub models: Vec<ModelUse>,
    /// The times by phase, of all steps.
    pub phases: PhaseTimes,
    /// The rounds, in order.
    pub rounds: Vec<RoundSummary>,
    /// The times by phase of each step, in order.
    pub steps: Vec<PhaseTimes>,
    /// From the first line to the last, in milliseconds, without time when no process ran.
    pub elapsed_ms: u64,
}

/// The phase that time is attributed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LedgerPhase {
    Observe,
    Ask,
    Act,
    Record,
    /// Waiting for the user or for what an agent waits for, or idle.
    Outside,
}

impl PhaseTimes {
    /// Adds time; returns false if it belongs to no phase of a step.
    pub(super) fn spend(&mut self, phase: LedgerPhase, ms: u64) -> bool {
        let time = match phase {
            LedgerPhase::Observe => &mut self.observe,
            LedgerPhase::Ask => &mut self.ask,
            LedgerPhase::Act => &mut self.act,
            LedgerPhase::Record => &mut self.record,
            LedgerPhase::Outside => return false,
        };
        *time = time.saturating_add(ms);
        true
    }
}

impl RunSummary {
    /// Starts a round.
    pub(super) fn begin(&mut self, request: &str, at_ms: u64) {
        self.requests.push(request.to_owned());
        self.outcome = None;
        let request = request.to_owned();
        self.rounds.push(RoundSummary { request, started_ms: at_ms, ..RoundSummary::default() });
    }

    /// Ends the round.
    pub(super) fn end(&mut self, outcome: &Outcome) {
        self.outcome = Some(outcome.clone());
        if let Some(round) = self.rounds.last_mut() {
            round.outcome = Some(outcome.clone());
        }
    }

    /// Advances the time to `at_ms`.
    pub(super) fn passed(&mut self, at_ms: u64) {
        if let Some(round) = self.rounds.last_mut().filter(|round| round.outcome.is_none()) {
            round.elapsed_ms = at_ms.saturating_sub(round.started_ms);
        }
    }

    /// Leaves out time without a process.
    pub(super) fn was_away(&mut self, ms: u64) {
        if let Some(round) = self.rounds.last_mut().filter(|round| round.outcome.is_none()) {
            round.started_ms = round.started_ms.saturating_add(ms);
        }
    }

    /// Counts a model call that was stopped before its reply came; what it used is unknown.
    pub(super) fn asked_in_vain(&mut self) {
        self.tallies().for_each(|tally| {
            tally.model_calls = tally.model_calls.saturating_add(1);
            tally.cost.unknown_calls = tally.cost.unknown_calls.saturating_add(1);
        });
    }

    /// Records a step number, counted across rounds.
    pub(super) fn stepped(&mut self, number: u32) {
        let new = number.saturating_sub(self.tally.steps);
        for tally in self.tallies() {
            tally.steps = tally.steps.saturating_add(new);
        }
    }

    /// Counts a reply to `agent`, and what models failed before it.
    pub(super) fn replied(&mut self, agent: &str, reply: &ModelReply, prices: &Prices) {
        reply.failed.iter().for_each(|failure| self.one_failed(agent, failure, prices));
        let by = reply.by.as_deref();
        let price = prices.of(by).copied();
        let model = Some(prices.name(by)).filter(|name| !name.is_empty()).unwrap_or(&reply.model);
        self.count(agent, model, |tally| tally.add_reply(reply, price.as_ref()));
    }

    /// Counts a question of `agent` that no model answered.
    pub(super) fn model_failed(&mut self, agent: &str, failure: &ModelFailure, prices: &Prices) {
        failure.before.iter().for_each(|before| self.one_failed(agent, before, prices));
        self.one_failed(agent, failure, prices);
    }

    fn one_failed(&mut self, agent: &str, failure: &ModelFailure, prices: &Prices) {
        let by = failure.by.as_deref();
        let price = prices.of(by).copied();
        self.count(agent, prices.name(by), |tally| tally.add_model_failure(failure, price.as_ref()));
    }

    /// Counts what an agent used of a model, here and in the totals.
    fn count(&mut self, agent: &str, model: &str, add: impl Fn(&mut RoundTally)) {
        let is_it = |one: &ModelUse| one.agent == agent && one.model == model;
        if !self.models.iter().any(is_it) {
            let (agent, model) = (agent.to_owned(), model.to_owned());
            self.models.push(ModelUse { agent, model, tally: RoundTally::default() });
        }
        self.models.iter_mut().filter(|one| is_it(one)).for_each(|one| add(&mut one.tally));
        self.tallies().for_each(add);
    }

    pub(super) fn called(&mut self) {
        self.tallies().for_each(|tally| tally.calls = tally.calls.saturating_add(1));
    }

    /// Adds time to a phase of a step.
    pub(super) fn spend(&mut self, step: u32, phase: LedgerPhase, ms: u64) {
        if !self.phases.spend(phase, ms) {
            return;
        }
        if let Some(round) = self.rounds.last_mut() {
            round.phases.spend(phase, ms);
        }
        let number = usize::try_from(step).unwrap_or(usize::MAX);
        let Some(index) = number.checked_sub(1) else { return };
        if self.steps.len() < number {
            self.steps.resize(number, PhaseTimes::default());
        }
        if let Some(times) = self.steps.get_mut(index) {
            times.spend(phase, ms);
        }
    }

    /// The totals to update: session and current round.
    fn tallies(&mut self) -> impl Iterator<Item = &mut RoundTally> {
        std::iter::once(&mut self.tally).chain(self.rounds.last_mut().map(|round| &mut round.tally))
    }

    /// The median framework time of a step (everything but the model), in milliseconds; 0 without steps.
    pub fn framework_ms_per_step_p50(&self) -> u64 {
        let mut times: Vec<u64> = self.steps.iter().map(PhaseTimes::framework).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or(0)
    }
}
