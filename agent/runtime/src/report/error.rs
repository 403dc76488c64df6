//! Report errors.

use std::path::PathBuf;

use crate::journal::JournalError;

/// A report that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file or folder of the report cannot be written.
    #[error("write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A template of the page cannot be rendered.
    #[error("render `{name}` of the report: {problem}")]
    Template {
        /// The template.
        name: &'static str,
        /// The problem.
        problem: String,
    },
    /// A record cannot be encoded.
    #[error("encode a step as JSON")]
    Encode(#[source] serde_json::Error),
    /// A picture cannot be annotated.
    #[error("annotate a picture")]
    Picture(#[source] deskhand_desktop::DesktopError),
}

impl ReportError {
    pub(super) fn write(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }
}
