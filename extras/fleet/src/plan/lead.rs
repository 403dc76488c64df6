//! Work of the leading controller for plans: makes the tasks of rows, ends tasks that are too late, and
//! watches budgets and limits.
//!
//! All of it can be done twice: ids of rows follow from the table, and outcomes and records are written once.
//! So if a leader dies in the middle, the next one begins again.

use std::collections::{BTreeSet, HashMap};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{
    BudgetRecord, FleetSummary, LABEL_LIMITS, Limits, OutcomeRecord, RowError, SLOTS, SUMMARY, Slots,
    TaskTable, TaskUsage, budget_key, now_ms, row_task,
};
use crate::{
    calls::{append, put_outcome},
    controller::Controller,
    holder::{cancel_key, expired, outcome_key, task_key},
    journal::{TaskJournalEntries, TaskJournalEntry, TaskOutcome},
    store::{FleetStore, Revision, StoreError},
    task::{TaskId, TaskRecord, TaskSpec},
};

/// Number of concurrent calls.
const CALLS: usize = 32;
/// The most tasks that are ended at once because they are too late.
const LATE_MAX: usize = 1_000;

/// The plans, as a leader has read them.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    /// Tasks that may not have begun, by when they are too late.
    deadlines: BTreeSet<(u64, TaskId)>,
    /// Resources used by the tasks of each batch.
    used: HashMap<String, TaskUsage>,
    /// Resources they may use, with the revision of the record.
    budgets: HashMap<String, (Revision, BudgetRecord)>,
    /// Batches whose budgets have to be looked at.
    spent: BTreeSet<String>,
}

impl Plans {
    /// Takes in a task that has no outcome.
    pub(crate) fn learn_task(&mut self, spec: &TaskSpec) {
        self.deadlines.extend(spec.deadline_ms.map(|deadline| (deadline, spec.id.clone())));
    }

    /// Takes in an outcome, once.
    pub(crate) fn learn_outcome(&mut self, record: &OutcomeRecord) {
        let Some(batch) = &record.batch else { return };
        let used = record.used();
        if used != TaskUsage::default() {
            let all = self.used.entry(batch.clone()).or_default();
            *all = all.plus(used);
            self.spent.insert(batch.clone());
        }
    }

    /// Takes in the budget of a batch.
    pub(crate) fn learn_budget(&mut self, batch: &str, revision: Revision, budget: BudgetRecord) {
        self.budgets.insert(batch.to_owned(), (revision, budget));
        self.spent.insert(batch.to_owned());
    }

    /// A budget that should say otherwise whether it is reached: its record as it should be.
    fn changed(&self, batch: &str) -> Option<(Revision, BudgetRecord)> {
        let (revision, budget) = self.budgets.get(batch)?;
        let used = self.used.get(batch).copied().unwrap_or_default();
        let reached = budget.allowed.reached_by(&used);
        // Who raises the budget says that it is not reached. What is read so far may be less than what was used.
        let is_news = reached.is_some() && reached != budget.reached;
        is_news.then_some((*revision, BudgetRecord { reached, ..*budget }))
    }

    /// Some of those that are too late by now.
    fn late(&mut self) -> Vec<(u64, TaskId)> {
        let now = now_ms();
        let mut late = Vec::new();
        while late.len() < LATE_MAX
            && self.deadlines.first().is_some_and(|(deadline, _)| *deadline <= now)
            && let Some(next) = self.deadlines.pop_first()
        {
            late.push(next);
        }
        late
    }
}

impl<S: FleetStore> Controller<S> {
    /// Does what time and outcomes ask for. What has no answer is done the next time.
    pub(crate) async fn tend(&self, plans: &mut Plans, is_open: impl Fn(&TaskId) -> bool) {
        let late: Vec<_> = plans.late().into_iter().filter(|(_, task)| is_open(task)).collect();
        let ended = stream::iter(late).map(|(deadline, task)| async move {
            self.end_unbegun(&task, expired(deadline, &TaskJournalEntries::default()))
                .await
                .err()
                .map(|_| (deadline, task))
        });
        let again: Vec<_> = ended.buffer_unordered(CALLS).filter_map(|left| async { left }).collect().await;
        plans.deadlines.extend(again);
        for batch in std::mem::take(&mut plans.spent) {
            let Some((revision, budget)) = plans.changed(&batch) else { continue };
            match self.write_budget(&batch, revision, budget).await {
                // If somebody else changed it, that is news.
                Ok(_) | Err(StoreError::Changed) => {}
                Err(StoreError::Unknown(_)) => {
                    plans.spent.insert(batch);
                }
            }
        }
    }

    /// The limits of labels.
    pub(crate) async fn limits(&self) -> Result<Limits, StoreError> {
        let record = self.call(self.store.get(LABEL_LIMITS)).await?;
        Ok(record.and_then(|record| record.read()).unwrap_or_default())
    }

    /// Which tasks count for the limits of labels, with the revision of the record that says so.
    pub(crate) async fn slots(&self) -> Result<(Slots, Revision), StoreError> {
        let Some(record) = self.call(self.store.get(SLOTS)).await? else {
            return Ok((Slots::default(), 0));
        };
        Ok((serde_json::from_slice(&record.value).unwrap_or_default(), record.revision))
    }

    /// Writes which tasks count for limits. It fails if anybody else has, whoever leads.
    pub(crate) async fn write_slots(
        &self,
        revision: Revision,
        slots: &Slots,
    ) -> Result<Revision, StoreError> {
        let value = bytes(slots)?;
        let write = async || match self.store.put(SLOTS, revision, &value).await {
            // An earlier try may have had no answer.
            Err(StoreError::Changed) => match self.store.get(SLOTS).await? {
                Some(record) if record.value == value => Ok(record.revision),
                Some(_) | None => Err(StoreError::Changed),
            },
            written => written,
        };
        self.insist(write).await
    }

    /// Writes the summary, unless there is one of who has read more.
    pub(crate) async fn write_summary(&self, mut summary: FleetSummary) -> Result<Revision, StoreError> {
        summary.held = self.call(self.store.held()).await?;
        let known = self.call(self.store.get(SUMMARY)).await?;
        let revision = known.as_ref().map_or(0, |known| known.revision);
        let known = known.and_then(|known| known.read::<FleetSummary>());
        if known.is_some_and(|known| known.tasks > summary.tasks || known.outcomes > summary.outcomes) {
            return Err(StoreError::Changed);
        }
        self.call(self.store.put(SUMMARY, revision, &bytes(&summary)?)).await
    }

    /// Ends a task that nobody has begun. If somebody has, it ends there; if somebody has ended it, that is its outcome.
    pub(crate) async fn end_unbegun(&self, task: &TaskId, outcome: TaskOutcome) -> Result<(), StoreError> {
        let ended = TaskJournalEntry::Ended { outcome: outcome.clone() };
        if append(&self.store, &self.times, task, 0, &ended).await.is_ok() {
            return put_outcome(&self.store, &self.times, task, outcome).await;
        }
        match self.call(self.store.journal(task)).await?.into_iter().next() {
            None => Err(StoreError::Unknown("the task is not ended".to_owned())),
            Some((_, TaskJournalEntry::Ended { outcome })) => {
                put_outcome(&self.store, &self.times, task, outcome).await
            }
            Some(_) => Ok(()),
        }
    }

    async fn write_budget(
        &self,
        batch: &str,
        revision: Revision,
        budget: BudgetRecord,
    ) -> Result<Revision, StoreError> {
        self.call(self.store.put(&budget_key(batch), revision, &bytes(&budget)?)).await
    }

    /// Makes a task of each row of the table of a task.
    pub(crate) async fn spread(&self, revision: Revision, record: TaskRecord) -> Result<(), StoreError> {
        let TaskRecord { mut spec, released } = record;
        let cancel = cancel_key(&spec.id);
        let cancel = self.insist(|| self.store.get(&cancel)).await?;
        let tasks = if cancel.is_some_and(|cancel| spec.is_cancelled_by(&cancel.value)) {
            Err(TaskOutcome::Cancelled)
        } else {
            self.rows(&spec).await?.map_err(|reason| TaskOutcome::Failed { reason })
        };
        let tasks = match tasks {
            Ok(tasks) => tasks,
            Err(outcome) => return self.give(&spec.id, outcome).await,
        };
        let rows = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        let calls = stream::iter(tasks).map(|task| self.make(task));
        let taken: Vec<TaskId> =
            calls.buffer_unordered(CALLS).try_filter_map(|taken| async { Ok(taken) }).try_collect().await?;
        if let Some(taken) = taken.first() {
            let reason = format!("a row would be {taken}, and another task has this id");
            return self.give(&spec.id, TaskOutcome::Failed { reason }).await;
        }
        if let Some(table) = &mut spec.for_each {
            table.rows = Some(rows);
        }
        let value = bytes(&TaskRecord { spec: spec.clone(), released })?;
        let key = task_key(&spec.id);
        match self.insist(|| self.store.put(&key, revision, &value)).await {
            // An earlier try had no answer, or another leader was faster: the rows are the same.
            Ok(_) | Err(StoreError::Changed) => Ok(()),
            Err(error @ StoreError::Unknown(_)) => Err(error),
        }
    }

    async fn give(&self, task: &TaskId, outcome: TaskOutcome) -> Result<(), StoreError> {
        self.insist(|| put_outcome(&self.store, &self.times, task, outcome.clone())).await
    }

    /// Writes the task of a row; its id if that is another task.
    async fn make(&self, spec: TaskSpec) -> Result<Option<TaskId>, StoreError> {
        let key = task_key(&spec.id);
        let value = bytes(&TaskRecord { spec: spec.clone(), released: 0 })?;
        match self.insist(|| self.store.put(&key, 0, &value)).await {
            Ok(_) => Ok(None),
            Err(StoreError::Changed) => {
                let known = self.insist(|| self.store.get(&key)).await?;
                let known = known.and_then(|known| known.read::<TaskRecord>());
                Ok(known.is_none_or(|known| known.spec.row_of != spec.row_of).then_some(spec.id))
            }
            Err(error @ StoreError::Unknown(_)) => Err(error),
        }
    }

    /// The tasks of all rows, or why there are none.
    async fn rows(&self, spec: &TaskSpec) -> Result<Result<Vec<TaskSpec>, String>, StoreError> {
        let Some((table, of)) = spec.for_each.as_ref().and_then(|table| Some((table, table.of.as_ref()?)))
        else {
            return Ok(Err("`for_each`: it does not say which task leaves the table".to_owned()));
        };
        let key = outcome_key(of);
        // A server that is behind the others may not know it yet.
        let outcome = self.insist(async || {
            let record = self.store.get(&key).await?;
            record.ok_or_else(|| StoreError::Unknown(format!("{of} has no outcome")))
        });
        let hash = match table.hash(of, &outcome.await?.value) {
            Ok(hash) => hash,
            Err(problem) => return Ok(Err(format!("`for_each`: {problem}"))),
        };
        let document = &table.document;
        let bytes = self.insist(|| self.store.file(&hash)).await?;
        let table = match TaskTable::read(&bytes) {
            Ok(table) => table,
            Err(error) => return Ok(Err(format!("`for_each`: {document} of {of}: {error}"))),
        };
        let numbered = (1..).zip(&table.rows);
        let tasks = numbered.map(|(row, cells)| row_task(spec, &table.columns, cells, row));
        let tasks: Result<Vec<TaskSpec>, RowError> = tasks.collect();
        Ok(tasks.map_err(|error| format!("`for_each`: {document} of {of}: {error}")))
    }

    /// Ends a task that stands for rows.
    pub(crate) async fn close(&self, task: &TaskId, rows: u32, finished: u32) -> Result<(), StoreError> {
        let is_whole = rows == finished;
        let result = serde_json::json!({
            "outcome": if is_whole { "finished" } else { "failed" },
            "reason": format!("{finished} of {rows} rows finished"),
            "rows": rows,
        });
        put_outcome(&self.store, &self.times, task, TaskOutcome::Done { result, finished: is_whole }).await
    }
}

/// A document that a task did not leave.
pub fn no_document<'a>(of: &TaskId, document: &str, left: impl Iterator<Item = &'a String>) -> String {
    let left: Vec<&str> = left.map(String::as_str).collect();
    let left = if left.is_empty() { "no documents".to_owned() } else { left.join(", ") };
    format!("{of} left no document `{document}`; it left {left}")
}

fn bytes(record: &impl serde::Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(record).map_err(|error| StoreError::Unknown(error.to_string()))
}
