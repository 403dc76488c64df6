//! Errors of submitting tasks.

use std::path::PathBuf;

use deskhand_fleet::{
    signed::KeyError,
    store::StoreError,
    task::{IdError, TaskId},
};
use deskhand_host::batch::TaskError;

/// Why tasks cannot be submitted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// A file of tasks cannot be read, or a task is not valid.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A field that a fleet asks for is not valid.
    #[error("{place}: {problem}")]
    Field {
        /// The place where the task is written.
        place: String,
        /// The problem, with the field.
        problem: String,
    },
    /// An id cannot be used.
    #[error("{place}: {source}; give the task another `id`")]
    Id {
        /// The place where the task is written.
        place: String,
        /// Why.
        source: IdError,
    },
    /// A document cannot be sent.
    #[error("{place}: the document {} cannot be sent: {problem}", path.display())]
    Document {
        /// The place where the task is written.
        place: String,
        /// The document.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// There is a task with this id.
    #[error(
        "the fleet has a task {id} already; give this one another `id`, or submit with a `--batch` name of its own"
    )]
    Known {
        /// The id.
        id: TaskId,
    },
    /// A task comes after one that nobody knows.
    #[error("{place}: it comes after {after}, and there is no such task among those submitted")]
    After {
        /// The place where the task is written.
        place: String,
        /// The unknown task.
        after: String,
    },
    /// The task cannot be signed.
    #[error("the task {id} cannot be signed")]
    Sign {
        /// The task.
        id: TaskId,
        /// Why.
        #[source]
        source: KeyError,
    },
    /// The server does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}
