//! Errors of the experience store.

use std::{io, path::PathBuf};

use tantivy::TantivyError;

/// An operation of the store that failed. The messages continue "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum ExperienceError {
    /// A file or folder cannot be used.
    #[error("{action} {}: {problem}; check the space and permissions there", .path.display())]
    File {
        /// Attempted operation, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        problem: io::Error,
    },
    /// Another process holds the lock for too long.
    #[error("lock {} within {seconds} s: another process is writing; end it if it is stuck", .path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Time waited, in seconds.
        seconds: u64,
    },
    /// The records are larger than they are ever read.
    #[error("read {}: it has more than {limit} bytes; move it away to start anew", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// A later version wrote the records: this one could lose what it does not know.
    #[error("write {}: it has version {found}, and this program knows {known}; update the program", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that is known.
        known: u32,
    },
    /// An experience cannot be stored as it is.
    #[error("store the experience `{id}`: {problem}")]
    Invalid {
        /// Its id.
        id: String,
        /// Description of the problem.
        problem: String,
    },
    /// The index cannot be built.
    #[error("build the index in {}; remove that folder to have it built anew", .folder.display())]
    Index {
        /// Its folder.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: TantivyError,
    },
}
