//! The facts of a session that a table shows, folded from its lines.

use std::collections::BTreeMap;

use deskhand_machine::{
    command::ToolCommand,
    evaluation::Judgement,
    money::Cost,
    observation::Observation,
    outcome::OutcomeKind,
    record::{ForkOrigin, JournalEntry, JournalHeader, JournalRecord},
    session::{EventRecord, SessionEvent},
};
use deskhand_ui::text::{clip, one_line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::story::{
    Chapter, ModelUse, Moment, PhaseTimes, RoundSummary, RunSummary, SessionActivity, SessionNote, Story,
    StoryUpdate, Talk, UserInquiry, Verdicts,
};

/// The most requests that are kept of a session; the first ones.
const REQUESTS_MAX: usize = 50;
/// The most characters of the first request, and of each one after it.
const REQUEST_CHARS_MAX: [usize; 2] = [20_000, 2_000];
/// The most characters of the reason of an outcome.
const REASON_CHARS_MAX: usize = 2_000;
/// The most applications, models or workflows that are named of a session.
const NAMES_MAX: usize = 50;

/// The times by which steps are counted, in milliseconds.
pub const STEP_BOUNDS_MS: [u64; 9] = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 120_000];

/// The times by which requests are counted, in milliseconds.
pub const REQUEST_BOUNDS_MS: [u64; 8] =
    [10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 3_600_000, 10_800_000];

/// Usage of one model in a session, all agents together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelTotals {
    /// The model, by its name at its endpoint.
    pub model: String,
    /// Requests, including failed ones and retries.
    pub model_calls: u32,
    /// Input tokens, as far as reported.
    pub prompt_tokens: u64,
    /// Output tokens, as far as reported.
    pub completion_tokens: u64,
    /// The cost, as far as it is known.
    #[schemars(schema_with = "crate::schema::cost")]
    pub cost: Cost,
}

impl ModelTotals {
    fn add(all: &mut Vec<Self>, used: &ModelUse) {
        let place = all.iter().position(|known| known.model == used.model).unwrap_or(all.len());
        if place == all.len() && place < NAMES_MAX {
            all.push(Self { model: used.model.clone(), ..Self::default() });
        }
        let Some(totals) = all.get_mut(place) else { return };
        totals.model_calls = totals.model_calls.saturating_add(used.tally.model_calls);
        totals.prompt_tokens = totals.prompt_tokens.saturating_add(used.tally.prompt_tokens);
        totals.completion_tokens = totals.completion_tokens.saturating_add(used.tally.completion_tokens);
        totals.cost.known.0 = totals.cost.known.0.saturating_add(used.tally.cost.known.0);
        totals.cost.unknown_calls = totals.cost.unknown_calls.saturating_add(used.tally.cost.unknown_calls);
    }
}

/// Counts the requests that have an outcome.
fn requests_done(facts: &mut SessionFacts, rounds: &[RoundSummary]) {
    let done = || rounds.iter().filter_map(|round| Some((round.outcome.as_ref()?.kind, round.elapsed_ms)));
    facts.request_times = counted(&REQUEST_BOUNDS_MS, done().map(|(_, ms)| ms));
    facts.request_ms = done().map(|(_, ms)| ms).sum();
    for (kind, _) in done() {
        let count = facts.outcomes.entry(kind.word().to_owned()).or_default();
        *count = count.saturating_add(1);
    }
}

/// Counts times by bounds.
fn counted<const N: usize>(bounds: &[u64], times: impl Iterator<Item = u64>) -> [u32; N] {
    let mut counts = [0_u32; N];
    for took in times {
        let place = bounds.iter().position(|bound| took <= *bound).unwrap_or(bounds.len());
        if let Some(count) = counts.get_mut(place) {
            *count = count.saturating_add(1);
        }
    }
    counts
}

/// Facts of a session for a table. They follow from the journal alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionFacts {
    /// When it was created, in milliseconds since 1970-01-01 UTC.
    pub begun_ms: u64,
    /// When its last record was written, in milliseconds since 1970-01-01 UTC.
    pub last_ms: u64,
    /// The number of complete records.
    pub records: u64,
    /// `true` if the session ended, as opposed to its last request.
    pub ended: bool,
    /// The requests, in order: at most 50, long ones are cut.
    pub requests: Vec<String>,
    /// The number of all requests.
    pub rounds: u32,
    /// The outcome of the last request; `None` while it is worked on, or if it was broken off.
    #[schemars(schema_with = "crate::schema::outcome_or_null")]
    pub outcome: Option<OutcomeKind>,
    /// The reason of the outcome; empty without one.
    pub reason: String,
    /// The evaluation of the last request, if there was one.
    #[schemars(schema_with = "crate::schema::judgement_or_null")]
    pub evaluation: Option<Judgement>,
    /// Why the session was suspended, if its last record says so.
    pub suspended: Option<String>,
    /// Open question to the user if the session runs: an action that waits for an approval, or a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<SessionQuestion>,
    /// The names of the applications whose windows agents worked in, in order of appearance.
    pub applications: Vec<String>,
    /// The model, as displayed.
    pub model: String,
    /// The models that were asked, by their names at their endpoints.
    pub models: Vec<String>,
    /// Usage of each model.
    pub used: Vec<ModelTotals>,
    /// The desktop, as displayed.
    pub desktop: String,
    /// The program that wrote the journal last, with its version.
    pub program: String,
    /// Steps of all agents.
    pub steps: u32,
    /// Durations of the completed steps as a histogram: each is counted at the first of [`STEP_BOUNDS_MS`] that it
    /// does not exceed, or behind the last.
    pub step_times: [u32; STEP_BOUNDS_MS.len() + 1],
    /// Durations of the requests that have an outcome, as a histogram by [`REQUEST_BOUNDS_MS`].
    pub request_times: [u32; REQUEST_BOUNDS_MS.len() + 1],
    /// The time of these requests, in milliseconds.
    pub request_ms: u64,
    /// These requests by the word of their outcome.
    pub outcomes: BTreeMap<String, u32>,
    /// Commands sent.
    pub calls: u32,
    /// Model requests, including failed ones and retries.
    pub model_calls: u32,
    /// Input tokens, as far as reported.
    pub prompt_tokens: u64,
    /// Of these, tokens from a provider's cache.
    pub cached_tokens: u64,
    /// Output tokens, as far as reported.
    pub completion_tokens: u64,
    /// The cost of the model, as far as it is known.
    #[schemars(schema_with = "crate::schema::cost")]
    pub cost: Cost,
    /// From the first record to the last, in milliseconds, without time when no process ran.
    pub elapsed_ms: u64,
    /// The times by phase, of all steps.
    pub phases: PhaseTimes,
    /// The time spent waiting for the user in questions and approvals, in milliseconds.
    pub waited_ms: u64,
    /// Calls by result. A call in progress is not counted.
    pub verdicts: Verdicts,
    /// `true` if the last record is a call without a result: in progress, or broken off.
    pub calling: bool,
    /// The session that this one was forked from.
    #[schemars(schema_with = "crate::schema::origin_or_null")]
    pub origin: Option<ForkOrigin>,
    /// The names of the workflows that were run.
    pub workflows: Vec<String>,
    /// The results folder of the batch that it is a part of.
    pub batch: Option<String>,
}

impl SessionFacts {
    /// The facts after some lines of a journal, from its first one.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a JournalEntry>) -> Self {
        let mut fold = SessionFactsFold::default();
        lines.into_iter().for_each(|line| fold.read(line));
        fold.facts()
    }

    /// Input and output tokens.
    pub const fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// Returns `true` if the last request has no outcome, so that the session can be resumed without another request once no process uses it.
    pub const fn is_broken_off(&self) -> bool {
        self.rounds > 0 && self.outcome.is_none()
    }
}

/// Open question of a session to its user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionQuestion {
    /// `approval` or `question`.
    pub kind: String,
    /// The action or the question; long ones are cut.
    pub what: String,
}

impl SessionQuestion {
    fn of(asked: &UserInquiry) -> Self {
        let (kind, what) = match asked {
            UserInquiry::Approval(approval) => {
                let commands: Vec<String> = approval.commands.iter().map(ToolCommand::to_line).collect();
                ("approval", commands.join(", "))
            }
            UserInquiry::Questions(questions) => {
                let texts: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
                ("question", texts.join(" · "))
            }
        };
        Self { kind: kind.to_owned(), what: clip(&one_line(&what), REASON_CHARS_MAX) }
    }

    /// The same in words: `waits for your approval: …`.
    pub fn words(&self) -> String {
        let begin = if self.kind == "approval" { "waits for your approval" } else { "has a question" };
        format!("{begin}: {}", self.what)
    }
}

/// Folds lines into facts. The facts can be asked for after any line.
#[derive(Default)]
pub(super) struct SessionFactsFold {
    story: Story,
    facts: SessionFacts,
    verdicts: Verdicts,
    waited_ms: u64,
}

impl SessionFactsFold {
    /// Reads the next line.
    pub(super) fn read(&mut self, line: &JournalEntry) {
        let facts = &mut self.facts;
        facts.last_ms = line.at_ms;
        facts.records = line.seq;
        match &line.record {
            JournalRecord::Header(header) => begin(facts, header),
            JournalRecord::Changed(change) => {
                facts.model.clone_from(&change.model);
                facts.desktop.clone_from(&change.desktop);
                facts.program.clone_from(&change.program);
            }
            JournalRecord::Event(record) => came(facts, record),
            JournalRecord::Effect(_) => {}
        }
        for update in self.story.read(line) {
            match update {
                StoryUpdate::Chapter(chapter) => self.chapter(&chapter),
                StoryUpdate::Moment(moment) => self.moment(&moment),
            }
        }
    }

    /// The facts after the last line.
    pub(super) fn facts(&self) -> SessionFacts {
        let summary = self.story.summary();
        let RunSummary { requests, outcome, tally, models, phases, elapsed_ms, steps, .. } = summary;
        let mut facts = self.facts.clone();
        facts.ended = self.story.is_complete();
        facts.rounds = u32::try_from(requests.len()).unwrap_or(u32::MAX);
        let [first_max, max] = REQUEST_CHARS_MAX;
        let cut =
            |(place, request): (usize, &String)| clip(request, if place == 0 { first_max } else { max });
        facts.requests = requests.iter().take(REQUESTS_MAX).enumerate().map(cut).collect();
        facts.outcome = outcome.as_ref().map(|outcome| outcome.kind);
        facts.reason =
            outcome.as_ref().map(|outcome| clip(&outcome.reason, REASON_CHARS_MAX)).unwrap_or_default();
        let evaluation = outcome.as_ref().and_then(|outcome| outcome.evaluation.as_ref());
        facts.evaluation = evaluation.map(|evaluation| evaluation.complete);
        models.iter().for_each(|used| name(&mut facts.models, &used.model));
        models.iter().for_each(|used| ModelTotals::add(&mut facts.used, used));
        facts.steps = tally.steps;
        let over = steps.len().saturating_sub(usize::from(self.story.step().is_some()));
        let took = |step: &PhaseTimes| step.framework().saturating_add(step.ask);
        facts.step_times = counted(&STEP_BOUNDS_MS, steps.iter().take(over).map(took));
        requests_done(&mut facts, &summary.rounds);
        facts.calls = tally.calls;
        facts.model_calls = tally.model_calls;
        facts.prompt_tokens = tally.prompt_tokens;
        facts.cached_tokens = tally.cached_tokens;
        facts.completion_tokens = tally.completion_tokens;
        facts.cost = tally.cost;
        facts.elapsed_ms = *elapsed_ms;
        facts.phases = *phases;
        facts.calling =
            matches!(self.story.doing(), Some(SessionActivity::Calling(_) | SessionActivity::Delegating(_)));
        facts.verdicts = self.verdicts;
        facts.waited_ms = self.waited_ms;
        if let Some(step) = self.story.step() {
            facts.verdicts.add(step);
            facts.waited_ms =
                facts.waited_ms.saturating_add(step.talks.iter().map(|talk| talk.waited_ms).sum());
            let in_progress = u32::from(facts.calling);
            facts.verdicts.unknown = facts.verdicts.unknown.saturating_sub(in_progress);
        }
        facts
    }

    fn chapter(&mut self, chapter: &Chapter) {
        match chapter {
            Chapter::Step(step) => {
                self.verdicts.add(step);
                step.talks.iter().for_each(|talk| self.waited(talk));
            }
            Chapter::Talk(talk) => self.waited(talk),
            Chapter::Ended { outcome, .. } => {
                let ends = outcome.workflow.as_deref().into_iter().chain(&outcome.nested);
                ends.for_each(|end| name(&mut self.facts.workflows, &end.name));
            }
            Chapter::Begun(_) | Chapter::Note(_) | Chapter::Left { .. } => {}
        }
    }

    fn moment(&mut self, moment: &Moment) {
        match moment {
            Moment::Looked => {
                let application = self.story.observation().and_then(Observation::application);
                if let Some(application) = application {
                    name(&mut self.facts.applications, &application.name);
                }
            }
            Moment::Noted(SessionNote::Suspended(reason)) => {
                self.facts.suspended = Some(clip(&reason.to_string(), REASON_CHARS_MAX));
            }
            Moment::Asked(asked) => self.facts.asks = Some(SessionQuestion::of(asked)),
            Moment::Opened
            | Moment::Assigned(_)
            | Moment::SubtaskEnded { .. }
            | Moment::Replied { .. }
            | Moment::ModelFailed(_)
            | Moment::Acted { .. }
            | Moment::Delegated(_)
            | Moment::UserReply(_)
            | Moment::Noted(_) => {}
        }
    }

    fn waited(&mut self, talk: &Talk) {
        self.waited_ms = self.waited_ms.saturating_add(talk.waited_ms);
    }
}

fn begin(facts: &mut SessionFacts, header: &JournalHeader) {
    facts.begun_ms = header.created_ms;
    facts.model.clone_from(&header.model);
    facts.desktop.clone_from(&header.desktop);
    facts.program.clone_from(&header.program);
    facts.origin.clone_from(&header.forked_from);
    facts.batch = header.setup.get("batch").and_then(|batch| batch.as_str()).map(str::to_owned);
}

fn came(facts: &mut SessionFacts, record: &EventRecord) {
    // What the moment below says of a suspension holds until the next event.
    facts.suspended = None;
    // Words of the user answer nothing.
    if !matches!(record.event, SessionEvent::Told { .. }) {
        facts.asks = None;
    }
    if let SessionEvent::Requested { plan: Some(plan), .. } = &record.event
        && let Some(run) = &plan.workflow
    {
        name(&mut facts.workflows, &run.workflow.name);
    }
}

/// Adds a name to a list, once.
fn name(names: &mut Vec<String>, name: &str) {
    if !name.is_empty() && names.len() < NAMES_MAX && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
