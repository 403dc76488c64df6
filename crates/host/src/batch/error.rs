//! What can be wrong with files of tasks, and with the results of a batch.

use std::{io, path::PathBuf};

use crate::workspace::DocumentError;

const FORMS: &str = "`deskhand batch --help` and `deskhand follow --help` show";

/// A file of tasks or of a plan that cannot be used; nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// It cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The folder cannot be read.
    #[error("failed to read the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A field is missing, unknown or of the wrong type.
    #[error("{field}{place} is wrong: {problem}")]
    Form {
        /// File and line.
        place: String,
        /// The field, with `in` after it; empty for the whole.
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// There is nothing to do in it.
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
    /// The id cannot be the name of a file.
    #[error("`id` in {place} is `{id}`, which is no name of a file")]
    Id {
        /// File and line.
        place: String,
        /// The id.
        id: String,
        /// One that can.
        instead: String,
    },
    /// There is no task.
    #[error("there is nothing to do in {}", path.display())]
    Nothing {
        /// The file or folder.
        path: PathBuf,
    },
    /// There are too many tasks.
    #[error("more than {most} tasks are in {}", path.display())]
    TooMany {
        /// The file or folder.
        path: PathBuf,
        /// How many there may be.
        most: usize,
    },
    /// Two tasks have one id.
    #[error("`{id}` is the id of two tasks: {first} and {second}")]
    SameId {
        /// The id.
        id: String,
        /// Where it was first.
        first: String,
        /// Where it was again.
        second: String,
    },
    /// A document of a task cannot be opened.
    #[error("{place}")]
    Document {
        /// File and line.
        place: String,
        /// Why.
        #[source]
        source: DocumentError,
    },
}

impl TaskError {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Read { .. } => "check the path; nothing was started".to_owned(),
            Self::Form { .. } => format!("{FORMS} the fields"),
            Self::EmptyRequest { .. } => "say what to do".to_owned(),
            Self::EmptyStep { .. } => "say what to do in this step, or leave it out".to_owned(),
            Self::NoSteps { .. } => {
                "list what to do, one step after the other: \"steps\": [\"…\", \"…\"]".to_owned()
            }
            Self::Id { instead, .. } => {
                format!("use letters, digits, `-`, `_` and `.`, such as `{instead}`")
            }
            Self::Nothing { .. } => format!("{FORMS} what is read"),
            Self::TooMany { .. } => "split them".to_owned(),
            Self::SameId { .. } => "give each an `id` of its own".to_owned(),
            Self::Document { source, .. } => return source.help(),
            Self::Folder { .. } => return None,
        })
    }

    /// Whether what was read cannot be, rather than could not be read.
    pub const fn is_usage(&self) -> bool {
        !matches!(self, Self::Read { .. } | Self::Folder { .. } | Self::Document { .. })
    }
}

/// A batch that cannot be run, or whose results cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// Several sessions at once are to work on the current desktop.
    #[error("sessions side by side cannot share the current desktop")]
    SharedDesktop,
    /// There are results of an earlier run, which this one is not to resume.
    #[error("there are results in {} already", folder.display())]
    HasResults {
        /// The folder of the results.
        folder: PathBuf,
    },
    /// A result of an earlier run cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file in the folder of the results is no result.
    #[error("failed to read {}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A result cannot be written.
    #[error("failed to write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A task panicked.
    #[error("failed to run a task to its end")]
    Task(#[source] tokio::task::JoinError),
}

impl BatchError {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::SharedDesktop => "give each one of its own: `desktop.kind = \"virtual\"`".to_owned(),
            Self::HasResults { .. } => "resume the batch, or name another folder for the results".to_owned(),
            Self::Form { .. } => {
                "it is no result of a batch; remove it, or name another folder for the results".to_owned()
            }
            Self::Read { .. } | Self::Write { .. } | Self::Task(_) => return None,
        })
    }

    /// Whether it was asked for in a way that cannot be.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::SharedDesktop | Self::HasResults { .. })
    }
}
