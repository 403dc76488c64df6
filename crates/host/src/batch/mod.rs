//! Many requests from files: the tasks of a batch, the plans to follow, and their results.

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
