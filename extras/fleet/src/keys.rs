//! Keys of the records of a fleet.

use crate::task::TaskId;

/// Key prefixes of the records of tasks, of their leases, and of their outcomes.
pub const TASKS: &str = "task.";
/// See [`TASKS`].
pub const LEASES: &str = "lease.";
/// See [`TASKS`].
pub const OUTCOMES: &str = "outcome.";
/// Key prefix of the records that cancel a task.
pub const CANCELS: &str = "cancel.";
/// Key prefix of the records with questions of a session; such a record is empty once it is answered.
pub const QUESTIONS: &str = "question.";
/// Key prefix of the records with answers; the task and the question follow.
pub const ANSWERS: &str = "answer.";

/// The key of the record of a task.
pub fn task_key(task: &TaskId) -> String {
    format!("{TASKS}{task}")
}

/// The key of the record of who has a task.
pub fn lease_key(task: &TaskId) -> String {
    format!("{LEASES}{task}")
}

/// The key of the record of the outcome of a task.
pub fn outcome_key(task: &TaskId) -> String {
    format!("{OUTCOMES}{task}")
}

/// The key of the record that says that a task is not wanted any more.
pub fn cancel_key(task: &TaskId) -> String {
    format!("{CANCELS}{task}")
}
