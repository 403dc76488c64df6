//! Journal errors.

use std::path::PathBuf;

/// The maximum line length, in bytes. A longer line is an error, never a torn one.
pub(crate) const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A failed operation on a session folder.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file or folder cannot be read or written.
    #[error("{operation} {}", path.display())]
    File {
        /// The operation: `read`, `write`, `create`, …
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A line is not a valid record.
    #[error("read record {seq} of {}", path.display())]
    Record {
        /// The journal.
        path: PathBuf,
        /// The line number, from 1.
        seq: u64,
        /// The problem.
        #[source]
        source: serde_json::Error,
    },
    /// A line exceeds the limit. Nothing is cut off there.
    #[error(
        "read or write record {seq} of {}: its line is {bytes} bytes long, the limit is {}",
        path.display(),
        LINE_BYTES_MAX
    )]
    TooLong {
        /// The journal.
        path: PathBuf,
        /// The line number, from 1.
        seq: u64,
        /// The length of the line, in bytes.
        bytes: u64,
    },
    /// The key that seals journals cannot be used.
    #[error("use the key {}: {problem}", path.display())]
    Key {
        /// The key file.
        path: PathBuf,
        /// The problem, and what to do.
        problem: &'static str,
    },
    /// A view stored as a diff does not apply to the previous view.
    #[error("read record {seq} of {}: decode its view", path.display())]
    View {
        /// The journal.
        path: PathBuf,
        /// The line number, from 1.
        seq: u64,
        /// The problem.
        #[source]
        source: super::ViewError,
    },
    /// The journal does not start with a header.
    #[error("read {}: it does not start with a session header", path.display())]
    NoHeader {
        /// The journal.
        path: PathBuf,
    },
    /// The journal has no complete record, and never had one.
    #[error(
        "read {}: it has no complete record: the process ended before the session began, so nothing was done and nothing is lost",
        path.display()
    )]
    NoRecord {
        /// The journal.
        path: PathBuf,
    },
    /// The journal has no complete record any more.
    #[error("read {}: {} missing: they were removed", path.display(), super::records(1, *last, "is", "are"))]
    Emptied {
        /// The journal.
        path: PathBuf,
        /// The number of records that it had.
        last: u64,
    },
    /// The journal has another format version.
    #[error("read {}: format version {found} is not the supported version {known}; use the deskhand that wrote it", path.display())]
    Version {
        /// The journal.
        path: PathBuf,
        /// The version of the journal.
        found: u32,
        /// The supported version.
        known: u32,
    },
    /// No session matches the name.
    #[error("find session `{name}`; run `deskhand sessions` to list sessions")]
    NoSession {
        /// The requested name.
        name: String,
    },
    /// Several sessions match the name.
    #[error("find session `{name}`: {} sessions start with it: {}", matches.len(), matches.join(", "))]
    Ambiguous {
        /// The requested name.
        name: String,
        /// The matching sessions.
        matches: Vec<String>,
    },
    /// Another process holds the session.
    #[error("lock session {session}: it is in use by {}", if holder.is_empty() { "another process" } else { holder })]
    InUse {
        /// The session.
        session: String,
        /// The process that holds it: `process 4711`.
        holder: String,
    },
    /// A record cannot be encoded.
    #[error("encode a record as JSON")]
    Encode(#[source] serde_json::Error),
}

impl JournalError {
    pub(crate) fn file(operation: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::File { operation, path: path.into(), source }
    }
}
