//! Errors of task files and of the results of a batch.

use std::{io, path::PathBuf};

use deskhand_runtime::JournalError;

use crate::workspace::DocumentError;

const FORMS: &str = "see `deskhand batch --help` and `deskhand follow --help`";

/// A task file or plan that cannot be used. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The file cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file cannot be sealed.
    #[error("failed to seal {}", path.display())]
    Seal {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: JournalError,
    },
    /// The folder cannot be read.
    #[error("failed to read the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A field is missing, unknown or of the wrong type.
    #[error("{field}{place} is not valid: {problem}")]
    Form {
        /// File and line.
        place: String,
        /// The field, followed by `in`; empty for the whole object.
        field: String,
        /// The problem.
        problem: String,
    },
    /// The request is empty.
    #[error("the request in {place} is empty")]
    EmptyRequest {
        /// File and line.
        place: String,
    },
    /// A step is empty.
    #[error("`steps[{number}]` in {place} is empty")]
    EmptyStep {
        /// File and line.
        place: String,
        /// The step, from 0.
        number: usize,
    },
    /// A plan has no steps.
    #[error("`steps` in {place} is missing or empty")]
    NoSteps {
        /// File and line.
        place: String,
    },
    /// The id cannot be used as a file name.
    #[error("`id` in {place} is `{id}`, which cannot be used as a file name")]
    Id {
        /// File and line.
        place: String,
        /// The id.
        id: String,
        /// A similar id that can be used.
        instead: String,
    },
    /// There are no tasks.
    #[error("there are no tasks in {}", path.display())]
    Nothing {
        /// The file or folder.
        path: PathBuf,
    },
    /// There are too many tasks.
    #[error("{} has more than {most} tasks", path.display())]
    TooMany {
        /// The file or folder.
        path: PathBuf,
        /// The limit.
        most: usize,
    },
    /// Two tasks have the same id.
    #[error("two tasks have the id `{id}`: {first} and {second}")]
    SameId {
        /// The id.
        id: String,
        /// The first task with it.
        first: String,
        /// The second task with it.
        second: String,
    },
    /// A document of a task cannot be opened.
    #[error("{place}")]
    Document {
        /// File and line.
        place: String,
        /// The cause.
        #[source]
        source: DocumentError,
    },
}

impl TaskError {
    /// Returns the suggested next step.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Read { .. } => "check the path; nothing was started".to_owned(),
            Self::Form { .. } => format!("{FORMS} for the fields"),
            Self::EmptyRequest { .. } => "describe what to do".to_owned(),
            Self::EmptyStep { .. } => "describe what to do in this step, or remove it".to_owned(),
            Self::NoSteps { .. } => "list the steps in order: \"steps\": [\"…\", \"…\"]".to_owned(),
            Self::Id { instead, .. } => {
                format!("use letters, digits, `-`, `_` and `.`, such as `{instead}`")
            }
            Self::Nothing { .. } => format!("{FORMS} for the files that are read"),
            Self::TooMany { .. } => "split them into several batches".to_owned(),
            Self::SameId { .. } => "give each task its own `id`".to_owned(),
            Self::Document { source, .. } => return source.help(),
            Self::Folder { .. } | Self::Seal { .. } => return None,
        })
    }

    /// Returns `true` if the content is not valid, rather than unreadable.
    pub const fn is_usage(&self) -> bool {
        !matches!(self, Self::Read { .. } | Self::Seal { .. } | Self::Folder { .. } | Self::Document { .. })
    }
}

/// A batch that cannot run, or whose results cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// Several parallel sessions would share the current desktop.
    #[error("parallel sessions cannot share the current desktop")]
    SharedDesktop,
    /// There are results of an earlier run, and this run does not resume it.
    #[error("{} already contains results", folder.display())]
    HasResults {
        /// The folder of the results.
        folder: PathBuf,
    },
    /// A result of an earlier run cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file in the results folder is not a result.
    #[error("failed to read {}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
    /// A result cannot be written.
    #[error("failed to write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A task panicked.
    #[error("failed to run a task to its end")]
    Task(#[source] tokio::task::JoinError),
}

impl BatchError {
    /// Returns the suggested next step.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::SharedDesktop => {
                "give each session its own desktop: `desktop.kind = \"virtual\"`".to_owned()
            }
            Self::HasResults { .. } => "resume the batch, or use another folder for the results".to_owned(),
            Self::Form { .. } => {
                "it is not a batch result; remove it, or use another folder for the results".to_owned()
            }
            Self::Read { .. } | Self::Write { .. } | Self::Task(_) => return None,
        })
    }

    /// Returns `true` if the caller asked for something impossible.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::SharedDesktop | Self::HasResults { .. })
    }
}
