//! How long sessions are kept: which ones go, and what that frees.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use deskhand_core::{
    ids::SessionId,
    record::Record,
    session::{Event, EventRecord},
};

use crate::journal::{JournalError, Lines, Read, SessionFolder, SessionStore};

/// Which sessions may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Sessions that nothing happened in for so long may go.
    pub older_than: Duration,
    /// How many of the newest are kept, however old they are. With this, all others may go, however young they are.
    pub keep: Option<usize>,
    /// Whether sessions that can be resumed may go before their time.
    pub unfinished: bool,
}

/// Why a session stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stays {
    /// A process works on it.
    InUse,
    /// It was broken off and can be resumed.
    Resumable,
    /// It is young, or among the newest.
    Kept,
}

/// What becomes of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// The session.
    pub session: SessionId,
    /// Why it stays; none when it goes.
    pub stays: Option<Stays>,
    /// How many bytes its files have.
    pub bytes: u64,
    /// When something last happened in it.
    pub last: SystemTime,
}

/// Looks at every session, newest first, and says what becomes of it. Removes nothing.
///
/// # Errors
/// [`JournalError`] when the store cannot be read. A journal that cannot be read counts as one that cannot be resumed.
pub fn plan(
    store: &SessionStore,
    retention: Retention,
    now: SystemTime,
) -> Result<Vec<Sentence>, JournalError> {
    let mut sentences = Vec::new();
    for (rank, session) in store.list()?.into_iter().enumerate() {
        let folder = store.find(&session.0)?;
        let last = last_change(&folder)?;
        let old = now.duration_since(last).unwrap_or_default() >= retention.older_than;
        let goes = match retention.keep {
            Some(keep) => rank >= keep,
            None => old,
        };
        let stays = if folder.is_in_use()? {
            Some(Stays::InUse)
        } else if !goes {
            Some(Stays::Kept)
        } else if !old && !retention.unfinished && !has_ended(&folder) {
            Some(Stays::Resumable)
        } else {
            None
        };
        sentences.push(Sentence { session, stays, bytes: size_of(folder.path()), last });
    }
    Ok(sentences)
}

/// Removes a session with everything that was kept of it.
///
/// # Errors
/// [`JournalError::InUse`] when a process took it meanwhile, [`JournalError::File`] when it cannot be removed.
pub fn remove(store: &SessionStore, session: &SessionId) -> Result<(), JournalError> {
    let folder = store.find(&session.0)?;
    let _lock = folder.lock()?;
    // The journal goes first: what is left without one, should this be cut short, is no session any more.
    let journal = folder.journal_path();
    fs::remove_file(&journal).map_err(|source| JournalError::file("remove", journal, source))?;
    fs::remove_dir_all(folder.path()).map_err(|source| JournalError::file("remove", folder.path(), source))
}

/// Whether the session came to its end, so that nothing is left to resume.
fn has_ended(folder: &SessionFolder) -> bool {
    let ended = || -> Result<bool, JournalError> {
        let mut lines = Lines::open(&folder.journal_path())?;
        let mut ended = false;
        while let Some(read) = lines.next()? {
            if let Read::Line(line) = read {
                ended = is_end(&line.record);
            }
        }
        Ok(ended)
    };
    // A journal that cannot be read cannot be resumed either.
    ended().unwrap_or(true)
}

/// Whether a record is the last of a session that ended.
pub(crate) fn is_end(record: &Record) -> bool {
    matches!(record, Record::Event(event) if matches!(event.as_ref(), EventRecord { event: Event::Ended, .. }))
}

fn last_change(folder: &SessionFolder) -> Result<SystemTime, JournalError> {
    let path = folder.journal_path();
    fs::metadata(&path)
        .and_then(|metadata| metadata.modified())
        .map_err(|source| JournalError::file("look at", path, source))
}

/// The bytes of all files in a folder. What cannot be looked at counts nothing.
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
