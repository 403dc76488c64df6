//! What a journal adds up to: outcome, counts, tokens, and times by phase.

use deskhand_core::{
    money::Price,
    outcome::Outcome,
    record::{Line, Record},
    session::{Effect, Event, Tally},
};
use serde::Serialize;

/// Wall time by phase, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PhaseTimes {
    /// Phase 1: looking.
    pub observe: u64,
    /// Phase 2: the model.
    pub ask: u64,
    /// Phase 3: acting, with the waits for effects.
    pub act: u64,
    /// Phase 4 and the decisions between: everything that core does, and the journal.
    pub record: u64,
}

impl PhaseTimes {
    /// Everything but the model.
    pub const fn framework(&self) -> u64 {
        self.observe + self.act + self.record
    }
}

/// What one round has come to so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RoundSummary {
    /// The request.
    pub request: String,
    /// How it ended; none while it goes on, or after a crash.
    pub outcome: Option<Outcome>,
    /// What was used up.
    pub tally: Tally,
    /// Times by phase, all steps together.
    pub phases: PhaseTimes,
    /// From the request to the last line, in milliseconds.
    pub elapsed_ms: u64,
    #[serde(skip)]
    started_ms: u64,
}

/// What a session has come to so far. Made by reading the journal's lines in order.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RunSummary {
    /// The requests, in order.
    pub requests: Vec<String>,
    /// How the last round ended; none while it goes on, or after a crash.
    pub outcome: Option<Outcome>,
    /// What was used up, all rounds together.
    pub tally: Tally,
    /// Tokens that the provider took from its cache.
    pub cached_tokens: u64,
    /// Times by phase, all steps together.
    pub phases: PhaseTimes,
    /// The rounds, in order.
    pub rounds: Vec<RoundSummary>,
    /// Times by phase of each step, in order.
    pub steps: Vec<PhaseTimes>,
    /// From the first line to the last, in milliseconds, without the time in which there was no process.
    pub elapsed_ms: u64,
    #[serde(skip)]
    price: Option<Price>,
    #[serde(skip)]
    open: Option<(Phase, usize)>,
    #[serde(skip)]
    away_ms: u64,
    #[serde(skip)]
    first_ms: Option<u64>,
    #[serde(skip)]
    last_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Observe,
    Ask,
    Act,
    /// Waiting for a person, or nothing to do.
    Outside,
}

impl RunSummary {
    /// Adds up some lines.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Self {
        let mut summary = Self::default();
        for line in lines {
            summary.add(line);
        }
        summary
    }

    /// Adds the next line.
    pub fn add(&mut self, line: &Line) {
        let first = *self.first_ms.get_or_insert(line.at_ms);
        let since_last = line.at_ms.saturating_sub(if self.last_ms == 0 { first } else { self.last_ms });
        self.last_ms = line.at_ms;
        self.elapsed_ms = line.at_ms.saturating_sub(first).saturating_sub(self.away_ms);
        match &line.record {
            Record::Header(header) => {
                self.price = header.config.prices.find(&header.config.model).copied();
            }
            Record::Changed(change) => {
                self.price = change.config.prices.find(&change.config.model).copied();
            }
            // The time without a process is nobody's.
            Record::Event(record) if matches!(record.event, Event::Resumed { .. }) => {
                self.away_ms = self.away_ms.saturating_add(since_last);
                self.elapsed_ms = self.elapsed_ms.saturating_sub(since_last);
                self.open = None;
            }
            Record::Effect(record) => {
                // Between an event and the next effect, core worked and the journal was written.
                if let Some((_, step)) = self.open {
                    self.count(step, |times| &mut times.record, since_last);
                }
                let phase = match &record.effect {
                    Effect::Observe { .. } => Phase::Observe,
                    Effect::Ask { .. } => Phase::Ask,
                    Effect::Call { .. } => Phase::Act,
                    // Work like a call, only further away.
                    Effect::Delegate { .. } => Phase::Act,
                    Effect::AwaitRequest
                    | Effect::AskUser { .. }
                    | Effect::AwaitApproval { .. }
                    | Effect::Finish { .. } => Phase::Outside,
                };
                if let Effect::Finish { outcome } = &record.effect {
                    self.outcome = Some(outcome.clone());
                    if let Some(round) = self.rounds.last_mut() {
                        round.outcome = Some(outcome.clone());
                    }
                }
                self.open = record.step.as_ref().map(|step| (phase, step.number as usize));
                self.stepped(record.step.as_ref().map_or(0, |step| step.number));
            }
            Record::Event(record) => {
                if let Some((phase, step)) = self.open {
                    match phase {
                        Phase::Observe => self.count(step, |times| &mut times.observe, since_last),
                        Phase::Ask => self.count(step, |times| &mut times.ask, since_last),
                        Phase::Act => self.count(step, |times| &mut times.act, since_last),
                        Phase::Outside => {}
                    }
                }
                self.event(&record.event, line.at_ms);
            }
        }
        if let Some(round) = self.rounds.last_mut().filter(|round| round.outcome.is_none()) {
            round.elapsed_ms = line.at_ms.saturating_sub(round.started_ms);
        }
    }

    /// Notes the number of a step; it counts through all rounds.
    fn stepped(&mut self, number: u32) {
        let new = number.saturating_sub(self.tally.steps);
        for tally in self.tallies() {
            tally.steps = tally.steps.saturating_add(new);
        }
    }

    /// What counts: the session, and the round that is going on.
    fn tallies(&mut self) -> impl Iterator<Item = &mut Tally> {
        std::iter::once(&mut self.tally).chain(self.rounds.last_mut().map(|round| &mut round.tally))
    }

    fn event(&mut self, event: &Event, at_ms: u64) {
        let price = self.price;
        match event {
            Event::Requested { text, .. } => {
                self.requests.push(text.clone());
                self.outcome = None;
                let request = text.clone();
                self.rounds.push(RoundSummary { request, started_ms: at_ms, ..RoundSummary::default() });
            }
            Event::Replied { reply } => {
                self.tallies().for_each(|tally| tally.add_reply(reply, price.as_ref()));
                self.cached_tokens += reply.usage.cached_tokens.unwrap_or(0);
            }
            Event::ModelFailed { failure } => {
                self.tallies().for_each(|tally| tally.add_model_failure(failure, price.as_ref()));
            }
            Event::Returned { .. } => {
                self.tallies().for_each(|tally| tally.calls = tally.calls.saturating_add(1));
            }
            Event::Ended
            | Event::Observed { .. }
            | Event::ObserveFailed { .. }
            | Event::Answered { .. }
            | Event::Unanswered { .. }
            | Event::Approved { .. }
            | Event::Delegated { .. }
            | Event::Rejected { .. }
            | Event::Acknowledged
            | Event::Stopped { .. }
            | Event::Resumed { .. } => {}
        }
    }

    fn count(&mut self, step: usize, field: impl Fn(&mut PhaseTimes) -> &mut u64, ms: u64) {
        *field(&mut self.phases) += ms;
        if let Some(round) = self.rounds.last_mut() {
            *field(&mut round.phases) += ms;
        }
        if self.steps.len() < step {
            self.steps.resize(step, PhaseTimes::default());
        }
        if let Some(times) = step.checked_sub(1).and_then(|index| self.steps.get_mut(index)) {
            *field(times) += ms;
        }
    }

    /// The median framework time of a step (everything but the model), in milliseconds; 0 without steps.
    pub fn framework_ms_per_step_p50(&self) -> u64 {
        let mut times: Vec<u64> = self.steps.iter().map(PhaseTimes::framework).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or(0)
    }
}
