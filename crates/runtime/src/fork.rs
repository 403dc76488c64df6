//! Forks a session: another one with the same past up to a record, which then goes its own way.

use std::fs;

use deskhand_core::{
    ids::SessionId,
    record::{Header, JOURNAL_VERSION, Line, Origin, Record},
};

use crate::{
    clock::now_ms,
    held::{HeldSession, HoldError},
    journal::{JournalError, JournalProblem, Lines, Read, SessionFolder, SessionStore},
    verify::name_pictures,
};

/// A session that cannot be forked there.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// A journal or what lies beside it could not be read or written.
    #[error("copy the session")]
    Journal(#[from] JournalError),
    /// There is no such record.
    #[error("fork session {session} at record {record}: it has records 1 to {last}")]
    NoRecord {
        /// The session.
        session: String,
        /// What was asked for.
        record: u64,
        /// The last one.
        last: u64,
    },
    /// Something is going on at that record: it was wanted there, and what came of it stands in the next one.
    #[error("fork session {session} at record {record}: something was going on there ({what})")]
    Between {
        /// The session.
        session: String,
        /// What was asked for.
        record: u64,
        /// What is wanted in that record.
        what: String,
    },
    /// A record before that one is not as it was written.
    #[error("fork session {session}: record {seq} was changed after it was written")]
    Changed {
        /// The session.
        session: String,
        /// The record.
        seq: u64,
    },
    /// The copy cannot be gone on with.
    #[error("go on with the copy")]
    Hold(#[from] HoldError),
}

/// Makes a new session with the first `record` records of `source`, and holds it. The source is left as it is; it may be
/// in use.
///
/// # Errors
/// [`ForkError`] when there is no such record, something was going on there, or files cannot be copied. Nothing is left
/// of the copy then.
pub fn fork(store: &SessionStore, source: &SessionFolder, record: u64) -> Result<HeldSession, ForkError> {
    check(source, record)?;
    let id = SessionId(uuid::Uuid::now_v7().to_string());
    let folder = store.create(&id)?;
    let copied = copy(source, &folder, &id, record);
    match copied {
        Ok(()) => Ok(HeldSession::take(folder, &mut |_| ())?),
        Err(error) => {
            if let Err(error) = fs::remove_dir_all(folder.path()) {
                tracing::warn!(%error, folder = %folder.path().display(), "half of a copy stays behind");
            }
            Err(error)
        }
    }
}

/// Whether the session can be forked there; reads as far as that.
fn check(source: &SessionFolder, record: u64) -> Result<(), ForkError> {
    let session = || source.name();
    let mut lines = Lines::open(&source.journal_path())?;
    let mut last = 0;
    while let Some(read) = lines.next()? {
        match read {
            Read::Line(line) if line.seq == record => {
                return match &line.record {
                    Record::Effect(effect) => Err(ForkError::Between {
                        session: session(),
                        record,
                        what: want_of(&serde_json::to_value(&effect.effect).unwrap_or_default()),
                    }),
                    Record::Header(_) | Record::Event(_) | Record::Changed(_) => Ok(()),
                };
            }
            Read::Line(line) => last = line.seq,
            Read::Problem(JournalProblem::Changed { seq }) if seq <= record => {
                return Err(ForkError::Changed { session: session(), seq });
            }
            Read::Problem(_) => {}
        }
    }
    Err(ForkError::NoRecord { session: session(), record, last })
}

/// The word for what is wanted, as it stands in the journal.
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
    let mut lines = Lines::open(&source.journal_path())?;
    let header = lines.header()?;
    folder.keep_prompts_of(source, &header.prompts_sha256)?;
    let mut journal = folder.begin()?;
    while let Some(read) = lines.next()? {
        let Read::Line(line) = read else { continue };
        if line.seq > record {
            break;
        }
        copy_pictures(source, folder, &line)?;
        let copied = match line.record {
            Record::Header(old) => Record::Header(Box::new(Header {
                version: JOURNAL_VERSION,
                session: id.clone(),
                created_ms: now_ms(),
                forked_from: Some(Origin { session: old.session.clone(), record }),
                ..*old
            })),
            other @ (Record::Effect(_) | Record::Event(_) | Record::Changed(_)) => other,
        };
        journal.append(line.at_ms, copied)?;
    }
    Ok(())
}

fn copy_pictures(source: &SessionFolder, folder: &SessionFolder, line: &Line) -> Result<(), JournalError> {
    let value = serde_json::to_value(&line.record).map_err(JournalError::Encode)?;
    let mut named = Vec::new();
    name_pictures(&value, &mut |sha256| named.push(sha256.to_owned()));
    for sha256 in named {
        let from = source.picture_path(&sha256);
        let extension = from.extension().and_then(|extension| extension.to_str()).unwrap_or("png");
        let to = folder.picture_file(&sha256, extension);
        if to.is_file() || !from.is_file() {
            continue;
        }
        // The same bytes under the same name; where the file system has no links, a copy.
        fs::hard_link(&from, &to)
            .or_else(|_| fs::copy(&from, &to).map(drop))
            .map_err(|source| JournalError::file("copy", from, source))?;
    }
    Ok(())
}
