//! Many requests from files: the tasks of a batch, the plans to follow, and their results.

mod error;
mod files;
mod many;
mod note;
mod results;
mod task;

pub use error::{BatchError, TaskError};
pub use files::{TaskFiles, WrittenTask};
pub use many::{TaskBatch, TasksObserver};
pub use note::{Batch, BatchNote, Batches, NotedTask};
pub use results::{BatchRequest, TaskResult};
pub(crate) use results::{batch, follow};
pub use task::Task;
