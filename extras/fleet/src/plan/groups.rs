//! Tasks that stand for the rows of a table: they end when the tasks of all rows have.

use std::collections::HashMap;

use crate::task::TaskId;

/// Tasks that stand for the rows of a table, with the state of their rows.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    groups: HashMap<TaskId, Group>,
    complete: Vec<TaskId>,
}

#[derive(Debug, Default)]
struct Group {
    /// Number of rows; `None` until it is determined.
    rows: Option<u32>,
    ended: u32,
    finished: u32,
}

impl Groups {
    /// Takes in how many rows there are.
    pub(crate) fn has_rows(&mut self, group: &TaskId, rows: u32) {
        let known = self.groups.entry(group.clone()).or_default();
        let is_new = known.rows.replace(rows).is_none();
        if is_new && known.ended >= rows {
            self.complete.push(group.clone());
        }
    }

    /// Takes in that the task of a row has ended.
    pub(crate) fn row_ended(&mut self, group: &TaskId, finished: bool) {
        let known = self.groups.entry(group.clone()).or_default();
        known.ended = known.ended.saturating_add(1);
        known.finished = known.finished.saturating_add(u32::from(finished));
        if known.rows == Some(known.ended) {
            self.complete.push(group.clone());
        }
    }

    /// One whose rows have all ended: how many there are, and how many finished. Each is returned once.
    pub(crate) fn next_complete(&mut self) -> Option<(TaskId, u32, u32)> {
        let task = self.complete.pop()?;
        let group = self.groups.get(&task)?;
        Some((task, group.ended, group.finished))
    }
}
