//! Retention of sessions: which are removed, and how much space that frees.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use deskhand_machine::{
    record::JournalRecord,
    session::{EventRecord, SessionEvent},
};
use deskhand_ui::ids::SessionId;

use crate::journal::{JournalError, JournalItem, JournalLines, SessionFolder, SessionStore};

/// Which sessions may be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Removes sessions without activity for this long.
    pub older_than: Duration,
    /// Keeps this many of the newest sessions regardless of age, and removes all others regardless of age.
    pub keep: Option<usize>,
    /// Also removes sessions that could be resumed.
    pub unfinished: bool,
}

/// Why a session is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepReason {
    /// A process is using it.
    InUse,
    /// The session was interrupted and can be resumed.
    Resumable,
    /// The session is recent enough, or among the newest.
    Recent,
}

/// A decision to remove a session or to keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetentionDecision {
    /// The session.
    pub session: SessionId,
    /// Why it is kept; `None` if it is removed.
    pub kept: Option<KeepReason>,
    /// The total size of its files, in bytes.
    pub bytes: u64,
    /// Its last activity.
    pub last: SystemTime,
}

/// Decides for every session, newest first. Removes nothing.
///
/// # Errors
/// [`JournalError`] if the store cannot be read. A session with an unreadable journal counts as not resumable.
pub fn plan(
    store: &SessionStore,
    retention: Retention,
    now: SystemTime,
) -> Result<Vec<RetentionDecision>, JournalError> {
    let mut decisions = Vec::new();
    for (rank, session) in store.list()?.into_iter().enumerate() {
        let folder = store.find(&session.0)?;
        let last = last_change(&folder)?;
        let old = now.duration_since(last).unwrap_or_default() >= retention.older_than;
        let removable = match retention.keep {
            Some(keep) => rank >= keep,
            None => old,
        };
        let kept = if folder.is_in_use()? {
            Some(KeepReason::InUse)
        } else if !removable {
            Some(KeepReason::Recent)
        } else if !old && !retention.unfinished && !has_ended(&folder) {
            Some(KeepReason::Resumable)
        } else {
            None
        };
        decisions.push(RetentionDecision { session, kept, bytes: size_of(folder.path()), last });
    }
    Ok(decisions)
}

/// Removes a session with its files and its anchor.
///
/// # Errors
/// [`JournalError::InUse`] if a process has started using it, [`JournalError::File`] if it cannot be removed.
pub fn remove(store: &SessionStore, session: &SessionId) -> Result<(), JournalError> {
    let folder = store.find(&session.0)?;
    let _lock = folder.lock()?;
    folder.remove()
}

/// Returns `true` if the session has ended, so that there is nothing to resume.
fn has_ended(folder: &SessionFolder) -> bool {
    let ended = || -> Result<bool, JournalError> {
        let mut lines = JournalLines::open(folder)?;
        let mut ended = false;
        while let Some(read) = lines.next()? {
            if let JournalItem::Line(line) = read {
                ended = is_end(&line.record);
            }
        }
        Ok(ended)
    };
    // An unreadable journal cannot be resumed either.
    ended().unwrap_or(true)
}

/// Returns `true` if a record is the last of an ended session.
pub(crate) fn is_end(record: &JournalRecord) -> bool {
    matches!(record, JournalRecord::Event(event) if matches!(event.as_ref(), EventRecord { event: SessionEvent::Ended, .. }))
}

fn last_change(folder: &SessionFolder) -> Result<SystemTime, JournalError> {
    let path = folder.journal_path();
    fs::metadata(&path)
        .and_then(|metadata| metadata.modified())
        .map_err(|source| JournalError::file("inspect", path, source))
}

/// The total size of the files in a folder. Unreadable entries count as zero.
fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
