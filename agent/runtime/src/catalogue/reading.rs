//! Reads the facts of journals: whole, or only what is new of one that grows.

use std::{fs, io, os::unix::fs::MetadataExt as _};

use serde::{Deserialize, Serialize};

use super::facts::{SessionFacts, SessionFactsFold};
use crate::{
    journal::{JournalError, JournalItem, JournalLines, SessionFolder},
    passwords::{hidden, types_passwords, veil_of},
};

/// Stamp that distinguishes one state of a journal from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct JournalStamp {
    /// The number of the file.
    inode: u64,
    /// Its length, in bytes.
    length: u64,
    /// When its content changed, in nanoseconds since 1970-01-01 UTC.
    changed_ns: i64,
    /// When the file itself changed, likewise: nobody can set it.
    touched_ns: i64,
}

impl JournalStamp {
    /// The journal of a folder; `None` if there is none.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be determined.
    pub(super) fn of(folder: &SessionFolder) -> Result<Option<Self>, JournalError> {
        let path = folder.journal_path();
        let found = match fs::metadata(&path) {
            Ok(found) if found.is_file() => found,
            Ok(_) => return Ok(None),
            Err(error) if is_gone(&error) => return Ok(None),
            Err(source) => return Err(JournalError::file("read", path, source)),
        };
        Ok(Some(Self {
            inode: found.ino(),
            length: found.len(),
            changed_ns: changed_ns(&found),
            touched_ns: ns(found.ctime(), found.ctime_nsec()),
        }))
    }

    /// Returns `true` if the file changed so shortly before `now_ms` that another change may have the same times.
    pub(super) fn is_fresh(&self, now_ms: u64) -> bool {
        is_fresh(self.changed_ns.max(self.touched_ns), now_ms)
    }

    /// Returns `true` if a file that had this stamp may have grown to another one.
    const fn may_grow_to(&self, other: &Self) -> bool {
        self.inode == other.inode && self.length <= other.length
    }
}

/// Nanoseconds since 1970-01-01 UTC.
const fn ns(seconds: i64, ns: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(ns)
}

/// When the content of a file changed.
fn changed_ns(found: &fs::Metadata) -> i64 {
    ns(found.mtime(), found.mtime_nsec())
}

/// Returns `true` if something happened so shortly before `now_ms` that what follows may have the same time on a file system.
fn is_fresh(at_ns: i64, now_ms: u64) -> bool {
    const TICK_NS: i64 = 2_000_000_000;
    let now_ns = i64::try_from(now_ms).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    at_ns.saturating_add(TICK_NS) > now_ns
}

/// Checks if a process uses a session. If none does, also returns the time of its lock: until that changes, none
/// does. `free_since` is such a time from an earlier call; if it still holds, the lock is not touched, which could
/// block a process that is about to take it.
pub(super) fn use_of(folder: &SessionFolder, free_since: Option<i64>, now_ms: u64) -> (bool, Option<i64>) {
    let Ok(found) = fs::metadata(folder.lock_path()) else { return (false, None) };
    let locked_ns = changed_ns(&found);
    if free_since == Some(locked_ns) {
        return (false, free_since);
    }
    let in_use = folder.is_in_use().unwrap_or_default();
    (in_use, (!in_use && !is_fresh(locked_ns, now_ms)).then_some(locked_ns))
}

/// Returns `true` if a file or one of its folders is not there.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A journal that is read on as it grows.
pub(super) struct JournalFollower {
    lines: JournalLines,
    fold: SessionFactsFold,
    stamp: JournalStamp,
}

/// Handling of problems in a journal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Problems {
    /// Nothing: what can be read is read.
    Ignored,
    /// The journal is read from its start again: what was added does not continue what was read.
    Count,
}

/// Result of reading the new part of a journal.
enum JournalReadProgress {
    /// All complete lines are read.
    Whole,
    /// The journal has to be read in another way: it contains passwords, or is not the one that was read before.
    Again,
}

impl JournalFollower {
    /// Begins at the start of a journal, and reads it up to its last complete line. `None` if it has to be read with
    /// [`facts_of`], because it holds passwords.
    pub(super) fn begin(folder: &SessionFolder, stamp: JournalStamp) -> Result<Option<Self>, JournalError> {
        let mut following =
            Self { lines: JournalLines::open(folder)?, fold: SessionFactsFold::default(), stamp };
        Ok(match following.read(Problems::Ignored)? {
            JournalReadProgress::Whole => Some(following),
            JournalReadProgress::Again => None,
        })
    }

    /// Reads what was added. Returns false if the journal has to be read from its start.
    pub(super) fn go_on(&mut self, stamp: JournalStamp) -> Result<bool, JournalError> {
        let (_, read) = self.lines.end();
        if !self.stamp.may_grow_to(&stamp) || stamp.length < read {
            return Ok(false);
        }
        self.stamp = stamp;
        Ok(match self.read(Problems::Count)? {
            JournalReadProgress::Whole => true,
            JournalReadProgress::Again => false,
        })
    }

    /// The facts after the last complete line.
    pub(super) fn facts(&self) -> SessionFacts {
        self.fold.facts()
    }

    fn read(&mut self, problems: Problems) -> Result<JournalReadProgress, JournalError> {
        while let Some(read) = self.lines.next_so_far()? {
            match read {
                JournalItem::Line(line) if types_passwords(&line) => return Ok(JournalReadProgress::Again),
                JournalItem::Line(line) => self.fold.read(&line),
                JournalItem::Problem(_) if problems == Problems::Count => {
                    return Ok(JournalReadProgress::Again);
                }
                JournalItem::Problem(_) => {}
            }
        }
        Ok(JournalReadProgress::Whole)
    }
}

/// The facts of a whole journal, with dots in place of passwords. An incomplete last line is left out.
///
/// # Errors
/// [`JournalError`] if it cannot be read.
pub(crate) fn facts_of(folder: &SessionFolder) -> Result<SessionFacts, JournalError> {
    let mut lines = JournalLines::open(folder)?;
    let mut fold = SessionFactsFold::default();
    while let Some(read) = lines.next()? {
        match read {
            JournalItem::Line(line) if types_passwords(&line) => return hidden_facts_of(folder),
            JournalItem::Line(line) => fold.read(&line),
            JournalItem::Problem(_) => {}
        }
    }
    Ok(fold.facts())
}

/// The same of a journal that holds passwords.
fn hidden_facts_of(folder: &SessionFolder) -> Result<SessionFacts, JournalError> {
    let veil = veil_of(folder)?;
    let mut lines = JournalLines::open(folder)?;
    let mut fold = SessionFactsFold::default();
    while let Some(read) = lines.next()? {
        match read {
            JournalItem::Line(line) => fold.read(&hidden(*line, &veil)),
            JournalItem::Problem(_) => {}
        }
    }
    Ok(fold.facts())
}

/// Returns `true` if an error follows from the content of a journal, so that it is the same until the journal changes.
pub(super) const fn is_of_content(error: &JournalError) -> bool {
    match error {
        JournalError::Record { .. }
        | JournalError::TooLong { .. }
        | JournalError::View { .. }
        | JournalError::NoHeader { .. }
        | JournalError::Version { .. } => true,
        JournalError::File { .. }
        | JournalError::Key { .. }
        // These depend on the anchor, too.
        | JournalError::NoRecord { .. }
        | JournalError::Emptied { .. }
        | JournalError::NoSession { .. }
        | JournalError::Ambiguous { .. }
        | JournalError::InUse { .. }
        | JournalError::Encode(_) => false,
    }
}
