//! The facts of a session that a table shows, folded from its lines.

use deskhand_core::{
    evaluation::Judgement,
    money::Cost,
    observation::Observation,
    outcome::OutcomeKind,
    record::{Header, Line, Origin, Record},
    session::{Event, EventRecord},
    text::clip,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::story::{Chapter, Doing, Moment, Note, PhaseTimes, RunSummary, Story, Talk, Update, Verdicts};

/// The most requests that are kept of a session; the first ones.
const REQUESTS_MAX: usize = 50;
/// The most characters of the first request, and of each one after it.
const REQUEST_CHARS_MAX: [usize; 2] = [20_000, 2_000];
/// The most characters of the reason of an outcome.
const REASON_CHARS_MAX: usize = 2_000;
/// The most applications, models or workflows that are named of a session.
const NAMES_MAX: usize = 50;

/// What a table shows of a session. It follows from the journal alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// When it was created, in milliseconds since 1970-01-01 UTC.
    pub begun_ms: u64,
    /// When its last record was written, in milliseconds since 1970-01-01 UTC.
    pub last_ms: u64,
    /// The number of complete records.
    pub records: u64,
    /// Whether the session ended, as opposed to its last request.
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
    /// The names of the applications whose windows agents worked in, in order of appearance.
    pub applications: Vec<String>,
    /// The model, as displayed.
    pub model: String,
    /// The models that were asked, by their names at their endpoints.
    pub models: Vec<String>,
    /// The desktop, as displayed.
    pub desktop: String,
    /// The program that wrote the journal last, with its version.
    pub program: String,
    /// Steps of all agents.
    pub steps: u32,
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
    /// Whether the last record is a call without a result: in progress, or broken off.
    pub calling: bool,
    /// The session that this one was forked from.
    #[schemars(schema_with = "crate::schema::origin_or_null")]
    pub origin: Option<Origin>,
    /// The names of the workflows that were run.
    pub workflows: Vec<String>,
    /// The results folder of the batch that it is a part of.
    pub batch: Option<String>,
}

impl Facts {
    /// The facts after some lines of a journal, from its first one.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Self {
        let mut fold = Fold::default();
        lines.into_iter().for_each(|line| fold.read(line));
        fold.facts()
    }

    /// Input and output tokens.
    pub const fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// Whether the last request has no outcome, so that the session can be resumed without another request once no process uses it.
    pub const fn is_broken_off(&self) -> bool {
        self.rounds > 0 && self.outcome.is_none()
    }
}

/// Folds lines into facts. The facts can be asked for after any line.
#[derive(Default)]
pub(super) struct Fold {
    story: Story,
    facts: Facts,
    verdicts: Verdicts,
    waited_ms: u64,
}

impl Fold {
    /// Reads the next line.
    pub(super) fn read(&mut self, line: &Line) {
        let facts = &mut self.facts;
        facts.last_ms = line.at_ms;
        facts.records = line.seq;
        match &line.record {
            Record::Header(header) => begin(facts, header),
            Record::Changed(change) => {
                facts.model.clone_from(&change.model);
                facts.desktop.clone_from(&change.desktop);
                facts.program.clone_from(&change.program);
            }
            Record::Event(record) => came(facts, record),
            Record::Effect(_) => {}
        }
        for update in self.story.read(line) {
            match update {
                Update::Chapter(chapter) => self.chapter(&chapter),
                Update::Moment(moment) => self.moment(&moment),
            }
        }
    }

    /// The facts after the last line.
    pub(super) fn facts(&self) -> Facts {
        let RunSummary { requests, outcome, tally, models, phases, elapsed_ms, .. } = self.story.summary();
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
        facts.steps = tally.steps;
        facts.calls = tally.calls;
        facts.model_calls = tally.model_calls;
        facts.prompt_tokens = tally.prompt_tokens;
        facts.cached_tokens = tally.cached_tokens;
        facts.completion_tokens = tally.completion_tokens;
        facts.cost = tally.cost;
        facts.elapsed_ms = *elapsed_ms;
        facts.phases = *phases;
        facts.calling = matches!(self.story.doing(), Some(Doing::Calling(_) | Doing::Delegating(_)));
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
            Moment::Noted(Note::Suspended(reason)) => {
                self.facts.suspended = Some(clip(&reason.to_string(), REASON_CHARS_MAX));
            }
            Moment::Opened
            | Moment::Assigned(_)
            | Moment::SubtaskEnded { .. }
            | Moment::Replied { .. }
            | Moment::ModelFailed(_)
            | Moment::Acted { .. }
            | Moment::Delegated(_)
            | Moment::Asked(_)
            | Moment::UserReply(_)
            | Moment::Noted(_) => {}
        }
    }

    fn waited(&mut self, talk: &Talk) {
        self.waited_ms = self.waited_ms.saturating_add(talk.waited_ms);
    }
}

fn begin(facts: &mut Facts, header: &Header) {
    facts.begun_ms = header.created_ms;
    facts.model.clone_from(&header.model);
    facts.desktop.clone_from(&header.desktop);
    facts.program.clone_from(&header.program);
    facts.origin.clone_from(&header.forked_from);
    facts.batch = header.setup.get("batch").and_then(|batch| batch.as_str()).map(str::to_owned);
}

fn came(facts: &mut Facts, record: &EventRecord) {
    // What the moment below says of a suspension holds until the next event.
    facts.suspended = None;
    if let Event::Requested { plan: Some(plan), .. } = &record.event
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
