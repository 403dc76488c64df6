//! Errors of workflow files.

use std::{io, path::PathBuf};

use deskhand_machine::workflow::{TemplateError, WorkflowError};
use deskhand_runtime::{JournalError, learn::LearnError};

/// A workflow that cannot be found, read, written, learnt or run.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowFileError {
    /// There is no workflow of this name.
    #[error("there is no workflow `{name}`")]
    Missing {
        /// The name.
        name: String,
        /// A similar name, or all of them.
        near: Option<String>,
    },
    /// There is one of this name already.
    #[error("there is already a workflow `{name}` at {}", path.display())]
    Exists {
        /// The name.
        name: String,
        /// Its file.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("failed to {what} {}", path.display())]
    File {
        /// Attempted operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file cannot be sealed.
    #[error("failed to seal {}", path.display())]
    Seal {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: JournalError,
    },
    /// A file was changed, or comes from somebody else.
    #[error("workflow `{name}` is not trusted: it was changed, or somebody else made it")]
    NotTrusted {
        /// The name.
        name: String,
    },
    /// A file is no workflow.
    #[error("{} is no workflow: {problem}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The place and the problem.
        problem: String,
    },
    /// A workflow cannot be run as it is written, or with these values.
    #[error("failed to run workflow `{name}`")]
    Unfit {
        /// The name.
        name: String,
        /// The problem.
        #[source]
        problem: WorkflowError,
    },
    /// A text of a workflow cannot be filled in.
    #[error("failed to fill in workflow `{name}`")]
    Text {
        /// The name.
        name: String,
        /// The problem.
        #[source]
        problem: TemplateError,
    },
    /// A workflow cannot be written as TOML.
    #[error("workflow `{name}` cannot be written: {problem}")]
    Unwritable {
        /// The name.
        name: String,
        /// The problem.
        problem: String,
    },
    /// Nothing can be learnt from a session.
    #[error("failed to learn from {session}")]
    Learn {
        /// The session.
        session: String,
        /// The problem.
        #[source]
        problem: LearnError,
    },
    /// Nothing can be learnt from a demonstration.
    #[error("failed to learn from the demonstration")]
    Shown(#[source] LearnError),
    /// No change is proposed for a workflow.
    #[error("no run of `{name}` proposes a change")]
    NothingProposed {
        /// The name.
        name: String,
    },
}

impl WorkflowFileError {
    /// Returns the suggested next step.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Missing { near: Some(near), .. } => {
                Some(format!("did you mean {near}? `deskhand workflow list` lists them"))
            }
            Self::Missing { near: None, .. } => {
                Some("there is none yet; `deskhand learn SESSION` makes one of a finished session".to_owned())
            }
            Self::Exists { .. } => Some("give another name with --name, or --force to replace it".to_owned()),
            Self::Unfit { problem: WorkflowError::Values(_), .. } => Some(
                "parameters stand after the name of the workflow: deskhand do NAME --PARAMETER VALUE"
                    .to_owned(),
            ),
            Self::Form { .. } | Self::Unfit { .. } | Self::Text { .. } => Some(
                "docs/guides/workflows.md describes the file; `deskhand workflow test NAME` checks it"
                    .to_owned(),
            ),
            Self::Learn { .. } => {
                Some("`deskhand sessions` lists the sessions with their outcomes".to_owned())
            }
            Self::Shown(_) => Some(
                "clicks and texts count in windows that accessibility tells about; `deskhand tree` shows what it tells".to_owned(),
            ),
            Self::NotTrusted { name } => Some(format!(
                "look at what it does, and trust it, with `deskhand workflow trust {name}`"
            )),
            Self::File { .. }
            | Self::Seal { .. }
            | Self::Unwritable { .. }
            | Self::NothingProposed { .. } => None,
        }
    }
}
