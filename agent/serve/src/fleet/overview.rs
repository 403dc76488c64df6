//! All tasks of a fleet as rows of the table of sessions: what the records say, and nothing of their journals.

use std::collections::BTreeMap;

use deskhand_fleet::{
    holder::{CANCELS, LEASES, OUTCOMES, QUESTIONS, TASKS},
    journal::{TaskOutcome, WorkerId},
    nats::RecordChange,
    plan::{OutcomeRecord, TaskResultFacts},
    signed::FleetSignature,
    task::{TaskId, TaskRecord, TaskSpec},
};
use deskhand_machine::outcome::OutcomeKind;
use deskhand_runtime::catalogue::{self, SessionRow, SessionState};
use deskhand_ui::text::clip;

use super::{FLEET, view::FleetResult};

/// The records that are followed.
pub const FOLLOWED: [&str; 5] = [TASKS, LEASES, OUTCOMES, CANCELS, QUESTIONS];
/// Maximum length of a request and of a reason that are stored for search, in characters.
const TEXT_CHARS_MAX: usize = 2_000;
/// The longest name of a worker that is shown, in characters.
const NAME_CHARS_MAX: usize = 100;
/// The largest record of a cancellation that is looked at, in bytes.
const CANCEL_BYTES_MAX: usize = 4_096;
/// The place of a session that no worker has.
const NOWHERE: &str = "fleet";
/// The state text of a session that waits for a person's answer.
pub const ASKS: &str = "waits for an answer";
/// Number of bytes that follow the name of a worker in that of its process: `-` and a UUID.
const START_BYTES: usize = 37;

/// The tasks of a fleet as far as their records were read.
#[derive(Debug, Default)]
pub struct FleetOverview {
    tasks: BTreeMap<TaskId, OverviewTask>,
}

/// The current state of a task.
#[derive(Debug)]
struct OverviewTask {
    /// Set once the task's own record was read; only then is the task displayed.
    is_told: bool,
    is_ended: bool,
    /// Who has it, or had it last.
    worker: Option<WorkerId>,
    /// Who signed it, and what the record says that somebody wants it no more.
    signed: Option<FleetSignature>,
    cancel: Option<Vec<u8>>,
    /// The number of the open question to a person; no other question has it.
    asks: Option<u64>,
    /// Number of times the open question has changed.
    questions: u64,
    row: SessionRow,
}

/// The location and state of a task, for its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    /// Who has it, or had it last.
    pub worker: Option<WorkerId>,
    /// `true` if the task has an outcome.
    pub is_ended: bool,
    /// `true` if cancellation of the task was requested.
    pub is_cancelled: bool,
    /// The number of the open question to a person; no other question has it.
    pub asks: Option<u64>,
}

impl Whereabouts {
    /// In words.
    pub fn words(&self) -> String {
        let place = match (&self.worker, self.is_ended) {
            (_, true) => "ended".to_owned(),
            (Some(worker), false) => format!("with {}", name_of(worker)),
            (None, false) => "queued".to_owned(),
        };
        if self.is_cancelled { format!("{place}, cancelled") } else { place }
    }
}

impl OverviewTask {
    fn new(id: &TaskId) -> Self {
        let row = SessionRow {
            id: format!("{FLEET}{id}"),
            state: SessionState::Queued,
            place: NOWHERE.to_owned(),
            cost_usd: 0.0,
            facts: catalogue::SessionFacts::default(),
        };
        Self {
            is_told: false,
            is_ended: false,
            worker: None,
            signed: None,
            cancel: None,
            asks: None,
            questions: 0,
            row,
        }
    }

    /// Returns `true` if somebody wants it no more who may say so.
    fn is_cancelled(&self, id: &TaskId) -> bool {
        let spec = || TaskSpec { signed: self.signed.clone(), ..TaskSpec::new(id.clone()) };
        self.cancel.as_ref().is_some_and(|cancel| spec().is_cancelled_by(cancel))
    }

    fn task(&mut self, record: TaskRecord, at_ms: u64) {
        let facts = &mut self.row.facts;
        let TaskRecord { spec, released } = record;
        let request = spec.work.pointer("/task/request").and_then(|request| request.as_str());
        facts.requests = vec![clip(request.unwrap_or_default(), TEXT_CHARS_MAX)];
        facts.rounds = 1;
        if !self.is_ended && self.worker.is_none() {
            facts.reason = match spec.for_each.as_ref().and_then(|table| table.rows) {
                Some(rows) => format!("stands for {rows} rows"),
                None if released > 0 => "waits for a worker".to_owned(),
                None if spec.after.is_empty() => "waits for its turn".to_owned(),
                None => "waits for other tasks".to_owned(),
            };
        }
        self.signed = spec.signed;
        if !self.is_told && facts.begun_ms == 0 {
            facts.begun_ms = at_ms;
        }
        self.is_told = true;
    }

    fn lease(&mut self, worker: WorkerId, at_ms: u64) -> bool {
        if self.worker.as_ref() == Some(&worker) {
            return false;
        }
        if !self.is_ended {
            self.row.place = clip(name_of(&worker), NAME_CHARS_MAX);
            (self.row.state, self.row.facts.begun_ms) = (SessionState::Running, at_ms);
            self.row.facts.reason.clear();
        }
        self.worker = Some(worker);
        true
    }

    fn question(&mut self, is_asked: bool) {
        self.questions = self.questions.wrapping_add(1);
        self.asks = Some(self.questions).filter(|_| is_asked && !self.is_ended);
        if !self.is_ended {
            self.row.facts.reason = if is_asked { ASKS.to_owned() } else { String::new() };
        }
    }

    fn outcome(&mut self, outcome: &TaskOutcome, at_ms: u64) {
        self.is_ended = true;
        self.asks = None;
        let facts = &mut self.row.facts;
        facts.last_ms = at_ms;
        let reason;
        (self.row.state, facts.outcome, reason) = ending_of(outcome);
        facts.reason = clip(&reason, TEXT_CHARS_MAX);
        if let TaskOutcome::Done { result, .. } = outcome
            && let Ok(FleetResult { result, worker, .. }) = serde_json::from_value(result.clone())
        {
            self.row.place = clip(name_of(&WorkerId(worker)), NAME_CHARS_MAX);
            (facts.steps, facts.calls, facts.model_calls) = (result.steps, result.calls, result.model_calls);
            (facts.prompt_tokens, facts.completion_tokens) = (result.prompt_tokens, result.completion_tokens);
            (facts.cost, facts.elapsed_ms) = (result.cost, result.elapsed_ms);
            facts.begun_ms = at_ms.saturating_sub(result.elapsed_ms);
        }
        self.row.cost_usd = self.row.as_row().cost_usd();
    }
}

/// Returns the state of a session with this outcome, how it ended, and why.
pub fn ending_of(outcome: &TaskOutcome) -> (SessionState, Option<OutcomeKind>, String) {
    let ended = |kind, reason: String| (SessionState::Ended, Some(kind), reason);
    match outcome {
        TaskOutcome::Done { .. } => {
            let TaskResultFacts { outcome, reason, .. } = TaskResultFacts::of(outcome);
            let kind = OutcomeKind::ALL.into_iter().find(|kind| kind.word() == outcome);
            (SessionState::Ended, kind, reason)
        }
        TaskOutcome::Failed { reason } => ended(OutcomeKind::Error, format!("cannot be done: {reason}")),
        TaskOutcome::Refused { reason } => ended(OutcomeKind::Rejected, format!("refused: {reason}")),
        TaskOutcome::DeadLetter { reason } => ended(OutcomeKind::Error, format!("put aside: {reason}")),
        TaskOutcome::Person { reason } => {
            (SessionState::Interrupted, None, format!("somebody has to decide: {reason}"))
        }
        TaskOutcome::Cancelled => ended(OutcomeKind::Cancelled, "cancelled".to_owned()),
        TaskOutcome::Expired { reason } => ended(OutcomeKind::BudgetExhausted, format!("expired: {reason}")),
        TaskOutcome::OverBudget { reason } => {
            ended(OutcomeKind::BudgetExhausted, format!("never begun: {reason}"))
        }
        TaskOutcome::Blocked { by } => {
            ended(OutcomeKind::Failed, format!("never begun: {by} did not finish"))
        }
    }
}

/// The name that a worker was given, without what its start adds.
pub fn name_of(worker: &WorkerId) -> &str {
    let name = worker.0.len().checked_sub(START_BYTES).and_then(|at| worker.0.split_at_checked(at));
    match name {
        Some((name, start)) if start.starts_with('-') && !name.is_empty() => name,
        Some(_) | None => &worker.0,
    }
}

impl FleetOverview {
    /// Takes in what a record says; returns whether anything is different.
    pub fn learn(&mut self, change: RecordChange) -> bool {
        let RecordChange { key, value, at_ms, .. } = change;
        let Some((prefix, id)) =
            FOLLOWED.iter().find_map(|prefix| Some((*prefix, key.strip_prefix(prefix)?)))
        else {
            return false;
        };
        let Ok(id) = TaskId::new(id) else { return false };
        let known = self.tasks.entry(id.clone()).or_insert_with(|| OverviewTask::new(&id));
        match (prefix, value) {
            (TASKS, Some(value)) => match TaskRecord::stored_as(&id, &value) {
                Some(record) => known.task(record, at_ms),
                None => return false,
            },
            (LEASES, Some(value)) => {
                return known.lease(WorkerId(String::from_utf8_lossy(&value).into_owned()), at_ms);
            }
            (OUTCOMES, Some(value)) => match serde_json::from_slice::<OutcomeRecord>(&value) {
                Ok(record) => known.outcome(&record.outcome, at_ms),
                Err(_) => return false,
            },
            (CANCELS, value) => known.cancel = value.filter(|value| value.len() <= CANCEL_BYTES_MAX),
            (QUESTIONS, value) => known.question(value.is_some_and(|value| !value.is_empty())),
            (TASKS, None) => {
                self.tasks.remove(&id);
            }
            _ => return false,
        }
        true
    }

    /// The rows, the last id first.
    pub fn rows(&self) -> impl Iterator<Item = &SessionRow> {
        self.tasks.values().rev().filter(|known| known.is_told).map(|known| &known.row)
    }

    /// The row of a task.
    pub fn row(&self, task: &TaskId) -> Option<&SessionRow> {
        self.tasks.get(task).filter(|known| known.is_told).map(|known| &known.row)
    }

    /// Returns the location and state of a task; `None` if there is none of this id.
    pub fn whereabouts(&self, task: &TaskId) -> Option<Whereabouts> {
        let known = self.tasks.get(task).filter(|known| known.is_told)?;
        Some(Whereabouts {
            worker: known.worker.clone(),
            is_ended: known.is_ended,
            is_cancelled: known.is_cancelled(task),
            asks: known.asks,
        })
    }
}

#[cfg(test)]
#[path = "overview_tests.rs"]
mod tests;
