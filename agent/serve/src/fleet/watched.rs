//! Tasks of a fleet as somebody watches them: all of them are read once, and then only what is written.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use deskhand_fleet::{
    holder::{LEASES, OUTCOMES, TASKS},
    nats::NatsStore,
    pace::pause,
    plan::OutcomeRecord,
    store::{FleetRecord, FleetStore as _, Revision, StoreError},
    task::{TaskId, TaskRecord},
};
use futures_util::{
    Stream, StreamExt as _,
    stream::{BoxStream, SelectAll, unfold},
};
use tokio::time::{Instant, timeout, timeout_at};

use super::view::{Counts, FleetTaskRow, row};

/// The records that say where a task is.
const WATCHED: [&str; 3] = [TASKS, LEASES, OUTCOMES];

/// Tasks that somebody watches.
pub struct FleetTaskWatcher {
    tasks: WatchedTaskSet,
    news: SelectAll<BoxStream<'static, Result<Vec<FleetRecord>, StoreError>>>,
}

impl FleetTaskWatcher {
    /// Reads all tasks. Those with these ids are watched or, without ids, all.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn read(store: &NatsStore, ids: &[String]) -> Result<Self, StoreError> {
        let mut tasks = WatchedTaskSet { ids: ids.iter().cloned().collect(), ..WatchedTaskSet::default() };
        let mut news = SelectAll::new();
        for prefix in WATCHED {
            let records = store.records(prefix).await?;
            let last = records.iter().map(|record| record.revision).max().unwrap_or_default();
            for record in records {
                tasks.learn(record);
            }
            news.push(written_after(store.clone(), prefix, last).boxed());
        }
        Ok(Self { tasks, news })
    }

    /// A watched id that no task has.
    pub fn unknown(&self) -> Option<&str> {
        let is_unknown = |id: &&String| {
            let known = TaskId::new(id.as_str()).ok().and_then(|id| self.tasks.known.get(&id)?.task.as_ref());
            known.is_none()
        };
        self.tasks.ids.iter().find(is_unknown).map(String::as_str)
    }

    /// Returns the number of watched tasks in each state.
    pub const fn counts(&self) -> Counts {
        self.tasks.counts
    }

    /// The watched tasks that are not as they were the last time, sorted by their ids. The first time, that is each of them.
    pub fn take_changed(&mut self) -> Vec<FleetTaskRow> {
        let changed = std::mem::take(&mut self.tasks.changed);
        changed.iter().filter_map(|id| self.tasks.known.get(id)?.row()).collect()
    }

    /// Waits until a record is written, and takes in what else is within this time.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn next(&mut self, within: Duration) -> Result<(), StoreError> {
        let mut next = self.news.next().await;
        let until = Instant::now() + within;
        while let Some(records) = next {
            for record in records? {
                self.tasks.learn(record);
            }
            match timeout_at(until, self.news.next()).await {
                Ok(more) => next = more,
                Err(_) => break,
            }
        }
        Ok(())
    }
}

/// The records of a kind that are written after a revision. It ends if the server does not answer for the time of a lease.
fn written_after(
    store: NatsStore,
    prefix: &'static str,
    after: Revision,
) -> impl Stream<Item = Result<Vec<FleetRecord>, StoreError>> + Send {
    unfold((store, after, None), move |(store, after, mut silent)| async move {
        let times = store.times();
        loop {
            // Without news it waits.
            let Ok(records) = timeout(times.call, store.changes(prefix, after)).await else { continue };
            match records {
                Ok(records) => {
                    let last = records.iter().map(|record| record.revision).fold(after, Revision::max);
                    return Some((Ok(records), (store, last, None)));
                }
                Err(error) => {
                    let since = *silent.get_or_insert_with(Instant::now);
                    if since.elapsed() > times.lease {
                        return Some((Err(error), (store, after, silent)));
                    }
                    pause(times.again).await;
                }
            }
        }
    })
}

#[derive(Default)]
struct WatchedTaskSet {
    /// The ids of those that are watched; empty for all.
    ids: BTreeSet<String>,
    known: BTreeMap<TaskId, WatchedTask>,
    counts: Counts,
    changed: BTreeSet<TaskId>,
}

/// The current state of a task.
#[derive(Default)]
struct WatchedTask {
    /// Without what it is to do.
    task: Option<TaskRecord>,
    outcome: Option<OutcomeRecord>,
    holder: Option<String>,
    /// Number of its row tasks that have ended.
    ended: u32,
}

impl WatchedTask {
    /// The task and where it is, once its own record was read.
    fn row(&self) -> Option<FleetTaskRow> {
        let task = self.task.clone()?;
        Some(row(task, self.outcome.clone(), self.holder.clone(), self.ended))
    }

    /// The task of whose rows this is one that has ended.
    fn ended_row_of(&self) -> Option<&TaskId> {
        self.outcome.as_ref().and(self.task.as_ref()).and_then(|task| task.spec.row_of.as_ref())
    }
}

impl WatchedTaskSet {
    fn learn(&mut self, record: FleetRecord) {
        let FleetRecord { key, value, .. } = record;
        let named = WATCHED.iter().find_map(|prefix| Some((*prefix, TaskId::new(key.strip_prefix(prefix)?))));
        let Some((prefix, Ok(id))) = named else { return };
        let ended = if prefix == TASKS {
            let Some(mut record) = TaskRecord::stored_as(&id, &value) else { return };
            (record.spec.work, record.spec.signed) = (serde_json::Value::Null, None);
            self.change(id, |known| known.task = Some(record))
        } else if prefix == LEASES {
            let holder = String::from_utf8_lossy(&value).into_owned();
            self.change(id, |known| known.holder = Some(holder))
        } else {
            let Ok(outcome) = serde_json::from_slice(&value) else { return };
            self.change(id, |known| known.outcome = Some(outcome))
        };
        if let Some(group) = ended {
            self.change(group, |known| known.ended += 1);
        }
    }

    /// Changes what is known of a task. If it has ended with that and is one of a row, returns the task that stands for the rows.
    fn change(&mut self, id: TaskId, change: impl FnOnce(&mut WatchedTask)) -> Option<TaskId> {
        let known = self.known.entry(id.clone()).or_default();
        let (before, had_ended) = (known.row(), known.ended_row_of().is_some());
        change(known);
        let after = known.row();
        let group = known.ended_row_of().filter(|_| !had_ended).cloned();
        let is_watched = self.ids.is_empty() || self.ids.contains(id.as_str());
        if is_watched && before != after {
            if let Some(before) = before {
                *self.counts.of_state(&before.state) -= 1;
                self.counts.tasks -= 1;
            }
            if let Some(after) = after {
                *self.counts.of_state(&after.state) += 1;
                self.counts.tasks += 1;
            }
            self.changed.insert(id);
        }
        group
    }
}

#[cfg(test)]
#[path = "watched_tests.rs"]
mod tests;
