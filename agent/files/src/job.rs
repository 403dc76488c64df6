//! Jobs as data, for a confined process: what to do, and what came of it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    FileContent, FileReadError, FileSearchPattern, FolderListOptions, ReadOptions, SearchOptions,
    archive::{self, UnpackOptions},
    list, read, search,
};

/// The most entries of an archive that are listed.
const ENTRIES_MAX: usize = 500;

/// A job on files.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "snake_case", deny_unknown_fields)]
pub enum FileJob {
    /// Reads a file.
    Read {
        /// The file.
        path: PathBuf,
        /// The part to read.
        #[serde(default)]
        options: ReadOptions,
    },
    /// Lists a folder.
    List {
        /// The folder.
        path: PathBuf,
        /// The entries to list.
        #[serde(default)]
        options: FolderListOptions,
    },
    /// Searches the files of a folder.
    Search {
        /// The folder, or one file.
        path: PathBuf,
        /// The pattern to search for.
        pattern: FileSearchPattern,
        /// Scope and limits of the search.
        #[serde(default)]
        options: SearchOptions,
    },
    /// Lists an archive.
    ListArchive {
        /// The file.
        path: PathBuf,
    },
    /// Unpacks an archive.
    Unpack {
        /// The file.
        path: PathBuf,
        /// The folder, which is made.
        into: PathBuf,
        /// The entries to unpack, and how.
        #[serde(default)]
        options: UnpackOptions,
    },
}

/// The result of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileJobResult {
    /// The job was done.
    Ok {
        /// In a sentence.
        said: String,
        /// The content that was read, or the state after the job.
        output: Value,
    },
    /// The job failed: a fragment that follows "failed to …".
    Failed {
        /// The fragment.
        problem: String,
    },
}

impl FileJob {
    /// Does it.
    #[must_use]
    pub fn run(self) -> FileJobResult {
        match self.try_run() {
            Ok((said, output)) => FileJobResult::Ok { said, output },
            Err(error) => FileJobResult::Failed { problem: error.to_string() },
        }
    }

    fn try_run(self) -> Result<(String, Value), FileReadError> {
        match self {
            Self::Read { path, options } => {
                let content = read(&path, &options)?;
                let (text, left_out) = match &content {
                    FileContent::Text(text) => (text.to_markdown(), text.left_out.as_ref()),
                    FileContent::Tables(tables) => {
                        (tables.to_markdown(options.characters_max), tables.left_out.as_ref())
                    }
                };
                let rest = left_out.map(|left_out| format!("; {left_out}")).unwrap_or_default();
                Ok((format!("read {}{rest}", path.display()), Value::String(text)))
            }
            Self::List { path, options } => {
                let listing = list(&path, &options)?;
                let rest = listing.left_out.as_ref().map(|rest| format!("; {rest}")).unwrap_or_default();
                let said = format!("{} entries in {}{rest}", listing.total, path.display());
                Ok((said, json!({"entries": listing.entries, "problems": listing.problems})))
            }
            Self::Search { path, pattern, options } => {
                let found = search(&path, &pattern, &options)?;
                let rest = found.left_out.as_ref().map(|rest| format!("; {rest}")).unwrap_or_default();
                let said = format!(
                    "{} matching lines in {} files below {}{rest}",
                    found.matches.len(),
                    found.files_searched,
                    path.display()
                );
                Ok((said, json!({"matches": found.matches, "skipped": found.skipped})))
            }
            Self::ListArchive { path } => {
                let listing = archive::list(&path, ENTRIES_MAX)?;
                let said = format!("{} holds {} bytes", path.display(), listing.bytes_total);
                Ok((said, json!({"entries": listing.entries, "left_out": listing.left_out})))
            }
            Self::Unpack { path, into, options } => {
                let unpacked = archive::unpack(&path, &into, &options)?;
                let said = format!(
                    "unpacked {} files, {} bytes, into {}",
                    unpacked.files,
                    unpacked.bytes,
                    unpacked.folder.display()
                );
                let output =
                    json!({"files": unpacked.files, "bytes": unpacked.bytes, "skipped": unpacked.skipped});
                Ok((said, output))
            }
        }
    }
}
