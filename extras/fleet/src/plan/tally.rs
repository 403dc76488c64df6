//! Tally of tasks by state and of the resources they used, as the leading controller counts them.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::TaskUsage;
use crate::store::Revision;

/// The key of the record with the summary of a fleet.
pub const SUMMARY: &str = "summary";
/// The summary is written at least so often, as long as somebody leads.
pub const SUMMED: Duration = Duration::from_secs(5);
/// The most labels that are counted, and the most batches.
const NAMES_MAX: usize = 1_000;

/// Tasks with something in common.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Number of tasks.
    pub tasks: u64,
    /// The resources they used.
    pub used: TaskUsage,
}

/// Number of tasks in each state, and the resources they used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTally {
    /// Those that wait for other tasks or for the limit of a label, or stand for rows that have not all ended.
    pub waiting: u64,
    /// Those that are in the queue or with a worker.
    pub released: u64,
    /// Those that finished.
    pub finished: u64,
    /// Those that ended otherwise.
    pub unfinished: u64,
    /// The resources that all of them used.
    pub used: TaskUsage,
    /// By label. A task counts for each of its labels.
    pub labels: BTreeMap<String, Share>,
    /// By batch.
    pub batches: BTreeMap<String, Share>,
    /// `true` if there are more labels or batches than these.
    pub is_cut: bool,
}

impl TaskTally {
    /// Returns the number of tasks.
    pub const fn tasks(&self) -> u64 {
        self.waiting + self.released + self.finished + self.unfinished
    }

    /// Changes what is counted for the labels and the batch of a task.
    pub(crate) fn share<'a>(
        &mut self,
        labels: impl Iterator<Item = &'a String>,
        batch: Option<&String>,
        change: impl Fn(&mut Share),
    ) {
        for label in labels {
            self.is_cut |= !changed(&mut self.labels, label, &change);
        }
        if let Some(batch) = batch {
            self.is_cut |= !changed(&mut self.batches, batch, &change);
        }
    }
}

/// Changes a share; false if there are too many.
fn changed(shares: &mut BTreeMap<String, Share>, name: &str, change: impl Fn(&mut Share)) -> bool {
    if let Some(share) = shares.get_mut(name) {
        change(share);
        return true;
    }
    let has_room = shares.len() < NAMES_MAX;
    if has_room {
        change(shares.entry(name.to_owned()).or_default());
    }
    has_room
}

/// The summary of all tasks by the leading controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetSummary {
    /// Its tally.
    pub tally: TaskTally,
    /// Number of tasks of the queue that workers hold.
    pub held: u64,
    /// The revision of the last record of a task that it has read. If there is no later one, nothing is missing.
    pub tasks: Revision,
    /// That of the last outcome.
    pub outcomes: Revision,
}
