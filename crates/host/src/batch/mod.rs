//! Many requests out of files: the tasks of a batch and the plans to follow, and what came of each.

mod error;
mod many;
mod results;
mod task;

pub use error::{BatchError, TaskError};
pub use many::{Tasks, TasksObserver};
pub use results::{BatchRequest, TaskResult};
pub(crate) use results::{batch, follow};
pub use task::Task;
pub(crate) use task::{read_plans, read_tasks};
