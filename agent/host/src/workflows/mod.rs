//! Workflows on disk: learning, listing, running them, and taking over what a run proposes to change.
//!
//! A workflow is a TOML file of the folder of workflows. What a run proposes to change is a second file beside it, until somebody looks at
//! it and takes it over.

mod error;
mod learning;
mod offering;
mod performing;
mod shelf;

pub use error::WorkflowFileError;
pub use learning::Learn;
pub(crate) use learning::{learn_from, named};
pub(crate) use offering::workflows;
pub use performing::Perform;
pub use shelf::{StoredWorkflow, WorkflowFolder};
