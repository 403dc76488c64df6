//! Forks a session: creates a new one that shares its history up to a record.

use std::fs;

use deskhand_machine::{
    record::{ForkOrigin, JOURNAL_VERSION, JournalEntry, JournalHeader, JournalRecord},
    session::SessionEvent,
};
use deskhand_ui::ids::SessionId;

use crate::{
    clock::now_ms,
    driver::new_id,
    held::{HeldSession, HoldError, UnsealedJournalPolicy},
    journal::{
        JournalError, JournalItem, JournalLines, JournalProblem, SealProof, SessionFolder, SessionStore,
        Unproven,
    },
    verify::for_each_picture,
};

/// A session that cannot be forked at a record.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// A file of a session cannot be read or written.
    #[error("copy the session")]
    Journal(#[from] JournalError),
    /// The record does not exist.
    #[error("fork session {session} at record {record}: it has records 1 to {last}")]
    NoRecord {
        /// The session.
        session: String,
        /// The requested record.
        record: u64,
        /// The last record.
        last: u64,
    },
    /// The record is an effect whose event is in the next record.
    #[error("fork session {session} at record {record}: an effect was in progress ({what})")]
    Between {
        /// The session.
        session: String,
        /// The requested record.
        record: u64,
        /// The effect in that record.
        what: String,
    },
    /// A record up to that one was modified.
    #[error("fork session {session}: record {seq} was modified")]
    Changed {
        /// The session.
        session: String,
        /// The record.
        seq: u64,
    },
    /// A record up to that one was written without the key.
    #[error("fork session {session}: record {seq} was forged: its seal does not match")]
    Forged {
        /// The session.
        session: String,
        /// The record.
        seq: u64,
    },
    /// Nothing proves that these records are as they were written.
    #[error("fork session {session}: its journal is consistent with itself, but not proven")]
    Unproven {
        /// The session.
        session: String,
        /// Why.
        #[source]
        why: Unproven,
    },
    /// The copy cannot be resumed.
    #[error("resume the copy")]
    Hold(#[from] HoldError),
}

/// Creates a session with the first `record` records of `source`, and holds it. The source is unchanged and may be in
/// use.
///
/// # Errors
/// [`ForkError`] if the record does not exist, an effect was in progress there, the records up to it were modified or are not
/// proven and `unsealed` refuses that, or files cannot be copied. The copy is removed then.
pub fn fork(
    store: &SessionStore,
    source: &SessionFolder,
    record: u64,
    unsealed: UnsealedJournalPolicy,
) -> Result<HeldSession, ForkError> {
    check(source, record, unsealed)?;
    let id = new_id();
    let folder = store.create(&id)?;
    let copied = copy(source, &folder, &id, record);
    match copied {
        Ok(()) => Ok(HeldSession::take(folder, UnsealedJournalPolicy::Refuse, &mut |_| ())?),
        Err(error) => {
            if let Err(error) = folder.remove() {
                tracing::warn!(%error, folder = %folder.path().display(), "failed to remove an incomplete copy");
            }
            Err(error)
        }
    }
}

/// Checks that the session can be forked at the record, reading up to it. What is missing after it does not matter.
fn check(source: &SessionFolder, record: u64, unsealed: UnsealedJournalPolicy) -> Result<(), ForkError> {
    let session = || source.name();
    let mut lines = JournalLines::open(source)?;
    let (mut last, mut begun) = (0, None);
    while let Some(read) = lines.next()? {
        match read {
            JournalItem::Line(line) if line.seq == record => {
                if let (SealProof::Consistent(why), UnsealedJournalPolicy::Refuse) = (lines.proof(), unsealed)
                {
                    return Err(ForkError::Unproven { session: session(), why });
                }
                begun = in_progress(&line.record, begun);
                return match begun {
                    Some(what) => Err(ForkError::Between { session: session(), record, what }),
                    None => Ok(()),
                };
            }
            JournalItem::Line(line) => {
                last = line.seq;
                begun = in_progress(&line.record, begun);
            }
            JournalItem::Problem(JournalProblem::Changed { seq }) if seq <= record => {
                return Err(ForkError::Changed { session: session(), seq });
            }
            JournalItem::Problem(JournalProblem::Forged { seq }) if seq <= record => {
                return Err(ForkError::Forged { session: session(), seq });
            }
            JournalItem::Problem(_) => {}
        }
    }
    Err(ForkError::NoRecord { session: session(), record, last })
}

/// The effect in progress after a record, given the one before it: what the user says meanwhile answers none.
fn in_progress(record: &JournalRecord, before: Option<String>) -> Option<String> {
    match record {
        JournalRecord::Effect(effect) => {
            Some(want_of(&serde_json::to_value(&effect.effect).unwrap_or_default()))
        }
        JournalRecord::Event(event) if matches!(event.event, SessionEvent::Told { .. }) => before,
        JournalRecord::Header(_) | JournalRecord::Event(_) | JournalRecord::Changed(_) => None,
    }
}

/// The name of an effect, as in the journal.
fn want_of(effect: &serde_json::Value) -> String {
    let word = |pointer: &str| effect.pointer(pointer).and_then(serde_json::Value::as_str);
    match (word("/want"), word("/command/tool")) {
        (Some(want), Some(tool)) => format!("{want} {tool}"),
        (Some(want), None) => want.to_owned(),
        (None, _) => "an effect".to_owned(),
    }
}

fn copy(
    source: &SessionFolder,
    folder: &SessionFolder,
    id: &SessionId,
    record: u64,
) -> Result<(), ForkError> {
    let mut lines = JournalLines::open(source)?;
    let header = lines.header()?;
    folder.keep_prompts_of(source, &header.prompts_sha256)?;
    let mut journal = folder.begin()?;
    while let Some(read) = lines.next()? {
        let JournalItem::Line(line) = read else { continue };
        if line.seq > record {
            break;
        }
        copy_pictures(source, folder, &line)?;
        let copied = match line.record {
            JournalRecord::Header(old) => JournalRecord::Header(Box::new(JournalHeader {
                version: JOURNAL_VERSION,
                session: id.clone(),
                created_ms: now_ms(),
                forked_from: Some(ForkOrigin { session: old.session.clone(), record }),
                ..*old
            })),
            other @ (JournalRecord::Effect(_) | JournalRecord::Event(_) | JournalRecord::Changed(_)) => other,
        };
        journal.append(line.at_ms, copied)?;
    }
    Ok(())
}

fn copy_pictures(
    source: &SessionFolder,
    folder: &SessionFolder,
    line: &JournalEntry,
) -> Result<(), JournalError> {
    let value = serde_json::to_value(&line.record).map_err(JournalError::Encode)?;
    let mut named = Vec::new();
    for_each_picture(&value, &mut |sha256| named.push(sha256.to_owned()));
    for sha256 in named {
        let from = source.picture_path(&sha256);
        let extension = from.extension().and_then(|extension| extension.to_str()).unwrap_or("png");
        let to = folder.picture_file(&sha256, extension);
        if to.is_file() || !from.is_file() {
            continue;
        }
        // Same content, same name: a hard link suffices; falls back to a copy.
        fs::hard_link(&from, &to)
            .or_else(|_| fs::copy(&from, &to).map(drop))
            .map_err(|source| JournalError::file("copy", from, source))?;
    }
    Ok(())
}
