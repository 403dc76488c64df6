//! What can go wrong with a journal.

use std::path::PathBuf;

/// A failed operation on a session's folder.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file or folder could not be read or written.
    #[error("{operation} {}", path.display())]
    File {
        /// What was tried: `read`, `write`, `create`, …
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A line is no record.
    #[error("read record {seq} of {}", path.display())]
    Record {
        /// The journal.
        path: PathBuf,
        /// The number of the line, from 1.
        seq: u64,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A view that was stored as changes does not follow from the views before it.
    #[error("read record {seq} of {}: decode its view", path.display())]
    View {
        /// The journal.
        path: PathBuf,
        /// The number of the line, from 1.
        seq: u64,
        /// What does not fit.
        #[source]
        source: super::ViewError,
    },
    /// The journal does not begin with a header.
    #[error("read {}: it does not begin with the header of a session", path.display())]
    NoHeader {
        /// The journal.
        path: PathBuf,
    },
    /// The journal was written by a later version.
    #[error("read {}: it has format version {found}, and this program reads up to {known}", path.display())]
    Version {
        /// The journal.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The latest version that this program reads.
        known: u32,
    },
    /// No session has this name.
    #[error("find session `{name}`: there is none; `deskhand sessions` lists them")]
    NoSession {
        /// What was asked for.
        name: String,
    },
    /// Several sessions begin with this name.
    #[error("find session `{name}`: {} sessions begin so: {}", matches.len(), matches.join(", "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The sessions.
        matches: Vec<String>,
    },
    /// Another process works on the session.
    #[error("take session {session}: {} works on it", if holder.is_empty() { "another process" } else { holder })]
    InUse {
        /// The session.
        session: String,
        /// Who works on it: `process 4711`.
        holder: String,
    },
    /// A record could not be written as JSON.
    #[error("write a record as JSON")]
    Encode(#[source] serde_json::Error),
}

impl JournalError {
    pub(crate) fn file(operation: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::File { operation, path: path.into(), source }
    }
}
