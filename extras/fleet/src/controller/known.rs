//! State that a leader has read, and its next step.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    graph::{Graph, GraphStep},
    holder::{CANCELS, OUTCOMES, TASKS},
    journal::TaskOutcome,
    plan::{BUDGETS, FleetSummary, LIMITS, OutcomeRecord, SUMMED, Slots, lead::Plans},
    store::{FleetRecord, Revision},
    task::{TaskId, TaskRecord},
};

/// The most bytes of records of tasks that are kept until the tasks begin. Other records are read once more then.
const RECORDS_BYTES_MAX: usize = 4 << 20;
/// The summary is not written more often.
const SUM: Duration = Duration::from_secs(1);

/// The lease of a task as it was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObservedLease {
    pub(super) lease: Revision,
    /// Since when it was not renewed.
    pub(super) since: Instant,
}

/// The record of a task as it is stored.
pub(super) struct RawTaskRecord {
    pub(super) revision: Revision,
    pub(super) value: Vec<u8>,
}

/// A task that may begin, with its record if it is at hand.
pub(super) struct ReleasableTask {
    pub(super) task: TaskId,
    pub(super) record: Option<RawTaskRecord>,
}

/// A step with what is needed to carry it out.
pub(super) enum ControllerStep {
    Release(ReleasableTask),
    Block {
        task: TaskId,
        by: TaskId,
    },
    Spread(ReleasableTask),
    Close {
        task: TaskId,
        rows: u32,
        finished: u32,
    },
    /// Tasks begin that count for limits, once that is stored.
    Limited {
        slots: Slots,
        revision: Revision,
        begin: Vec<ReleasableTask>,
    },
    /// Others may know how many tasks are where.
    Sum(FleetSummary),
}

/// A step that was carried out.
pub(super) enum ControllerStepOutcome {
    Step,
    /// The record that these tasks count for limits is stored.
    Allowed {
        revision: Revision,
        begin: Vec<ReleasableTask>,
    },
    /// The summary is written with what was read up to these revisions of tasks and outcomes, or will be later.
    Summed(Option<(Revision, Revision)>),
}

/// State of the record of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SummaryWriteState {
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
pub(super) struct LeaderState {
    pub(super) graph: Graph,
    /// Records of some of the tasks that are not in the queue. They are not parsed: that would take several times the memory.
    records: HashMap<TaskId, RawTaskRecord>,
    /// Total size of these records, in bytes.
    records_bytes: usize,
    /// Tasks that are not wanted any more and have no outcome.
    pub(super) cancelled: BTreeMap<TaskId, Option<ObservedLease>>,
    pub(super) plans: Plans,
    /// The revision of the record of which tasks count for limits; `None` while it is written.
    slots: Option<Revision>,
    /// Tasks that begin once that record says so.
    limited: Vec<ReleasableTask>,
    /// Tasks of which it does.
    allowed: Vec<ReleasableTask>,
    summary: FleetSummary,
    written: SummaryWriteState,
}

impl LeaderState {
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
            summary: FleetSummary::default(),
            written: SummaryWriteState::Never,
        }
    }

    pub(super) fn learn(&mut self, prefix: &str, records: Vec<FleetRecord>) {
        let newest = records.iter().map(|record| record.revision).max().unwrap_or_default();
        if prefix == TASKS {
            self.summary.tasks = self.summary.tasks.max(newest);
        } else if prefix == OUTCOMES {
            self.summary.outcomes = self.summary.outcomes.max(newest);
        }
        for FleetRecord { key, revision, value } in records {
            if prefix == LIMITS {
                self.graph.set_limits(serde_json::from_slice(&value).unwrap_or_default());
                continue;
            }
            let Some(Ok(id)) = key.strip_prefix(prefix).map(TaskId::new) else { continue };
            if prefix == TASKS {
                let Some(record) = TaskRecord::stored_as(&id, &value) else { continue };
                self.learn_task(&record, RawTaskRecord { revision, value });
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
    pub(super) fn step(&mut self) -> Option<ControllerStep> {
        if let Some(begins) = self.allowed.pop() {
            return Some(ControllerStep::Release(begins));
        }
        // However much there is to do besides.
        if let Some(next) = self.sum().or_else(|| self.allow()) {
            return Some(next);
        }
        while let Some(step) = self.graph.next_step() {
            match step {
                GraphStep::Release { task, is_limited: false } => {
                    return Some(ControllerStep::Release(self.begins(task)));
                }
                GraphStep::Release { task, is_limited: true } => {
                    let begins = self.begins(task);
                    self.limited.push(begins);
                }
                GraphStep::Block { task, by } => return Some(ControllerStep::Block { task, by }),
                GraphStep::Spread(task) => return Some(ControllerStep::Spread(self.begins(task))),
                GraphStep::Close { task, rows, finished } => {
                    return Some(ControllerStep::Close { task, rows, finished });
                }
            }
        }
        self.allow()
    }

    /// Tasks that are to begin and count for limits, unless others are on their way.
    fn allow(&mut self) -> Option<ControllerStep> {
        if self.limited.is_empty() {
            return None;
        }
        let revision = self.slots.take()?;
        let begin = std::mem::take(&mut self.limited);
        Some(ControllerStep::Limited { slots: self.graph.slots().clone(), revision, begin })
    }

    /// Takes in that something was carried out.
    pub(super) fn done(&mut self, done: ControllerStepOutcome) {
        match done {
            ControllerStepOutcome::Step => {}
            ControllerStepOutcome::Allowed { revision, begin } => {
                self.slots = Some(revision);
                self.allowed.extend(begin);
            }
            ControllerStepOutcome::Summed(read) => {
                self.written = SummaryWriteState::Then { tried: Instant::now(), read }
            }
        }
    }

    /// The summary, if it is time to write it.
    fn sum(&mut self) -> Option<ControllerStep> {
        let now = (self.summary.tasks, self.summary.outcomes);
        let is_due = match self.written {
            SummaryWriteState::Never => now != (0, 0),
            SummaryWriteState::Now => false,
            SummaryWriteState::Then { tried, read } => {
                let after = if read == Some(now) { SUMMED } else { SUM };
                tried.elapsed() >= after
            }
        };
        is_due.then(|| {
            self.written = SummaryWriteState::Now;
            self.summary.tally = self.graph.tally().clone();
            ControllerStep::Sum(self.summary.clone())
        })
    }

    fn begins(&mut self, task: TaskId) -> ReleasableTask {
        let record = self.forget_record(&task);
        ReleasableTask { task, record }
    }

    /// The record of a task that is at hand. It is not kept any longer.
    fn forget_record(&mut self, task: &TaskId) -> Option<RawTaskRecord> {
        let record = self.records.remove(task)?;
        self.records_bytes -= record.value.len();
        Some(record)
    }

    fn learn_task(&mut self, record: &TaskRecord, stored: RawTaskRecord) {
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
        let finished = matches!(record.outcome, TaskOutcome::Done { finished: true, .. });
        self.graph.end(id, finished, record.used());
    }
}
