//! Which signed task the task of a row follows from.
//!
//! Rows of a table that another task leaves become tasks long after somebody signed the one that stands for all of them. A worker makes each of
//! them once more, of that one and the table, and takes it only if it is the same.

use std::{borrow::Cow, sync::Arc};

use deskhand_fleet::{
    holder::{outcome_key, task_key},
    nats::NatsStore,
    plan::{TaskTable, is_row_of},
    store::{FleetStore as _, StoreError},
    task::{TaskId, TaskRecord, TaskSpec},
};
use tokio::sync::Mutex;

use super::admission::TaskRefusal;

/// The table that was read last, with its hash: its rows come one after the other.
#[derive(Debug, Default)]
pub(super) struct RowTableCache(Mutex<Option<(String, Arc<TaskTable>)>>);

impl RowTableCache {
    /// The task whose signature says who submitted a task: that task itself, or the one that stands for all rows if this is one that a
    /// controller made of a row.
    pub(super) async fn signed<'a>(
        &self,
        store: &NatsStore,
        spec: &'a TaskSpec,
    ) -> Result<Cow<'a, TaskSpec>, TaskRefusal> {
        let Some(of) = spec.row_of.as_ref().filter(|_| spec.signed.is_some() && !spec.is_as_signed()) else {
            return Ok(Cow::Borrowed(spec));
        };
        let (group, table) = self.group(store, of).await?;
        if is_row_of(spec, &group, &table) {
            return Ok(Cow::Owned(group));
        }
        Err(TaskRefusal::Everywhere(format!(
            "it is not what follows from {of} and its table: somebody changed it"
        )))
    }

    /// A task that stands for rows, and its table.
    async fn group(&self, store: &NatsStore, id: &TaskId) -> Result<(TaskSpec, Arc<TaskTable>), TaskRefusal> {
        let later = |error: StoreError| {
            TaskRefusal::Here(format!("{id}, of which it is a row, cannot be read: {error}"))
        };
        let missing = |what: String| later(StoreError::Unknown(format!("{what} is not there")));
        let record = store.get(&task_key(id)).await.map_err(later)?;
        let record = record.ok_or_else(|| missing("it".to_owned()))?;
        let wrong = |problem: String| {
            TaskRefusal::Everywhere(format!(
                "it is not what was signed, and does not follow from {id}: {problem}"
            ))
        };
        let group = serde_json::from_slice::<TaskRecord>(&record.value);
        let group = group.map_err(|error| wrong(error.to_string()))?.spec;
        let table = group.for_each.as_ref().filter(|_| group.id == *id);
        let Some((table, of)) = table.and_then(|table| Some((table, table.of.as_ref()?))) else {
            return Err(wrong("that has no table of another task".to_owned()));
        };
        let outcome = store.get(&outcome_key(of)).await.map_err(later)?;
        let outcome = outcome.ok_or_else(|| missing(format!("the outcome of {of}")))?;
        let hash = table.hash(of, &outcome.value).map_err(wrong)?;
        let mut last = self.0.lock().await;
        if let Some((_, table)) = last.as_ref().filter(|(known, _)| *known == hash) {
            return Ok((group, Arc::clone(table)));
        }
        let bytes = store.file(&hash).await.map_err(later)?;
        let table = Arc::new(TaskTable::read(&bytes).map_err(|error| wrong(error.to_string()))?);
        *last = Some((hash, Arc::clone(&table)));
        Ok((group, table))
    }
}
