//! The tasks of a batch as a table: what became of each, from its result, or from the session that it runs in.

use deskhand_host::{Batch, NotedTask, TaskResult};
use deskhand_runtime::{
    Catalogue,
    catalogue::{CatalogueRow, SessionState},
    words::{duration, local_time},
};
use deskhand_ui::text::clip;
use schemars::JsonSchema;
use serde::Serialize;

use crate::page::{PageService, error::PageApiError};

/// The most batches that are listed: the last ones.
const LISTED_MAX: usize = 100;
/// The most tasks that are shown.
const SHOWN_MAX: usize = 1_000;
/// Maximum length of a displayed request, in characters.
const REQUEST_MAX: usize = 160;

/// A batch of the list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BatchRow {
    /// Its id.
    id: String,
    /// When it began.
    begun: String,
    /// The source of the tasks.
    source: String,
    /// `true` if the batch is running.
    running: bool,
    /// Number of tasks.
    tasks: usize,
    /// Number of tasks that have ended.
    ended: usize,
    /// Number of tasks that finished.
    finished: usize,
}

impl BatchRow {
    /// All batches, the newest first. Blocking.
    ///
    /// # Errors
    /// Their folder cannot be read.
    pub(super) fn all(service: &PageService) -> Result<Vec<Self>, PageApiError> {
        let batches = service.host.batches().list();
        let batches = batches.map_err(|error| PageApiError::failed("list the batches", &error))?;
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
    /// The state of the task: `waiting`, `running`, `not begun`, `interrupted`, or its outcome.
    state: &'static str,
    /// The colour of the state.
    tone: &'static str,
    /// Why it ended so.
    reason: String,
    /// Its session, once that is there.
    session: Option<String>,
    /// The cost of the task.
    cost: String,
    /// The duration of the task.
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
    /// The source of the tasks.
    source: String,
    /// The location of the results.
    results: String,
    /// `true` if the batch is running.
    running: bool,
    /// Number of tasks that run at once.
    parallel: usize,
    /// Number of tasks.
    count: usize,
    /// Number of tasks that have ended.
    ended: usize,
    /// Number of tasks that finished.
    finished: usize,
    /// The cost of all tasks so far, in dollars.
    cost: String,
    /// The first of its tasks.
    tasks: Vec<TaskView>,
    /// Number of further tasks, which are not listed.
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
    let cost_usd = row.as_ref().map_or(0.0, CatalogueRow::cost_usd);
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
