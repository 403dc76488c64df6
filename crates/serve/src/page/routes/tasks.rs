//! The tasks of a batch as a table: what became of each, from its result, or from the session that it runs in.

use deskhand_core::text::clip;
use deskhand_host::{Batch, NotedTask, TaskResult};
use deskhand_runtime::{
    Catalogue,
    catalogue::{Row, SessionState},
    words::{duration, local_time},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::page::{Service, error::PageError};

/// The most batches that are listed: the last ones.
const LISTED_MAX: usize = 100;
/// The most tasks that are shown.
const SHOWN_MAX: usize = 1_000;
/// How much of a request is shown, in characters.
const REQUEST_MAX: usize = 160;

/// A batch of the list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BatchRow {
    /// Its id.
    id: String,
    /// When it began.
    begun: String,
    /// Where its tasks stand.
    source: String,
    /// Whether it runs.
    running: bool,
    /// How many tasks it has.
    tasks: usize,
    /// How many of these have ended.
    ended: usize,
    /// How many of these finished.
    finished: usize,
}

impl BatchRow {
    /// All batches, the newest first. Blocking.
    ///
    /// # Errors
    /// Their folder cannot be read.
    pub(super) fn all(service: &Service) -> Result<Vec<Self>, PageError> {
        let batches = service.host.batches().list();
        let batches = batches.map_err(|error| PageError::failed("list the batches", &error))?;
        Ok(batches.iter().take(LISTED_MAX).map(Self::of).collect())
    }

    fn of(batch: &Batch) -> Self {
        let results = batch.note.results();
        Self {
            id: batch.id.clone(),
            begun: local_time(batch.note.begun_ms),
            source: batch.note.source.display().to_string(),
            running: batch.is_running,
            tasks: batch.note.tasks.len(),
            ended: results.len(),
            finished: results.values().filter(|result| result.exit_code == 0).count(),
        }
    }
}

/// A task of a batch.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BatchTask")]
pub(super) struct TaskView {
    /// Its id.
    id: String,
    /// Its request.
    request: String,
    /// How far it is: `waiting`, `running`, `not begun`, `interrupted`, or its outcome.
    state: &'static str,
    /// How that is coloured.
    tone: &'static str,
    /// Why it ended so.
    reason: String,
    /// Its session, once that is there.
    session: Option<String>,
    /// What it cost.
    cost: String,
    /// How long it took.
    took: String,
}

/// A batch with its tasks.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Batch")]
pub(super) struct BatchTable {
    /// Its id.
    id: String,
    /// When it began.
    begun: String,
    /// Where its tasks stand.
    source: String,
    /// Where its results stand.
    results: String,
    /// Whether it runs.
    running: bool,
    /// How many tasks run at once.
    parallel: usize,
    /// How many tasks it has.
    count: usize,
    /// How many of these have ended.
    ended: usize,
    /// How many of these finished.
    finished: usize,
    /// What all of them cost so far, in dollars.
    cost: String,
    /// The first of its tasks.
    tasks: Vec<TaskView>,
    /// How many more there are than are shown.
    more: usize,
}

impl BatchTable {
    /// The number of all tasks.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Returns `true` if the batch runs.
    pub(super) const fn is_running(&self) -> bool {
        self.running
    }

    /// The table of a batch. Blocking.
    pub(super) fn of(batch: &Batch, catalogue: &Catalogue) -> Self {
        let note = &batch.note;
        let results = note.results();
        let mut cost_usd = 0.0;
        let views = note.tasks.iter().map(|task| {
            let (view, cost) = view(task, results.get(&task.id), batch.is_running, catalogue);
            cost_usd += cost;
            view
        });
        let mut tasks: Vec<TaskView> = views.collect();
        let more = tasks.len().saturating_sub(SHOWN_MAX);
        tasks.truncate(SHOWN_MAX);
        Self {
            id: batch.id.clone(),
            begun: local_time(note.begun_ms),
            source: note.source.display().to_string(),
            results: note.results.display().to_string(),
            running: batch.is_running,
            parallel: note.parallel,
            count: note.tasks.len(),
            ended: results.len(),
            finished: results.values().filter(|result| result.exit_code == 0).count(),
            cost: format!("${cost_usd:.2}"),
            tasks,
            more,
        }
    }
}

/// A task, and what it cost in dollars.
fn view(task: &NotedTask, result: Option<&TaskResult>, runs: bool, catalogue: &Catalogue) -> (TaskView, f64) {
    let session = result.and_then(|result| result.session_id.as_ref()).or(task.session.as_ref());
    let row = session.and_then(|session| catalogue.row(session));
    let state = match (result, &row) {
        (Some(result), _) => result.outcome.word(),
        (None, Some(row)) => match row.state {
            SessionState::Running => "running",
            SessionState::Queued => "waiting",
            // Its result is about to be written.
            SessionState::Ended | SessionState::Interrupted if runs => "running",
            SessionState::Ended | SessionState::Interrupted => "interrupted",
        },
        (None, None) if runs => "waiting",
        (None, None) => "not begun",
    };
    let tone = match (result, state) {
        (Some(result), _) if result.exit_code == 0 => "good",
        (Some(_), _) => "bad",
        (None, "interrupted" | "not begun") => "doubtful",
        (None, _) => "plain",
    };
    let cost_usd = row.as_ref().map_or(0.0, Row::cost_usd);
    let elapsed = result.map(|result| result.elapsed_ms).or(row.as_ref().map(|row| row.facts.elapsed_ms));
    let view = TaskView {
        id: task.id.clone(),
        request: clip(&task.request, REQUEST_MAX),
        state,
        tone,
        reason: result.map(|result| result.reason.clone()).unwrap_or_default(),
        session: row.as_ref().map(|row| row.id.to_owned()),
        cost: row.as_ref().map(|_| format!("${cost_usd:.2}")).unwrap_or_default(),
        took: elapsed.map(duration).unwrap_or_default(),
    };
    (view, cost_usd)
}
