//! Errors of the help index.

use std::{io, path::PathBuf};

use tantivy::TantivyError;

/// An operation of the help index that failed. The messages continue "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum HelpError {
    /// The index cannot be opened.
    #[error("open the help index in {}; if it is damaged, remove that folder and add the help again", .folder.display())]
    Open {
        /// Its folder.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: TantivyError,
    },
    /// The list of what was added is in a format that this version does not know.
    #[error(
        "read the list of sources in {}: {problem}; remove that folder and add the help again",
        .folder.display()
    )]
    List {
        /// The folder of the index.
        folder: PathBuf,
        /// The cause.
        problem: String,
    },
    /// The source is not there.
    #[error("read the help at {}: {problem}; check the path", .path.display())]
    Source {
        /// The path.
        path: PathBuf,
        /// The cause.
        problem: io::Error,
    },
    /// Another process is adding help.
    #[error("write the help index in {}: another process is writing to it; try again when it is done", .folder.display())]
    Busy {
        /// The folder of the index.
        folder: PathBuf,
    },
    /// The index cannot be written.
    #[error("write the help index in {}; check the space and permissions there", .folder.display())]
    Write {
        /// Its folder.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: TantivyError,
    },
    /// The index cannot be searched.
    #[error("search the help index in {}; if it is damaged, remove that folder and add the help again", .folder.display())]
    Search {
        /// Its folder.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: TantivyError,
    },
}
