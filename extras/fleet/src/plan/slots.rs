//! Which tasks count for the limits of labels: those that are in the queue or with a worker.
//!
//! The record of them is written before such a task is put into the queue, and only by who knows its revision. So a leader that was stopped
//! and goes on lets nothing more begin, and the next one knows what this one let begin.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Limits;
use crate::task::TaskId;

/// The key of the record.
pub(crate) const SLOTS: &str = "slots";
/// The most tasks in the record, which has to fit into one message.
const SLOTS_MAX: usize = 25_000;

/// Short form of a task id where the id would take too much room: a part of its SHA-256 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct TaskIdHash([u8; 16]);

impl TaskIdHash {
    /// That of a task.
    pub(crate) fn of(task: &TaskId) -> Self {
        let mut mark = [0; 16];
        mark.iter_mut().zip(Sha256::digest(task.as_str())).for_each(|(byte, hash)| *byte = hash);
        Self(mark)
    }
}

impl From<TaskIdHash> for String {
    fn from(mark: TaskIdHash) -> Self {
        format!("{:032x}", u128::from_be_bytes(mark.0))
    }
}

impl TryFrom<String> for TaskIdHash {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(Self(u128::from_str_radix(&text, 16)?.to_be_bytes()))
    }
}

/// Tasks by the labels that they count for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slots(BTreeMap<String, BTreeSet<TaskIdHash>>);

impl Slots {
    /// Returns `true` if a task has to wait until another one with the label has ended.
    pub(crate) fn is_full(&self, limits: &Limits, label: &str, task: TaskIdHash) -> bool {
        let Some(most) = limits.get(label) else { return false };
        let most = (*most).min(SLOTS_MAX / limits.len().max(1));
        self.0.get(label).map_or(most == 0, |held| held.len() >= most && !held.contains(&task))
    }

    /// The task counts for the label.
    pub(crate) fn take(&mut self, label: &str, task: TaskIdHash) {
        match self.0.get_mut(label) {
            Some(held) => held.insert(task),
            None => self.0.entry(label.to_owned()).or_default().insert(task),
        };
    }

    /// The task counts no more. Returns the labels that it counted for.
    pub(crate) fn free(&mut self, task: TaskIdHash) -> Vec<String> {
        let freed = self.0.iter_mut().filter_map(|(label, held)| held.remove(&task).then(|| label.clone()));
        freed.collect()
    }

    /// Forgets labels that have no limit.
    pub(crate) fn keep(&mut self, limits: &Limits) {
        self.0.retain(|label, _| limits.contains_key(label));
    }
}
