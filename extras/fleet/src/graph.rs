//! Which tasks may begin: those whose predecessors are finished, as far as the limits of their labels allow.
//!
//! Of a task that has no outcome, little is kept; of one that has ended, a mark, since others may come after it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use crate::{
    plan::{Limits, Slots, TaskIdHash, TaskTally, TaskUsage, groups::Groups},
    task::{TaskId, TaskSpec},
};

/// The next step to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphStep {
    /// The task may begin.
    Release {
        /// The task.
        task: TaskId,
        /// `true` if it counts for the limit of a label: then [`Graph::slots`] has to be stored before.
        is_limited: bool,
    },
    /// The task never begins.
    Block {
        /// The task.
        task: TaskId,
        /// The task it comes after, which did not finish.
        by: TaskId,
    },
    /// The table of the task is there: a task is to be made of each row.
    Spread(TaskId),
    /// The tasks of all rows have ended, and so has the task that stands for them.
    Close {
        /// That task.
        task: TaskId,
        /// Number of rows.
        rows: u32,
        /// Number of their tasks that finished.
        finished: u32,
    },
}

/// The place of a task among those that may begin: the highest priority first, then in the order in which they came.
type Turn = (Reverse<u8>, u64);

/// The tasks of a fleet and what is known of them.
#[derive(Debug, Default)]
pub struct Graph {
    /// The most tasks with a label that are in the queue or held at once.
    limits: Limits,
    /// Those that are, of labels with limits.
    slots: Slots,
    /// Tasks without an outcome.
    tasks: HashMap<TaskId, TaskNode>,
    kinds: Kinds,
    /// Tasks that have ended, with whether tasks after them may begin.
    ended: HashMap<TaskIdHash, bool>,
    /// The tasks that wait for a task, which may not have been read yet.
    waiting: HashMap<TaskId, Vec<TaskId>>,
    ready: BTreeMap<Turn, TaskId>,
    /// Tasks that could begin but for the limit of a label.
    held_up: BTreeMap<String, BTreeMap<Turn, TaskId>>,
    blocked: Vec<(TaskId, TaskId)>,
    /// Tasks that have ended and are not known yet, with whether tasks after them may begin, and what they took.
    early: HashMap<TaskId, (bool, TaskUsage)>,
    groups: Groups,
    tally: TaskTally,
    count: u64,
}

#[derive(Debug)]
struct TaskNode {
    /// The properties it shares with other tasks.
    kind: Arc<TaskProfile>,
    /// Its number among all that came.
    came: u64,
    /// Number of its predecessors that have not finished, including those that never will.
    left: u32,
    state: NodeState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeState {
    Waits,
    Released,
}

/// Properties that many tasks share.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TaskProfile {
    priority: u8,
    /// Those of a task that stands for rows are left out: they count for its rows.
    labels: BTreeSet<String>,
    batch: Option<String>,
    /// `true` if it stands for the rows of a table.
    has_rows: bool,
    row_of: Option<TaskId>,
}

impl TaskProfile {
    fn of(spec: &TaskSpec) -> Self {
        let has_rows = spec.for_each.is_some();
        Self {
            priority: spec.priority,
            labels: if has_rows { BTreeSet::new() } else { spec.labels.clone() },
            batch: spec.batch.clone(),
            has_rows,
            row_of: spec.row_of.clone(),
        }
    }
}

/// Kinds of tasks, each of them once.
#[derive(Debug, Default)]
struct Kinds {
    all: HashSet<Arc<TaskProfile>>,
    /// Maximum number until those without tasks are removed.
    most: usize,
}

impl Kinds {
    const LEAST: usize = 1_000;

    fn shared(&mut self, kind: TaskProfile) -> Arc<TaskProfile> {
        if let Some(known) = self.all.get(&kind) {
            return Arc::clone(known);
        }
        if self.all.len() >= self.most.max(Self::LEAST) {
            self.all.retain(|kind| Arc::strong_count(kind) > 1);
            self.most = 2 * self.all.len();
        }
        let kind = Arc::new(kind);
        self.all.insert(Arc::clone(&kind));
        kind
    }
}

impl TaskNode {
    fn turn(&self) -> Turn {
        (Reverse(self.kind.priority), self.came)
    }
}

impl Graph {
    /// A graph with limits of labels, and the tasks that counted for them before.
    pub fn new(limits: Limits, slots: Slots) -> Self {
        Self { limits, slots, ..Self::default() }
    }

    /// Adds a task; `is_released` says whether it was put into the queue. Returns whether it is new: nothing happens if it is known.
    pub fn add(&mut self, spec: &TaskSpec, is_released: bool) -> bool {
        if self.tasks.contains_key(&spec.id) || self.ended.contains_key(&TaskIdHash::of(&spec.id)) {
            return false;
        }
        self.count += 1;
        let rows = spec.for_each.as_ref().and_then(|table| table.rows);
        let is_released = is_released || rows.is_some();
        let left = self.predecessors(spec, is_released);
        let kind = self.kinds.shared(TaskProfile::of(spec));
        let state = if is_released { NodeState::Released } else { NodeState::Waits };
        let node = TaskNode { kind: Arc::clone(&kind), came: self.count, left, state };
        let turn = node.turn();
        self.tasks.insert(spec.id.clone(), node);
        if let Some(rows) = rows {
            self.groups.has_rows(&spec.id, rows);
        }
        let is_counted = u64::from(!kind.has_rows);
        self.tally.share(kind.labels.iter(), kind.batch.as_ref(), |share| share.tasks += is_counted);
        let is_in_queue = is_released && !kind.has_rows;
        *(if is_in_queue { &mut self.tally.released } else { &mut self.tally.waiting }) += 1;
        if is_released {
            self.take(&spec.id, &kind);
        } else if left == 0 {
            self.ready.insert(turn, spec.id.clone());
        }
        if let Some((finished, used)) = self.early.remove(&spec.id) {
            self.end(&spec.id, finished, used);
        }
        true
    }

    /// Returns the number of predecessors of a new task that have not finished. The task is added to the waiting
    /// list of those that may still finish, and blocked by the others.
    fn predecessors(&mut self, spec: &TaskSpec, is_released: bool) -> u32 {
        let mut left = 0;
        for before in &spec.after {
            match self.ended.get(&TaskIdHash::of(before)) {
                Some(true) => {}
                Some(false) if is_released => {}
                Some(false) => {
                    left += 1;
                    self.blocked.push((spec.id.clone(), before.clone()));
                }
                None => {
                    left += 1;
                    self.waiting.entry(before.clone()).or_default().push(spec.id.clone());
                }
            }
        }
        left
    }

    /// Takes in that a task has ended, which need not be known yet. `finished` says whether tasks after it may begin.
    pub fn end(&mut self, task: &TaskId, finished: bool, used: TaskUsage) {
        let mark = TaskIdHash::of(task);
        let Some(TaskNode { kind, came, state, .. }) = self.tasks.remove(task) else {
            if !self.ended.contains_key(&mark) {
                self.early.insert(task.clone(), (finished, used));
                self.free(mark);
            }
            return;
        };
        self.ended.insert(mark, finished);
        self.count_end(&kind, state, finished, used);
        match state {
            NodeState::Released => {}
            NodeState::Waits => {
                let turn = (Reverse(kind.priority), came);
                self.ready.remove(&turn);
                for label in &kind.labels {
                    if let Some(held_up) = self.held_up.get_mut(label) {
                        held_up.remove(&turn);
                    }
                }
            }
        }
        // One that waits may have its place since a leader that was lost was about to let it begin.
        self.free(mark);
        if let Some(group) = &kind.row_of {
            self.groups.row_ended(group, finished);
        }
        for after in self.waiting.remove(task).unwrap_or_default() {
            let Some(node) = self.tasks.get_mut(&after) else { continue };
            match (node.state, finished) {
                // It never begins, whatever becomes of the others that it comes after.
                (NodeState::Waits, false) => self.blocked.push((after, task.clone())),
                (NodeState::Waits, true) => {
                    node.left = node.left.saturating_sub(1);
                    if node.left == 0 {
                        self.ready.insert(node.turn(), after);
                    }
                }
                (NodeState::Released, _) => {}
            }
        }
    }

    fn count_end(&mut self, kind: &TaskProfile, state: NodeState, finished: bool, used: TaskUsage) {
        let tally = &mut self.tally;
        let was_in_queue = state == NodeState::Released && !kind.has_rows;
        let before = if was_in_queue { &mut tally.released } else { &mut tally.waiting };
        *before = before.saturating_sub(1);
        *(if finished { &mut tally.finished } else { &mut tally.unfinished }) += 1;
        tally.used = tally.used.plus(used);
        if used != TaskUsage::default() {
            let add = |share: &mut crate::plan::Share| share.used = share.used.plus(used);
            tally.share(kind.labels.iter(), kind.batch.as_ref(), add);
        }
    }

    /// Returns the next step. It then counts as done: the caller reports its outcome by [`Self::end`].
    pub fn next_step(&mut self) -> Option<GraphStep> {
        while let Some((task, by)) = self.blocked.pop() {
            if self.tasks.get(&task).is_some_and(|node| node.state == NodeState::Waits) {
                return Some(GraphStep::Block { task, by });
            }
        }
        while let Some((task, rows, finished)) = self.groups.next_complete() {
            if self.is_open(&task) {
                return Some(GraphStep::Close { task, rows, finished });
            }
        }
        while let Some((turn, task)) = self.ready.pop_first() {
            let Some(node) = self.tasks.get_mut(&task) else { continue };
            let kind = Arc::clone(&node.kind);
            if kind.has_rows {
                node.state = NodeState::Released;
                return Some(GraphStep::Spread(task));
            }
            if self.is_held_up(turn, &task, &kind) {
                continue;
            }
            if let Some(node) = self.tasks.get_mut(&task) {
                node.state = NodeState::Released;
            }
            self.tally.waiting = self.tally.waiting.saturating_sub(1);
            self.tally.released += 1;
            let is_limited = self.take(&task, &kind);
            return Some(GraphStep::Release { task, is_limited });
        }
        None
    }

    /// Puts a task aside if the limit of one of its labels is reached.
    fn is_held_up(&mut self, turn: Turn, task: &TaskId, kind: &TaskProfile) -> bool {
        if !kind.labels.iter().any(|label| self.limits.contains_key(label)) {
            return false;
        }
        let mark = TaskIdHash::of(task);
        let Self { limits, slots, held_up, ready, .. } = self;
        let is_full = |label: &&String| slots.is_full(limits, label, mark);
        let Some(full) = kind.labels.iter().find(is_full) else { return false };
        held_up.entry(full.clone()).or_default().insert(turn, task.clone());
        // It may have taken the turn of one that only its other labels held up.
        for label in kind.labels.iter().filter(|label| *label != full && !is_full(label)) {
            ready.extend(held_up.get_mut(label).and_then(BTreeMap::pop_first));
        }
        true
    }

    /// Takes in how many rows the table of a task has.
    pub fn has_rows(&mut self, task: &TaskId, rows: u32) {
        self.groups.has_rows(task, rows);
    }

    /// Sets other limits of labels. What they hold up or let go is counted anew.
    pub fn set_limits(&mut self, limits: Limits) {
        if limits == self.limits {
            return;
        }
        self.slots.keep(&limits);
        self.limits = limits;
        for (task, node) in self.tasks.iter().filter(|(_, node)| node.state == NodeState::Released) {
            for label in node.kind.labels.iter().filter(|label| self.limits.contains_key(*label)) {
                self.slots.take(label, TaskIdHash::of(task));
            }
        }
        self.ready.extend(std::mem::take(&mut self.held_up).into_values().flatten());
    }

    /// Returns `true` if the task is known and has no outcome.
    pub fn is_open(&self, task: &TaskId) -> bool {
        self.tasks.contains_key(task)
    }

    /// Returns the number of tasks without an outcome.
    pub fn open(&self) -> usize {
        self.tasks.len()
    }

    /// Which tasks count for limits.
    pub const fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Returns the number of tasks in each state.
    pub const fn tally(&self) -> &TaskTally {
        &self.tally
    }

    /// The task counts for the limits of its labels. Returns whether there are any.
    fn take(&mut self, task: &TaskId, kind: &TaskProfile) -> bool {
        let mut is_limited = false;
        for label in kind.labels.iter().filter(|label| self.limits.contains_key(*label)) {
            self.slots.take(label, TaskIdHash::of(task));
            is_limited = true;
        }
        is_limited
    }

    /// The task counts no more, and another one may begin for each of its labels.
    fn free(&mut self, task: TaskIdHash) {
        for label in self.slots.free(task) {
            self.ready.extend(self.held_up.get_mut(&label).and_then(BTreeMap::pop_first));
        }
    }
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;
