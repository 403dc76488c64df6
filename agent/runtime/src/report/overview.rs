//! The overview of a session in a report, collected in a separate pass before anything is written.
//!
//! Keeps one short entry per step.

use std::collections::BTreeSet;

use deskhand_machine::{
    agent::AgentRef,
    command::CallStatus,
    observation::Observation,
    outcome::{Outcome, OutcomeKind},
    record::JournalHeader,
    states::AppStatus,
};
use deskhand_ui::action::Verdict;
use serde::Serialize;

use super::{
    ReportError,
    words::{ReportTone, note_tone, talk_tone},
};
use crate::{
    journal::{JournalProblem, SessionFolder},
    story::{
        ActStory, AskResult, Chapter, JournalEnd, Meaning, PhaseTimes, RoundStart, RunSummary, SessionNote,
        StepStory, Talk, UserReply, Verdicts, tell,
    },
    words::{effect_word, whole_command_words},
};

/// The overview.
#[derive(Debug)]
pub(super) struct ReportOverview {
    pub(super) header: JournalHeader,
    pub(super) problems: Vec<JournalProblem>,
    pub(super) end: JournalEnd,
    tallied: ReportTotals,
}

/// The totals of the session.
#[derive(Debug, Default)]
pub(super) struct ReportTotals {
    pub(super) summary: RunSummary,
    pub(super) rounds: Vec<RoundLine>,
    pub(super) steps: Vec<OverviewStep>,
    pub(super) subtasks: Vec<SubtaskLine>,
    pub(super) talks: Vec<Talk>,
    pub(super) notes: Vec<SessionNote>,
    pub(super) verdicts: Verdicts,
    /// The time spent waiting for the user, in milliseconds.
    pub(super) waited_ms: u64,
    /// The hashes of the pictures at the start of each step, of those that calls returned, and of those at the end.
    pub(super) pictures: BTreeSet<String>,
    /// The total length of prompts and replies, in bytes.
    pub(super) text_bytes: u64,
}

/// The entry of a round.
#[derive(Debug, Clone)]
pub(super) struct RoundLine {
    pub(super) number: u32,
    pub(super) request: String,
    pub(super) plan: Vec<String>,
    /// The outcome; `None` while it runs or after a crash.
    pub(super) ended: Option<Outcome>,
}

/// The entry of a step.
#[derive(Debug, Clone)]
pub(super) struct OverviewStep {
    pub(super) number: u32,
    pub(super) agent: AgentRef,
    pub(super) title: String,
    pub(super) times: PhaseTimes,
    pub(super) waited_ms: u64,
    pub(super) tone: ReportTone,
}

/// The entry of a sub-task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SubtaskLine {
    pub(super) round: u32,
    pub(super) subtask: String,
    pub(super) agent: AgentRef,
    /// `finished`, `failed`, `rejected`, or how the round ended meanwhile.
    pub(super) status: String,
    pub(super) tone: ReportTone,
    /// The result that the agent reported.
    pub(super) result: String,
    pub(super) first_step: u32,
    pub(super) last_step: u32,
    pub(super) elapsed_ms: u64,
}

/// The tone of a call.
pub(super) fn tone_of(act: &ActStory) -> ReportTone {
    let Some(result) = &act.result else { return ReportTone::Bad };
    match (result.status, result.effect) {
        (CallStatus::Skipped, _) | (CallStatus::Success, None) => ReportTone::Plain,
        (_, Some(Verdict::Refused)) | (CallStatus::Failure, None) => ReportTone::Bad,
        (_, Some(Verdict::NotSeen | Verdict::Unknown)) => ReportTone::Doubtful,
        (_, Some(Verdict::Seen)) => ReportTone::Good,
    }
}

/// A one-word result of a call.
pub(super) fn word_of(act: &ActStory) -> &'static str {
    act.result.as_ref().map_or("no result", effect_word)
}

/// A one-line title of a step.
pub(super) fn title_of(step: &StepStory) -> String {
    let act = |act: &ActStory| {
        whole_command_words(&act.command, act.target.as_ref().map(|target| target.label.as_str()))
    };
    let said = step.decision.as_ref();
    let assigned =
        said.filter(|said| !said.subtask.is_empty()).map(|said| format!("assign “{}”", said.subtask));
    match (assigned, step.acts.as_slice()) {
        (Some(assigned), _) => assigned,
        (None, [only]) => act(only),
        (None, [first, .., last]) => format!("{} … {}", act(first), act(last)),
        (None, []) => said.map_or_else(
            || "no decision".to_owned(),
            |said| match [&said.result, &said.comment, &said.thought].iter().find(|text| !text.is_empty()) {
                Some(text) => format!("{}: {text}", said.status.to_lowercase()),
                None => said.status.to_lowercase(),
            },
        ),
    }
}

/// The tone of a step: the worst of its parts.
pub(super) fn step_tone(step: &StepStory) -> ReportTone {
    let acts = step.acts.iter().map(tone_of);
    let notes = step.notes.iter().map(note_tone);
    let talks = step.talks.iter().map(talk_tone);
    let unusable = step.decision.as_ref().is_some_and(|said| !said.problem.is_empty());
    let failed = step.asks.iter().any(|ask| matches!(ask.result, AskResult::Failure(_)));
    let replies = [(unusable, ReportTone::Doubtful), (failed, ReportTone::Bad)];
    let replies = replies.into_iter().filter_map(|(is, tone)| is.then_some(tone));
    acts.chain(notes).chain(talks).chain(replies).max().unwrap_or(ReportTone::Plain)
}

impl ReportOverview {
    /// Reads a journal.
    pub(super) fn of(folder: &SessionFolder) -> Result<Self, ReportError> {
        let mut tallied = ReportTotals::default();
        let mut open = None;
        let told = tell(folder, |chapter| -> Result<(), ReportError> {
            tallied.add(chapter, &mut open);
            Ok(())
        })?;
        tallied.close(open, None);
        tallied.summary = told.summary;
        Ok(Self { header: told.header, problems: told.problems, end: told.end, tallied })
    }

    /// The outcome of the last round.
    pub(super) fn outcome(&self) -> Option<&Outcome> {
        self.rounds.last()?.ended.as_ref()
    }

    /// The outcome of a round.
    pub(super) fn outcome_of(&self, round: u32) -> Option<&Outcome> {
        self.rounds.iter().find(|line| line.number == round)?.ended.as_ref()
    }

    /// The request of a round.
    pub(super) fn request_of(&self, round: u32) -> &str {
        self.rounds.iter().find(|line| line.number == round).map_or("", |line| line.request.as_str())
    }
}

impl std::ops::Deref for ReportOverview {
    type Target = ReportTotals;

    fn deref(&self) -> &ReportTotals {
        &self.tallied
    }
}

impl ReportTotals {
    fn add(&mut self, chapter: Chapter, open: &mut Option<SubtaskLine>) {
        match chapter {
            Chapter::Begun(RoundStart { round, request, plan }) => {
                self.rounds.push(RoundLine { number: round, request, plan, ended: None });
            }
            Chapter::Step(step) => self.step(&step, open),
            Chapter::Talk(talk) => {
                self.waited_ms = self.waited_ms.saturating_add(talk.waited_ms);
                self.talks.push(talk);
            }
            Chapter::Note(note) => self.notes.push(note),
            Chapter::Ended { round, outcome } => {
                self.close(open.take(), Some(&outcome));
                if let Some(line) = self.rounds.iter_mut().rfind(|line| line.number == round) {
                    line.ended = Some(outcome);
                }
            }
            Chapter::Left { picture, .. } => {
                self.pictures.insert(picture.sha256);
            }
        }
    }

    fn step(&mut self, step: &StepStory, open: &mut Option<SubtaskLine>) {
        self.verdicts.add(step);
        self.waited_ms = self.waited_ms.saturating_add(step.waited_ms);
        self.talks.extend(step.talks.iter().cloned());
        self.notes.extend(step.notes.iter().cloned());
        self.text_bytes = self.text_bytes.saturating_add(text_bytes(step));
        let picture = step.observation.as_ref().and_then(Observation::picture);
        let results = step.acts.iter().filter_map(|act| act.result.as_ref());
        let returned = results.filter_map(|result| result.picture.as_ref());
        self.pictures.extend(picture.into_iter().chain(returned).map(|picture| picture.sha256.clone()));
        self.steps.push(OverviewStep {
            number: step.number,
            agent: step.agent.clone(),
            title: deskhand_ui::text::clip(&title_of(step), 120),
            times: step.times,
            waited_ms: step.waited_ms,
            tone: step_tone(step),
        });
        self.subtask(step, open);
    }

    /// Sub-tasks start and end with the steps that work on them.
    fn subtask(&mut self, step: &StepStory, open: &mut Option<SubtaskLine>) {
        let same = open.as_ref().is_some_and(|line| {
            line.subtask == step.subtask && line.agent == step.agent && line.status.is_empty()
        });
        if !same {
            self.close(open.take(), None);
        }
        if step.subtask.is_empty() {
            return;
        }
        let line = open.get_or_insert_with(|| SubtaskLine {
            round: step.round,
            subtask: step.subtask.clone(),
            agent: step.agent.clone(),
            status: String::new(),
            tone: ReportTone::Plain,
            result: String::new(),
            first_step: step.number,
            last_step: step.number,
            elapsed_ms: 0,
        });
        line.last_step = step.number;
        line.elapsed_ms = line.elapsed_ms.saturating_add(total(&step.times)).saturating_add(step.waited_ms);
        let failed = step
            .acts
            .iter()
            .any(|act| act.result.as_ref().is_none_or(|result| result.status == CallStatus::Failure));
        let said = step.decision.as_ref();
        let rejected = step.talks.iter().any(|talk| talk.reply == Some(UserReply::Rejected(None)));
        let (status, tone) = match said.and_then(|said| said.meaning) {
            Some(Meaning::App(AppStatus::Finish)) if !failed => ("finished", ReportTone::Good),
            Some(Meaning::App(AppStatus::Fail)) => ("failed", ReportTone::Bad),
            _ if rejected => ("rejected", ReportTone::Bad),
            _ => return,
        };
        (line.status, line.tone) = (status.to_owned(), tone);
        line.result = said.map(|said| said.result.clone()).unwrap_or_default();
    }

    /// A sub-task that ends with its round, or because the HostAgent continues.
    fn close(&mut self, open: Option<SubtaskLine>, outcome: Option<&Outcome>) {
        let Some(mut line) = open else { return };
        if line.status.is_empty() {
            let (status, tone) = match outcome {
                Some(outcome) if outcome.kind == OutcomeKind::Finished => ("finished", ReportTone::Good),
                Some(outcome) => (outcome.kind.word(), ReportTone::Bad),
                None => ("abandoned", ReportTone::Bad),
            };
            (line.status, line.tone) = (status.to_owned(), tone);
        }
        self.subtasks.push(line);
    }
}

/// The cost of a step in millionths of a dollar; `None` if partly unknown.
pub(crate) fn cost_of(step: &StepStory) -> Option<u64> {
    let costs = step.asks.iter().map(|ask| match &ask.result {
        AskResult::Reply(_) => ask.cost.map(|cost| cost.0),
        AskResult::Failure(_) | AskResult::Nothing => None,
    });
    costs.sum()
}

/// The total time of all phases.
pub(super) const fn total(times: &PhaseTimes) -> u64 {
    times.observe + times.ask + times.act + times.record
}

fn text_bytes(step: &StepStory) -> u64 {
    use deskhand_machine::model::MessagePart;
    let parts = step.asks.iter().flat_map(|ask| &ask.messages).flat_map(|message| &message.parts);
    let lengths = parts.map(|part| match part {
        MessagePart::Text { text } => text.len() as u64,
        MessagePart::Picture { .. } => 0,
    });
    lengths.sum()
}
