//! The results of a batch, one file per task, so that a later run can skip finished tasks.

use std::{
    collections::VecDeque,
    fs, io,
    path::{Path, PathBuf},
};

use deskhand_machine::{money::Cost, outcome::OutcomeKind};
use deskhand_runtime::{new_id, private};
use deskhand_ui::{ids::SessionId, text::error_chain};
use serde::{Deserialize, Serialize};

use super::{BatchError, BatchNote, Batches, NotedTask, Task, TaskBatch};
use crate::{EndedSession, HostError, PreparedSession, config::DesktopKind, session::SessionPlan};

/// A batch to run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BatchRequest {
    /// The id of the batch; `None` for one of its own choice.
    pub id: Option<SessionId>,
    /// A folder of tasks, or a file of JSON lines.
    pub tasks: PathBuf,
    /// Number of sessions that run in parallel; 0 counts as 1.
    pub parallel: usize,
    /// If `true`, skip tasks with a result of an earlier run. If `false`, the results folder must be empty.
    pub resume: bool,
    /// The results folder; by default beside the tasks.
    pub results: Option<PathBuf>,
    /// The request that all sessions have in common.
    pub session: crate::SessionRequest,
}

/// The result of a task, as stored in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    /// The id of the task.
    pub id: String,
    /// The request.
    pub request: String,
    /// The outcome.
    pub outcome: OutcomeKind,
    /// The reason of the outcome.
    pub reason: String,
    /// Its session; `None` if it was never started.
    pub session_id: Option<String>,
    /// The folder of the session.
    pub session_path: Option<PathBuf>,
    /// The number of steps of all agents.
    pub steps: u32,
    /// The number of tool calls.
    pub calls: u32,
    /// The number of model requests.
    pub model_calls: u32,
    /// The number of tokens read.
    pub prompt_tokens: u64,
    /// The number of tokens written.
    pub completion_tokens: u64,
    /// The cost of the model.
    pub cost: Cost,
    /// Elapsed time, in milliseconds.
    pub elapsed_ms: u64,
    /// The exit code for the outcome.
    pub exit_code: u8,
}

impl TaskResult {
    /// The result of a task whose session ended so.
    pub fn of(task: &Task, ended: Result<Option<EndedSession>, HostError>) -> Self {
        let mut result = Self {
            id: task.id.clone(),
            request: task.request().to_owned(),
            outcome: OutcomeKind::Cancelled,
            reason: "stopped before the request began".to_owned(),
            session_id: None,
            session_path: None,
            steps: 0,
            calls: 0,
            model_calls: 0,
            prompt_tokens: 0,
            completion_tokens: 0,
            cost: Cost::default(),
            elapsed_ms: 0,
            exit_code: OutcomeKind::Cancelled.exit_code(),
        };
        match ended {
            Ok(None) => {}
            Ok(Some(ended)) => {
                let (outcome, tally) = (ended.outcome(), &ended.summary.tally);
                result.outcome = outcome.kind;
                result.reason = outcome.reason;
                result.session_id = Some(ended.session.0.clone());
                result.session_path = Some(ended.folder.path().to_owned());
                result.steps = tally.steps;
                result.calls = tally.calls;
                result.model_calls = tally.model_calls;
                result.prompt_tokens = tally.prompt_tokens;
                result.completion_tokens = tally.completion_tokens;
                result.cost = tally.cost;
                result.elapsed_ms = ended.elapsed_ms;
            }
            Err(error) => {
                result.outcome = OutcomeKind::Error;
                result.reason = error_chain(&error);
            }
        }
        result.exit_code = result.outcome.exit_code();
        result
    }

    /// Returns `true` if the task has a result of its own. A task that was cancelled or ended in an error has none.
    pub const fn is_done(&self) -> bool {
        match self.outcome {
            OutcomeKind::Finished
            | OutcomeKind::Failed
            | OutcomeKind::Rejected
            | OutcomeKind::BudgetExhausted => true,
            OutcomeKind::Cancelled | OutcomeKind::Error => false,
        }
    }
}

/// The results folder, with one file per task.
pub(super) struct Results(PathBuf);

impl Results {
    fn of(request: &BatchRequest) -> Self {
        Self(request.results.clone().unwrap_or_else(|| {
            if request.tasks.is_dir() {
                request.tasks.join("results")
            } else {
                let mut name = request.tasks.file_name().unwrap_or_default().to_os_string();
                name.push(".results");
                request.tasks.with_file_name(name)
            }
        }))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    fn file(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }

    /// The result of an earlier run, if it is for the same task.
    fn earlier(&self, task: &Task) -> Result<Option<TaskResult>, BatchError> {
        let path = self.file(&task.id);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(BatchError::Read { path, source }),
        };
        let result: TaskResult =
            serde_json::from_slice(&text).map_err(|source| BatchError::Form { path, source })?;
        Ok((result.request == task.request()).then_some(result))
    }

    /// Writes a result atomically.
    pub(super) fn keep(&self, result: &TaskResult) -> Result<(), BatchError> {
        let path = self.file(&result.id);
        let part = self.0.join(format!(".{}.part", result.id));
        let write = || {
            let text = serde_json::to_vec_pretty(result)?;
            private::create_folders(&self.0)?;
            private::write_file(&part, &text)?;
            fs::rename(&part, &path)
        };
        write().map_err(|source| BatchError::Write { path: path.clone(), source })
    }
}

/// The sessions of a batch, derived from one plan.
pub(crate) fn batch(
    request: &BatchRequest,
    tasks: Vec<Task>,
    base: &SessionPlan,
    batches: &Batches,
) -> Result<TaskBatch, HostError> {
    if request.parallel > 1 && base.workspace.kind == DesktopKind::Current {
        return Err(BatchError::SharedDesktop.into());
    }
    let results = Results::of(request);
    let (mut earlier, mut waiting) = (Vec::new(), Vec::new());
    for task in tasks {
        match results.earlier(&task)? {
            Some(result) if request.resume && result.is_done() => earlier.push(result),
            Some(_) if !request.resume => {
                return Err(BatchError::HasResults { folder: results.0 }.into());
            }
            Some(_) | None => waiting.push(task),
        }
    }
    let mut noted: Vec<NotedTask> = earlier.iter().map(NotedTask::done).collect();
    let base = base.in_batch(results.folder());
    let waiting = waiting.into_iter().map(|task| {
        let session = new_id();
        noted.push(NotedTask::planned(&task, &session));
        let plan = task.plan(&base)?.called(session);
        Ok((task, PreparedSession::new(plan)))
    });
    let waiting = waiting.collect::<Result<_, HostError>>()?;
    // A script or key that is missing is found before anything starts.
    base.model.open()?;
    let note = BatchNote::new(&request.tasks, results.folder(), request.parallel, noted);
    let note = Some(batches.hold(request.id.as_ref(), &note)?);
    Ok(TaskBatch { waiting, parallel: request.parallel, results: Some(results), earlier, note })
}

impl NotedTask {
    fn done(result: &TaskResult) -> Self {
        Self { id: result.id.clone(), request: result.request.clone(), session: None }
    }

    fn planned(task: &Task, session: &SessionId) -> Self {
        Self { id: task.id.clone(), request: task.request().to_owned(), session: Some(session.0.clone()) }
    }
}

/// The sessions of plans to follow in order, derived from one plan.
pub(crate) fn follow(tasks: Vec<Task>, base: &SessionPlan) -> Result<TaskBatch, HostError> {
    let waiting = tasks.into_iter().map(|task| {
        let session = PreparedSession::new(task.plan(base)?);
        Ok((task, session))
    });
    let waiting = waiting.collect::<Result<VecDeque<_>, HostError>>()?;
    Ok(TaskBatch { waiting, parallel: 1, results: None, earlier: Vec::new(), note: None })
}
