//! The index of a catalogue on disk: a cache that can be deleted at any time.
//!
//! One line per session: the start of a hash, a space, and the entry as JSON. The hash covers the entry, the version of the format
//! and that of the program, so lines of another version, foreign lines and damaged ones are passed over, and their sessions are read
//! again. The file is replaced as a whole. One process at a time replaces it; the others keep what they know for the next time.

use std::{
    collections::HashMap,
    fs, io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{facts::SessionFacts, reading::JournalStamp};
use crate::{
    journal::{hex, replace_file},
    private,
};

/// The name of the file, in the folder of the sessions.
pub(super) const INDEX: &str = "sessions.index";
/// The file that is locked by who replaces the index.
const LOCK: &str = "sessions.index.lock";
/// Prefix of the hashed text of a line. Changes with [`SessionFacts`] and with the way they are determined.
const FORMAT: &str = concat!("deskhand catalogue 3 ", env!("CARGO_PKG_VERSION"), "\n");
/// The number of bytes of a hash that are kept.
const HASH_BYTES: usize = 8;
/// A longer index is not read, in bytes.
const INDEX_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Index entry of a session at one state of its journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CatalogueEntry {
    /// The state.
    pub(super) stamp: JournalStamp,
    /// When that was looked up, in milliseconds since 1970-01-01 UTC.
    pub(super) read_ms: u64,
    /// The time of its lock when no process used it, in nanoseconds since 1970-01-01 UTC.
    pub(super) free_since: Option<i64>,
    /// Result of reading the journal.
    pub(super) read: ReadFacts,
}

/// Result of reading a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReadFacts {
    /// Its facts.
    Facts(Box<SessionFacts>),
    /// The reason why the session cannot be read.
    Problem(String),
}

/// A line of the index.
#[derive(Deserialize)]
struct CatalogueIndexLine {
    session: String,
    entry: CatalogueEntry,
}

/// A line of the index that is written.
#[derive(Serialize)]
struct CatalogueIndexLineRef<'a> {
    session: &'a str,
    entry: &'a CatalogueEntry,
}

/// Reads the index of the sessions in `root`: what of it holds. It may be out of date, and is compared with the journals.
pub(super) fn read(root: &Path) -> HashMap<String, CatalogueEntry> {
    let path = root.join(INDEX);
    let is_bounded = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= INDEX_BYTES_MAX);
    let bytes = if is_bounded { fs::read(&path).unwrap_or_default() } else { Vec::new() };
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(read_line).map(|stored| (stored.session, stored.entry)).collect()
}

fn read_line(line: &[u8]) -> Option<CatalogueIndexLine> {
    let (hash, entry) = line.split_at_checked(2 * HASH_BYTES)?;
    let entry = entry.strip_prefix(b" ")?;
    if hash != hash_of(entry).as_bytes() {
        return None;
    }
    serde_json::from_slice(entry).ok()
}

fn hash_of(entry: &[u8]) -> String {
    let mut hash = hex(&Sha256::new().chain_update(FORMAT).chain_update(entry).finalize());
    hash.truncate(2 * HASH_BYTES);
    hash
}

/// Replaces the index of the sessions in `root`. Returns false if another process is doing so.
///
/// # Errors
/// It cannot be written.
pub(super) fn write<'a>(
    root: &Path,
    entries: impl Iterator<Item = (&'a str, &'a CatalogueEntry)>,
) -> io::Result<bool> {
    let Some(_lock) = lock(&root.join(LOCK))? else { return Ok(false) };
    let mut bytes = Vec::new();
    for (session, entry) in entries {
        let entry = serde_json::to_vec(&CatalogueIndexLineRef { session, entry })?;
        bytes.extend_from_slice(hash_of(&entry).as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(&entry);
        bytes.push(b'\n');
    }
    replace_file(&root.join(INDEX), &bytes)?;
    Ok(true)
}

/// The lock of who replaces the index; `None` if another process holds it. It ends with the process.
fn lock(path: &PathBuf) -> io::Result<Option<fs::File>> {
    let mut options = fs::OpenOptions::new();
    let file = options.create(true).write(true).truncate(false).mode(private::FILE_MODE).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}
