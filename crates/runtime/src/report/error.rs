//! What can go wrong with a report.

use std::path::PathBuf;

use crate::journal::JournalError;

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The journal could not be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file or folder of the report could not be written.
    #[error("write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A part of the page could not be made.
    #[error("render `{name}` of the report: {problem}")]
    Template {
        /// The template.
        name: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A record could not be written as JSON.
    #[error("write a step as JSON")]
    Encode(#[source] serde_json::Error),
    /// A picture could not be drawn on.
    #[error("draw on a picture")]
    Picture(#[source] deskhand_desktop::DesktopError),
}

impl ReportError {
    pub(super) fn write(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }
}
