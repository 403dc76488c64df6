//! Several sessions, one after the other or side by side.

use std::collections::VecDeque;

use tokio::task::JoinSet;

use super::{BatchError, Task, TaskResult, results::Results};
use crate::{Control, HostError, Observer, Session};

/// Gets to know what happens in several sessions.
pub trait TasksObserver {
    /// A task begins; what is returned watches its session.
    fn begun(&mut self, task: &Task) -> Box<dyn Observer>;

    /// A task has come to its end.
    fn ended(&mut self, result: &TaskResult);
}

/// Tasks that are about to run, each in a session of its own. Everything about them was checked that can be before a
/// desktop starts.
pub struct Tasks {
    pub(super) waiting: VecDeque<(Task, Session)>,
    pub(super) parallel: usize,
    /// Where results are kept, for a batch.
    pub(super) results: Option<Results>,
    /// What came of tasks in an earlier run.
    pub(super) earlier: Vec<TaskResult>,
}

impl Tasks {
    /// What came of tasks in an earlier run; these are left out.
    pub fn earlier(&self) -> &[TaskResult] {
        &self.earlier
    }

    /// How many tasks there are, those of an earlier run included.
    pub fn count(&self) -> usize {
        self.waiting.len() + self.earlier.len()
    }

    /// The folder of the results, for a batch.
    pub fn folder(&self) -> Option<&std::path::Path> {
        self.results.as_ref().map(Results::folder)
    }

    /// The sessions, for a caller that runs them in another way.
    pub fn into_sessions(self) -> impl Iterator<Item = (Task, Session)> {
        self.waiting.into_iter()
    }

    /// Runs the tasks. After a stop none is begun any more. Returns what came of all of them, those of an earlier run first.
    ///
    /// # Errors
    /// A result cannot be written; the sessions that run are dropped then.
    pub async fn run(
        self,
        control: &Control,
        observer: &mut dyn TasksObserver,
    ) -> Result<Vec<TaskResult>, HostError> {
        let Self { mut waiting, parallel, results, earlier: mut all } = self;
        let mut running: JoinSet<TaskResult> = JoinSet::new();
        loop {
            while running.len() < parallel.max(1)
                && control.stop.reason().is_none()
                && let Some((task, session)) = waiting.pop_front()
            {
                let mut watch = observer.begun(&task);
                let control = control.clone();
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
