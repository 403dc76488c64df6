//! States and results of the tasks of a fleet.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deskhand_fleet::{
    holder::{LEASES, OUTCOMES, TASKS, cancel_key, lease_key, outcome_key, task_key},
    journal::{TaskJournalEntries, TaskJournalEntry, TaskOutcome, WorkerId},
    nats::NatsStore,
    plan::{FleetSummary, OutcomeRecord, TaskAttempt, TaskUsage, attempts},
    signed::FleetSignature,
    store::{FleetStore as _, StoreError},
    task::{TaskId, TaskRecord},
};
use deskhand_host::TaskResult;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};

/// The most tasks that are read one by one.
const NAMED_MAX: usize = 100;
/// Maximum number of tasks read at once.
const NAMED_AT_ONCE: usize = 16;

/// The result of a task of a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetResult {
    /// The result, as in a batch.
    #[serde(flatten)]
    pub result: TaskResult,
    /// Who did it to its end.
    pub worker: String,
    /// Its documents as they are now: names, and the hashes under which they are stored.
    pub documents: BTreeMap<String, String>,
}

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TaskState {
    /// Tasks before it are not finished, or its label has no room.
    Waits,
    /// The task waits for a worker that has what it needs.
    Queued,
    /// The task stands for the rows of a table, whose tasks have not all ended.
    Rows {
        /// Number of rows.
        rows: u32,
        /// Number of row tasks that have ended.
        ended: u32,
    },
    /// A worker has it.
    Held {
        /// Which one.
        worker: String,
    },
    /// The task has an outcome.
    Ended {
        /// The outcome.
        outcome: TaskOutcome,
    },
}

/// A task and where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetTaskRow {
    /// Its id.
    pub id: TaskId,
    /// The state of the task.
    #[serde(flatten)]
    pub state: TaskState,
    /// Its labels.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<String>,
    /// Its batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// `true` if the task stands for the rows of a table.
    #[serde(skip)]
    pub has_rows: bool,
    /// The usage of the task, once it has an outcome.
    pub used: TaskUsage,
    /// The tries before the last one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<TaskAttempt>,
}

/// Number of tasks in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All.
    pub tasks: usize,
    /// Waiting for other tasks, or for room of a label.
    pub waiting: usize,
    /// Waiting for a worker.
    pub queued: usize,
    /// Held by a worker.
    pub held: usize,
    /// Finished.
    pub finished: usize,
    /// Ended otherwise.
    pub unfinished: usize,
}

impl Counts {
    /// The counts of these tasks.
    pub fn of(rows: &[FleetTaskRow]) -> Self {
        let mut counts = Self { tasks: rows.len(), ..Self::default() };
        for row in rows {
            *counts.of_state(&row.state) += 1;
        }
        counts
    }

    /// Returns the counter of tasks in this state.
    pub(super) const fn of_state(&mut self, state: &TaskState) -> &mut usize {
        match state {
            TaskState::Waits | TaskState::Rows { .. } => &mut self.waiting,
            TaskState::Queued => &mut self.queued,
            TaskState::Held { .. } => &mut self.held,
            TaskState::Ended { outcome: TaskOutcome::Done { finished: true, .. } } => &mut self.finished,
            TaskState::Ended { .. } => &mut self.unfinished,
        }
    }

    /// The counts that a leading controller tells.
    pub fn told(summary: &FleetSummary) -> Self {
        let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let FleetSummary { tally, held, .. } = summary;
        let held = (*held).min(tally.released);
        Self {
            tasks: number(tally.tasks()),
            waiting: number(tally.waiting),
            queued: number(tally.released - held),
            held: number(held),
            finished: number(tally.finished),
            unfinished: number(tally.unfinished),
        }
    }

    /// Returns the number of tasks without an outcome.
    pub const fn open(&self) -> usize {
        self.waiting + self.queued + self.held
    }
}

/// All tasks, sorted by their ids.
///
/// # Errors
/// The server does not answer.
pub async fn tasks(store: &NatsStore) -> Result<Vec<FleetTaskRow>, StoreError> {
    let tasks = store.records(TASKS).await?;
    let leases = by_id(store.records(LEASES).await?, LEASES);
    let outcomes = by_id(store.records(OUTCOMES).await?, OUTCOMES);
    let outcomes: BTreeMap<String, OutcomeRecord> = outcomes
        .into_iter()
        .filter_map(|(id, value)| Some((id, serde_json::from_slice(&value).ok()?)))
        .collect();
    let tasks: Vec<TaskRecord> = tasks
        .into_iter()
        .filter_map(|record| {
            let task: TaskRecord = serde_json::from_slice(&record.value).ok()?;
            (task_key(&task.spec.id) == record.key).then_some(task)
        })
        .collect();
    let mut ended: HashMap<TaskId, u32> = HashMap::new();
    for task in tasks.iter().filter(|task| outcomes.contains_key(task.spec.id.as_str())) {
        if let Some(group) = &task.spec.row_of {
            *ended.entry(group.clone()).or_default() += 1;
        }
    }
    let rows = tasks.into_iter().map(|task| {
        let outcome = outcomes.get(task.spec.id.as_str()).cloned();
        let holder =
            leases.get(task.spec.id.as_str()).map(|value| String::from_utf8_lossy(value).into_owned());
        let ended = ended.get(&task.spec.id).copied().unwrap_or_default();
        row(task, outcome, holder, ended)
    });
    Ok(rows.collect())
}

/// A task and where it is, with how many tasks of its rows have ended.
pub(super) fn row(
    task: TaskRecord,
    outcome: Option<OutcomeRecord>,
    holder: Option<String>,
    ended: u32,
) -> FleetTaskRow {
    let TaskRecord { spec, released } = task;
    let rows = spec.for_each.as_ref().and_then(|table| table.rows);
    let (used, attempts) = match &outcome {
        Some(record) => (record.used(), record.attempts.clone()),
        None => (TaskUsage::default(), Vec::new()),
    };
    let state = match (outcome, rows, holder, released) {
        (Some(record), ..) => TaskState::Ended { outcome: record.outcome },
        (None, Some(rows), ..) => TaskState::Rows { rows, ended },
        (None, None, Some(worker), _) => TaskState::Held { worker },
        (None, None, None, 0) => TaskState::Waits,
        (None, None, None, _) => TaskState::Queued,
    };
    FleetTaskRow {
        state,
        labels: spec.labels,
        batch: spec.batch,
        has_rows: spec.for_each.is_some(),
        used,
        attempts,
        id: spec.id,
    }
}

/// As [`selected`] of all tasks, without reading all if few are named. A server that is behind the others may answer, by a moment.
///
/// # Errors
/// The server does not answer.
pub async fn named(
    store: &NatsStore,
    ids: &[String],
) -> Result<(Vec<FleetTaskRow>, Vec<String>), StoreError> {
    if (1..=NAMED_MAX).contains(&ids.len()) {
        let rows = stream::iter(ids).map(|id| one(store, id)).buffered(NAMED_AT_ONCE);
        let rows: Vec<Option<FleetTaskRow>> = rows.try_collect().await?;
        let rows: Option<Vec<FleetTaskRow>> = rows.into_iter().collect();
        if let Some(mut rows) = rows {
            rows.sort_by(|one, other| one.id.cmp(&other.id));
            rows.dedup_by(|one, other| one.id == other.id);
            return Ok((rows, Vec::new()));
        }
    }
    Ok(selected(tasks(store).await?, ids))
}

/// A task, without reading all of them; `None` if that does not say where it is.
async fn one(store: &NatsStore, id: &str) -> Result<Option<FleetTaskRow>, StoreError> {
    let Ok(id) = TaskId::new(id) else { return Ok(None) };
    let Some(record) = store.get(&task_key(&id)).await? else { return Ok(None) };
    let Some(task) = TaskRecord::stored_as(&id, &record.value) else { return Ok(None) };
    let outcome = store.get(&outcome_key(&id)).await?;
    let outcome = outcome.and_then(|record| record.read::<OutcomeRecord>());
    let has_open_rows = task.spec.for_each.as_ref().is_some_and(|table| table.rows.is_some());
    if outcome.is_none() && has_open_rows {
        return Ok(None);
    }
    let holder = store.get(&lease_key(&id)).await?;
    let holder = holder.map(|record| String::from_utf8_lossy(&record.value).into_owned());
    Ok(Some(row(task, outcome, holder, 0)))
}

fn by_id(records: Vec<deskhand_fleet::store::FleetRecord>, prefix: &str) -> BTreeMap<String, Vec<u8>> {
    let named = records.into_iter().filter_map(|record| {
        let id = record.key.strip_prefix(prefix)?.to_owned();
        Some((id, record.value))
    });
    named.collect()
}

/// Says that a task is not wanted any more: its worker ends it, or the first that is given it. That of a signed task is signed, too.
///
/// # Errors
/// The server does not answer.
pub async fn cancel(
    store: &NatsStore,
    task: &TaskId,
    signed: Option<&FleetSignature>,
) -> Result<(), StoreError> {
    let value = signed.map(serde_json::to_vec).transpose();
    let value = value.map_err(|error| StoreError::Unknown(error.to_string()))?.unwrap_or_default();
    // One that does not count may be there already.
    let known = store.get(&cancel_key(task)).await?.map_or(0, |known| known.revision);
    match store.put(&cancel_key(task), known, &value).await {
        Ok(_) | Err(StoreError::Changed) => Ok(()),
        Err(error @ StoreError::Unknown(_)) => Err(error),
    }
}

/// The journal of a task: who had it, and the lines of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskJournal {
    /// Who had it, in order.
    pub workers: Vec<WorkerId>,
    /// The journal of its session.
    pub lines: String,
    /// The files of its session: names, and the hashes under which they are stored.
    pub files: BTreeMap<String, String>,
    /// The tries before the last one.
    pub attempts: Vec<TaskAttempt>,
}

/// Reads the journal of a task.
///
/// # Errors
/// The server does not answer.
pub async fn journal(store: &NatsStore, task: &TaskId) -> Result<TaskJournal, StoreError> {
    let entries: Vec<TaskJournalEntry> =
        store.journal(task).await?.into_iter().map(|(_, entry)| entry).collect();
    let workers = entries.iter().filter_map(|entry| match entry {
        TaskJournalEntry::Taken { worker } => Some(worker.clone()),
        TaskJournalEntry::Acts(_)
        | TaskJournalEntry::Lines(_)
        | TaskJournalEntry::Afresh
        | TaskJournalEntry::Again(_)
        | TaskJournalEntry::Ended { .. } => None,
    });
    let workers = workers.collect();
    let journal = TaskJournalEntries::new(entries);
    let (whole, attempts) = (journal.whole(), attempts(&journal));
    Ok(TaskJournal { workers, lines: whole.lines, files: whole.files, attempts })
}

/// The tasks of these ids or, without ids, all; and the ids that no task has.
pub fn selected(rows: Vec<FleetTaskRow>, ids: &[String]) -> (Vec<FleetTaskRow>, Vec<String>) {
    if ids.is_empty() {
        return (rows, Vec::new());
    }
    let known: BTreeSet<String> = rows.iter().map(|row| row.id.to_string()).collect();
    let unknown = ids.iter().filter(|id| !known.contains(*id)).cloned().collect();
    (rows.into_iter().filter(|row| ids.iter().any(|id| row.id.as_str() == id)).collect(), unknown)
}
