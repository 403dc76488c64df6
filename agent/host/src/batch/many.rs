//! Runs several sessions, in order or in parallel.

use std::collections::VecDeque;

use deskhand_runtime::Waits;
use tokio::task::JoinSet;

use super::{BatchError, Task, TaskResult, note::HeldNote, results::Results};
use crate::{Control, HostError, Observer, PreparedSession, live::ScreenPlace};

/// Observes several sessions.
pub trait TasksObserver {
    /// A task begins; `waits` says what its session waits for. The returned observer gets the events of its session.
    fn begun(&mut self, task: &Task, waits: &Waits) -> Box<dyn Observer>;

    /// A task ended.
    fn ended(&mut self, result: &TaskResult);
}

/// Tasks to run, each in its own session. Everything that can be checked before a desktop starts has been checked.
pub struct TaskBatch {
    pub(super) waiting: VecDeque<(Task, PreparedSession)>,
    pub(super) parallel: usize,
    /// The results folder of a batch.
    pub(super) results: Option<Results>,
    /// The results of an earlier run.
    pub(super) earlier: Vec<TaskResult>,
    /// The note of a batch, by which others find it while it runs.
    pub(super) note: Option<HeldNote>,
}

impl TaskBatch {
    /// The results of an earlier run. Their tasks are skipped.
    pub fn earlier(&self) -> &[TaskResult] {
        &self.earlier
    }

    /// The number of tasks, including those of an earlier run.
    pub fn count(&self) -> usize {
        self.waiting.len() + self.earlier.len()
    }

    /// The results folder of a batch.
    pub fn folder(&self) -> Option<&std::path::Path> {
        self.results.as_ref().map(Results::folder)
    }

    /// The sessions, for callers that run them in another way.
    pub fn into_sessions(self) -> impl Iterator<Item = (Task, PreparedSession)> {
        self.waiting.into_iter()
    }

    /// Runs the tasks and returns their results, those of an earlier run first. After a stop, no further task begins.
    ///
    /// # Errors
    /// A result cannot be written. Running sessions are dropped then.
    pub async fn run(
        self,
        control: &Control,
        observer: &mut dyn TasksObserver,
    ) -> Result<Vec<TaskResult>, HostError> {
        let Self { mut waiting, parallel, results, earlier: mut all, note: _held } = self;
        let mut running: JoinSet<TaskResult> = JoinSet::new();
        loop {
            while running.len() < parallel.max(1)
                && control.stop.reason().is_none()
                && let Some((task, session)) = waiting.pop_front()
            {
                let control =
                    Control { waits: Waits::default(), screen: ScreenPlace::default(), ..control.clone() };
                let mut watch = observer.begun(&task, &control.waits);
                running.spawn(async move {
                    let ended = session.run(&control, &mut *watch).await;
                    TaskResult::of(&task, ended)
                });
            }
            match running.join_next().await {
                None => return Ok(all),
                Some(Ok(result)) => {
                    if let Some(results) = &results {
                        results.keep(&result)?;
                    }
                    observer.ended(&result);
                    all.push(result);
                }
                Some(Err(error)) => return Err(BatchError::Task(error).into()),
            }
        }
    }
}
