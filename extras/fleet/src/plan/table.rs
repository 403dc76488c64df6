//! Tables with a header, and the tasks of their rows.

use serde::{Deserialize, Serialize};

use super::{FillError, TaskPayload, TaskResultFacts, fill_row, no_document};
use crate::{
    journal::TaskOutcome,
    task::{IdError, TaskId, TaskSpec},
};

/// The most rows of a table.
pub const ROWS_MAX: usize = 100_000;
/// The most columns.
const COLUMNS_MAX: usize = 1_000;

/// The table whose rows become tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForEach {
    /// The task that leaves it; `None` if it was there when the task was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<TaskId>,
    /// Its name.
    pub document: String,
    /// Number of rows, once their tasks are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTable {
    /// The names in its header.
    pub columns: Vec<String>,
    /// Its rows; each has as many cells as there are columns.
    pub rows: Vec<Vec<String>>,
}

/// A table that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; a table is CSV in UTF-8 whose first line names the columns, such as `customer,amount`")]
pub struct TableError {
    problem: String,
}

impl TaskTable {
    /// Reads a table: CSV with commas, or with semicolons or tabs if its first line has no comma.
    ///
    /// # Errors
    /// [`TableError`] with the line.
    pub fn read(bytes: &[u8]) -> Result<Self, TableError> {
        let failed = |problem: String| TableError { problem };
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let head = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let delimiter = [b',', b';', b'\t'].into_iter().find(|delimiter| head.contains(delimiter));
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.delimiter(delimiter.unwrap_or(b',')).from_reader(bytes);
        let header = reader.headers().map_err(|error| failed(error.to_string()))?;
        let columns: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        if columns.iter().all(String::is_empty) {
            return Err(failed("it has no header".to_owned()));
        }
        if columns.len() > COLUMNS_MAX {
            return Err(failed(format!("it has more than {COLUMNS_MAX} columns")));
        }
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = columns.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str())) {
            return Err(failed(format!("two columns are called `{twice}`")));
        }
        let mut rows = Vec::new();
        for row in reader.records() {
            let row = row.map_err(|error| failed(error.to_string()))?;
            if rows.len() >= ROWS_MAX {
                return Err(failed(format!("it has more than {ROWS_MAX} rows")));
            }
            rows.push(row.iter().map(ToOwned::to_owned).collect());
        }
        Ok(Self { columns, rows })
    }
}

impl ForEach {
    /// The hash of the table among the documents that the task left which leaves it, by the record of the outcome of that task.
    ///
    /// # Errors
    /// It left no such table.
    pub fn hash(&self, of: &TaskId, outcome: &[u8]) -> Result<String, String> {
        let outcome = serde_json::from_slice::<TaskOutcome>(outcome).ok();
        let documents = outcome.map(|outcome| TaskResultFacts::of(&outcome).documents).unwrap_or_default();
        let hash = documents.get(&self.document).cloned();
        hash.ok_or_else(|| no_document(of, &self.document, documents.keys()))
    }
}

/// A row of which no task can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// A value cannot be put in.
    #[error("row {row}: {source}")]
    Fill {
        /// The row, from 1, without the header.
        row: usize,
        /// Why.
        source: FillError,
    },
    /// The content to fill in is not valid work of a worker.
    #[error("the task cannot be read: {problem}")]
    Work {
        /// Why.
        problem: String,
    },
    /// The id with the number of the row cannot be used.
    #[error(transparent)]
    Id(#[from] IdError),
}

/// The id of the task of a row, from 1.
///
/// # Errors
/// It is too long.
pub fn row_id(group: &TaskId, row: usize) -> Result<TaskId, IdError> {
    TaskId::new(format!("{group}-{row:04}"))
}

/// The task of a row, from 1: the one that stands for all with the values of the row.
///
/// # Errors
/// [`RowError`] with the row and what is wrong with it.
pub fn row_task(
    group: &TaskSpec,
    columns: &[String],
    cells: &[String],
    row: usize,
) -> Result<TaskSpec, RowError> {
    let damaged = |error: serde_json::Error| RowError::Work { problem: error.to_string() };
    let mut work = TaskPayload::deserialize(&group.work).map_err(damaged)?;
    fill_row(&mut work, columns, cells).map_err(|source| RowError::Fill { row, source })?;
    let id = row_id(&group.id, row)?;
    if let Some(task) = work.task.as_object_mut() {
        task.insert("id".to_owned(), id.as_str().into());
    }
    let work = serde_json::to_value(work).map_err(damaged)?;
    Ok(TaskSpec { id, work, for_each: None, row_of: Some(group.id.clone()), ..group.clone() })
}

/// Returns `true` if a task is that of a row of the table of another one, as [`row_task`] makes it.
pub fn is_row_of(row: &TaskSpec, group: &TaskSpec, table: &TaskTable) -> bool {
    let number = row.id.as_str().strip_prefix(group.id.as_str()).and_then(|rest| rest.strip_prefix('-'));
    let number = number.and_then(|number| number.parse::<usize>().ok());
    let Some((number, cells)) = number.and_then(|row| Some((row, table.rows.get(row.checked_sub(1)?)?)))
    else {
        return false;
    };
    row_task(group, &table.columns, cells, number).is_ok_and(|made| made == *row)
}
