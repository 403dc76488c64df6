//! State that a leader has read, and its next step.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    graph::{Graph, Step},
    holder::{CANCELS, OUTCOMES, TASKS},
    journal::Outcome,
    plan::{BUDGETS, LIMITS, OutcomeRecord, SUMMED, Slots, Summary, lead::Plans},
    store::{Record, Revision},
    task::{TaskId, TaskRecord},
};

/// The most bytes of records of tasks that are kept until the tasks begin. Other records are read once more then.
const RECORDS_BYTES_MAX: usize = 4 << 20;
/// The summary is not written more often.
const SUM: Duration = Duration::from_secs(1);

/// The lease of a task as it was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) lease: Revision,
    /// Since when it was not renewed.
    pub(super) since: Instant,
}

/// The record of a task as it is stored.
pub(super) struct Stored {
    pub(super) revision: Revision,
    pub(super) value: Vec<u8>,
}

/// A task that may begin, with its record if it is at hand.
pub(super) struct Begins {
    pub(super) task: TaskId,
    pub(super) record: Option<Stored>,
}

/// A step with what is needed to carry it out.
pub(super) enum Ready {
    Release(Begins),
    Block {
        task: TaskId,
        by: TaskId,
    },
    Spread(Begins),
    Close {
        task: TaskId,
        rows: u32,
        finished: u32,
    },
    /// Tasks begin that count for limits, once that is stored.
    Limited {
        slots: Slots,
        revision: Revision,
        begin: Vec<Begins>,
    },
    /// Others may know how many tasks are where.
    Sum(Summary),
}

/// A step that was carried out.
pub(super) enum Done {
    Step,
    /// The record that these tasks count for limits is stored.
    Allowed {
        revision: Revision,
        begin: Vec<Begins>,
    },
    /// The summary is written with what was read up to these revisions of tasks and outcomes, or will be later.
    Summed(Option<(Revision, Revision)>),
}

/// State of the record of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Never,
    /// A write is in progress.
    Now,
    /// The last write was tried at this time. If it succeeded, the record covers tasks and outcomes up to these
    /// revisions.
    Then {
        tried: Instant,
        read: Option<(Revision, Revision)>,
    },
}

/// State that a leader has read.
pub(super) struct Known {
    pub(super) graph: Graph,
    /// Records of some of the tasks that are not in the queue. They are not parsed: that would take several times the memory.
    records: HashMap<TaskId, Stored>,
    /// Total size of these records, in bytes.
    records_bytes: usize,
    /// Tasks that are not wanted any more and have no outcome.
    pub(super) cancelled: BTreeMap<TaskId, Option<Held>>,
    pub(super) plans: Plans,
    /// The revision of the record of which tasks count for limits; `None` while it is written.
    slots: Option<Revision>,
    /// Tasks that begin once that record says so.
    limited: Vec<Begins>,
    /// Tasks of which it does.
    allowed: Vec<Begins>,
    summary: Summary,
    written: Written,
}

impl Known {
    /// With the revision of the record of which tasks count for limits.
    pub(super) fn new(graph: Graph, slots: Revision) -> Self {
        Self {
            graph,
            records: HashMap::new(),
            records_bytes: 0,
            cancelled: BTreeMap::new(),
            plans: Plans::default(),
            slots: Some(slots),
            limited: Vec::new(),
            allowed: Vec::new(),
            summary: Summary::default(),
            written: Written::Never,
        }
    }

    pub(super) fn learn(&mut self, prefix: &str, records: Vec<Record>) {
        let newest = records.iter().map(|record| record.revision).max().unwrap_or_default();
        if prefix == TASKS {
            self.summary.tasks = self.summary.tasks.max(newest);
        } else if prefix == OUTCOMES {
            self.summary.outcomes = self.summary.outcomes.max(newest);
        }
        for Record { key, revision, value } in records {
            if prefix == LIMITS {
                self.graph.set_limits(serde_json::from_slice(&value).unwrap_or_default());
                continue;
            }
            let Some(Ok(id)) = key.strip_prefix(prefix).map(TaskId::new) else { continue };
            if prefix == TASKS {
                let Some(record) = TaskRecord::stored_as(&id, &value) else { continue };
                self.learn_task(&record, Stored { revision, value });
            } else if prefix == BUDGETS {
                let Ok(budget) = serde_json::from_slice(&value) else { continue };
                self.plans.learn_budget(id.as_str(), revision, budget);
            } else if prefix == CANCELS {
                self.cancelled.insert(id, None);
            } else {
                let Ok(outcome) = serde_json::from_slice::<OutcomeRecord>(&value) else { continue };
                self.learn_outcome(&id, &outcome);
            }
        }
    }

    /// Returns the next possible step.
    pub(super) fn step(&mut self) -> Option<Ready> {
        if let Some(begins) = self.allowed.pop() {
            return Some(Ready::Release(begins));
        }
        // However much there is to do besides.
        if let Some(next) = self.sum().or_else(|| self.allow()) {
            return Some(next);
        }
        while let Some(step) = self.graph.next_step() {
            match step {
                Step::Release { task, is_limited: false } => {
                    return Some(Ready::Release(self.begins(task)));
                }
                Step::Release { task, is_limited: true } => {
                    let begins = self.begins(task);
                    self.limited.push(begins);
                }
                Step::Block { task, by } => return Some(Ready::Block { task, by }),
                Step::Spread(task) => return Some(Ready::Spread(self.begins(task))),
                Step::Close { task, rows, finished } => {
                    return Some(Ready::Close { task, rows, finished });
                }
            }
        }
        self.allow()
    }

    /// Tasks that are to begin and count for limits, unless others are on their way.
    fn allow(&mut self) -> Option<Ready> {
        if self.limited.is_empty() {
            return None;
        }
        let revision = self.slots.take()?;
        let begin = std::mem::take(&mut self.limited);
        Some(Ready::Limited { slots: self.graph.slots().clone(), revision, begin })
    }

    /// Takes in that something was carried out.
    pub(super) fn done(&mut self, done: Done) {
        match done {
            Done::Step => {}
            Done::Allowed { revision, begin } => {
                self.slots = Some(revision);
                self.allowed.extend(begin);
            }
            Done::Summed(read) => self.written = Written::Then { tried: Instant::now(), read },
        }
    }

    /// The summary, if it is time to write it.
    fn sum(&mut self) -> Option<Ready> {
        let now = (self.summary.tasks, self.summary.outcomes);
        let is_due = match self.written {
            Written::Never => now != (0, 0),
            Written::Now => false,
            Written::Then { tried, read } => {
                let after = if read == Some(now) { SUMMED } else { SUM };
                tried.elapsed() >= after
            }
        };
        is_due.then(|| {
            self.written = Written::Now;
            self.summary.tally = self.graph.tally().clone();
            Ready::Sum(self.summary.clone())
        })
    }

    fn begins(&mut self, task: TaskId) -> Begins {
        let record = self.forget_record(&task);
        Begins { task, record }
    }

    /// The record of a task that is at hand. It is not kept any longer.
    fn forget_record(&mut self, task: &TaskId) -> Option<Stored> {
        let record = self.records.remove(task)?;
        self.records_bytes -= record.value.len();
        Some(record)
    }

    fn learn_task(&mut self, record: &TaskRecord, stored: Stored) {
        let id = &record.spec.id;
        let is_new = self.graph.add(&record.spec, record.released > 0);
        let rows = record.spec.for_each.as_ref().and_then(|table| table.rows);
        if is_new {
            self.plans.learn_task(&record.spec);
        } else if let Some(rows) = rows {
            self.graph.has_rows(id, rows);
        }
        let may_begin = record.released == 0 && rows.is_none() && self.graph.is_open(id);
        self.forget_record(id);
        let bytes = self.records_bytes + stored.value.len();
        if may_begin && bytes <= RECORDS_BYTES_MAX {
            self.records_bytes = bytes;
            self.records.insert(id.clone(), stored);
        }
    }

    fn learn_outcome(&mut self, id: &TaskId, record: &OutcomeRecord) {
        self.plans.learn_outcome(record);
        self.forget_record(id);
        self.cancelled.remove(id);
        let finished = matches!(record.outcome, Outcome::Done { finished: true, .. });
        self.graph.end(id, finished, record.used());
    }
}
