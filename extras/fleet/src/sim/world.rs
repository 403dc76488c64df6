//! Effects of tasks, counted outside of the fleet, and the runner that makes them.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    Chance,
    tasks::{FAILS, LIMITED},
};
use crate::{
    holder::{Lease, LeaseLost, TaskRunner, TaskStart},
    journal::{TaskJournalEntry, TaskOutcome},
    pace::pause,
    store::FleetStore,
    task::{OnLoss, TaskId, TaskSpec},
};

/// Number of times each action of each task was done, and the journal lines that were confirmed to their
/// writers as stored.
#[derive(Debug, Clone, Default)]
pub struct World(Arc<Mutex<Ledger>>);

#[derive(Debug, Default)]
struct Ledger {
    tasks: HashMap<TaskId, SimTaskHistory>,
    runs: u32,
}

/// The actions done for a task.
#[derive(Debug, Clone, Default)]
pub(super) struct SimTaskHistory {
    /// Number of times each action was done, since the task was last begun again.
    pub(super) actions: Vec<u8>,
    /// When the last of them shows in the world.
    shows: Option<Instant>,
    /// Who does it.
    run: u32,
    /// Actions of somebody after another one had begun to do the task.
    pub(super) late: u32,
    /// The lines of each run that the server has said to be stored, by their hashes.
    pub(super) lines: Vec<(u32, Vec<u64>)>,
    /// When somebody did it, if its label has a limit.
    pub(super) spans: Vec<SimRunSpan>,
}

/// From when until when somebody did a task, as far as that showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SimRunSpan {
    pub(super) begun: Instant,
    pub(super) seen: Instant,
    run: u32,
}

impl SimTaskHistory {
    fn seen(&mut self, run: u32) {
        if let Some(span) = self.spans.iter_mut().find(|span| span.run == run) {
            span.seen = Instant::now();
        }
    }
}

/// The hash of a line.
pub(super) fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

impl World {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody begins to do a task. Returns the number of the run.
    fn begins(&self, task: &TaskSpec) -> u32 {
        let mut ledger = self.ledger();
        ledger.runs += 1;
        let run = ledger.runs;
        let done = ledger.tasks.entry(task.id.clone()).or_default();
        done.run = run;
        if task.on_loss == OnLoss::Afresh {
            done.actions.clear();
        }
        if task.labels.contains(LIMITED) {
            let now = Instant::now();
            done.spans.push(SimRunSpan { begun: now, seen: now, run });
        }
        run
    }

    /// An action is done; what it changes shows after a while.
    fn does(&self, task: &TaskId, action: usize, run: u32, takes: Duration) {
        let mut ledger = self.ledger();
        let done = ledger.tasks.entry(task.clone()).or_default();
        done.seen(run);
        if done.run != run {
            done.late += 1;
        }
        if done.actions.len() <= action {
            done.actions.resize(action + 1, 0);
        }
        if let Some(times) = done.actions.get_mut(action) {
            *times = times.saturating_add(1);
        }
        done.shows = Some(Instant::now() + takes);
    }

    /// Returns `true` if the world shows that an action was done.
    fn shows(&self, task: &TaskId, action: usize) -> bool {
        let ledger = self.ledger();
        let Some(done) = ledger.tasks.get(task) else { return false };
        let is_done = done.actions.get(action).is_some_and(|times| *times > 0);
        is_done && (action + 1 < done.actions.len() || done.shows.is_none_or(|shows| shows <= Instant::now()))
    }

    fn stored(&self, task: &TaskId, run: u32, line: &str) {
        let mut ledger = self.ledger();
        let done = ledger.tasks.entry(task.clone()).or_default();
        done.seen(run);
        match done.lines.iter_mut().find(|(other, _)| *other == run) {
            Some((_, lines)) => lines.push(hash(line)),
            None => {
                // There are few of them, and many tasks.
                done.lines.reserve_exact(1);
                done.lines.push((run, vec![hash(line)]));
            }
        }
    }

    /// Returns the actions done for a task.
    pub(super) fn done(&self, task: &TaskId) -> SimTaskHistory {
        self.ledger().tasks.get(task).cloned().unwrap_or_default()
    }

    /// Returns the number of actions that were done, and of those that were done more than once.
    pub fn counts(&self) -> (usize, usize) {
        let ledger = self.ledger();
        let all = || ledger.tasks.values().flat_map(|done| &done.actions);
        (all().filter(|times| **times > 0).count(), all().filter(|times| **times > 1).count())
    }
}

/// Does tasks whose work is a number of actions.
#[derive(Debug)]
pub struct SimRunner {
    world: World,
    /// Time to think before and after an action.
    thinks: (Duration, Duration),
    /// Time until an action shows in the world. The action continues whatever happens to the worker.
    takes: (Duration, Duration),
    chance: Chance,
}

impl SimRunner {
    /// One that changes a world, and thinks for this long before each action and after it.
    pub const fn new(world: World, action: Duration) -> Self {
        Self::with_times(world, (action, action), (Duration::ZERO, Duration::ZERO), 0)
    }

    /// One whose times are between others.
    pub(super) const fn with_times(
        world: World,
        thinks: (Duration, Duration),
        takes: (Duration, Duration),
        seed: u64,
    ) -> Self {
        Self { world, thinks, takes, chance: Chance::new(seed) }
    }

    async fn thinks(&self) {
        pause(self.chance.between(self.thinks.0, self.thinks.1)).await;
    }
}

/// Writes lines none of which is like another one.
struct SimLineWriter<'a, S> {
    world: &'a World,
    lease: &'a Lease<S>,
    task: &'a TaskId,
    run: u32,
    written: u32,
}

impl<S: FleetStore> SimLineWriter<'_, S> {
    fn line(&mut self, text: &str) -> String {
        self.written += 1;
        format!("{}.{} {text}", self.run, self.written)
    }

    async fn act(&mut self, action: usize) -> Result<(), LeaseLost> {
        let line = self.line(&format!("does {action}"));
        self.lease.act(line.clone()).await?;
        self.world.stored(self.task, self.run, &line);
        Ok(())
    }

    async fn write(&mut self, action: usize) -> Result<(), LeaseLost> {
        let line = self.line(&format!("did {action}"));
        self.lease.write(line.clone()).await?;
        self.world.stored(self.task, self.run, &line);
        Ok(())
    }
}

impl TaskRunner for SimRunner {
    async fn run<S: FleetStore>(
        &self,
        task: &TaskSpec,
        beginning: TaskStart,
        lease: &Lease<S>,
    ) -> Result<TaskOutcome, LeaseLost> {
        let all = task.work.as_u64().and_then(|all| usize::try_from(all).ok()).unwrap_or(1);
        let world = &self.world;
        let run = world.begins(task);
        let mut writer = SimLineWriter { world, lease, task: &task.id, run, written: 0 };
        let mut next = 0;
        if let TaskStart::Resumed(journal) = &beginning {
            next =
                journal.entries().iter().filter(|entry| matches!(entry, TaskJournalEntry::Lines(_))).count();
            // Who goes on looks at what an action without an answer has left.
            if journal.is_acting() && world.shows(&task.id, next) {
                writer.write(next).await?;
                next += 1;
            }
        }
        for action in next..all {
            self.thinks().await;
            writer.act(action).await?;
            let takes = self.chance.between(self.takes.0, self.takes.1);
            world.does(&task.id, action, run, takes);
            pause(takes).await;
            self.thinks().await;
            writer.write(action).await?;
        }
        Ok(TaskOutcome::Done { result: all.into(), finished: !task.labels.contains(FAILS) })
    }
}
