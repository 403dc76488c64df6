//! Makes folders of what is stored of a task: its documents, and its session if another machine had it before.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use deskhand_fleet::{
    journal::TaskJournalChunk,
    nats::NatsStore,
    store::{FleetStore as _, StoreError},
};
use deskhand_machine::record::{JournalEntry, JournalRecord};
use deskhand_runtime::{JournalError, SessionFolder, SessionStore, private};
use deskhand_ui::ids::SessionId;

use super::{
    copies::{DOCUMENTS, SESSION},
    stays_inside,
};

/// An error restoring a stored session on this machine.
#[derive(Debug, thiserror::Error)]
pub(super) enum MoveError {
    /// A file cannot be fetched.
    #[error("fetch `{name}`")]
    Fetch {
        /// Its name.
        name: String,
        #[source]
        source: StoreError,
    },
    /// A name leads out of the folder of the task.
    #[error("the stored name `{name}` leads out of the folder of the task")]
    Name {
        /// The name.
        name: String,
    },
    /// A file cannot be written.
    #[error("write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The files of the session that this machine has from before cannot be removed.
    #[error("remove what is left of the session {session}")]
    Left {
        /// The session.
        session: String,
        #[source]
        source: JournalError,
    },
}

/// Writes files below a folder: of each, its name there and its hash.
pub(super) async fn lay_out(
    store: &NatsStore,
    folder: &Path,
    files: &BTreeMap<String, String>,
) -> Result<(), MoveError> {
    make(folder)?;
    for (name, hash) in files {
        if !stays_inside(name) {
            return Err(MoveError::Name { name: name.clone() });
        }
        let fetched = store.file(hash).await;
        let bytes = fetched.map_err(|source| MoveError::Fetch { name: name.clone(), source })?;
        let path = folder.join(name);
        make(path.parent().unwrap_or(folder))?;
        write(&path, &bytes)?;
    }
    Ok(())
}

fn make(folder: &Path) -> Result<(), MoveError> {
    private::create_folders(folder).map_err(|source| MoveError::Write { path: folder.to_owned(), source })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), MoveError> {
    private::write_file(path, bytes).map_err(|source| MoveError::Write { path: path.to_owned(), source })
}

/// A session that another machine had.
pub(super) struct TransferredSession {
    pub(super) session: SessionId,
    /// Its journal, in bytes.
    pub(super) journal: u64,
}

/// Writes the session that another machine had into the folder of sessions. `None` if it had not begun.
pub(super) async fn lay_out_session(
    store: &NatsStore,
    sessions: &SessionStore,
    whole: &TaskJournalChunk,
) -> Result<Option<TransferredSession>, MoveError> {
    let Some(session) = whole.lines.lines().next().and_then(session_of) else { return Ok(None) };
    let folder = sessions.root().join(&session.0);
    // This worker itself may have had it, and remembers lines that were never stored, in an anchor if nowhere else.
    if let Some(own) = sessions.folder(&session) {
        own.remove().map_err(|source| MoveError::Left { session: session.0.clone(), source })?;
    }
    let mut files = named(&whole.files, SESSION);
    // What else is there was made here.
    files.retain(|name, _| name.starts_with("pictures/") || name.starts_with("prompts-"));
    lay_out(store, &folder, &files).await?;
    // Old journals are looked for by their pictures, even if there are none.
    make(&folder.join("pictures"))?;
    write(&folder.join(SessionFolder::JOURNAL), whole.lines.as_bytes())?;
    Ok(Some(TransferredSession { session, journal: whole.lines.len() as u64 }))
}

/// Those that are stored under a prefix, without it.
fn named(files: &BTreeMap<String, String>, prefix: &str) -> BTreeMap<String, String> {
    let named =
        files.iter().filter_map(|(name, hash)| Some((name.strip_prefix(prefix)?.to_owned(), hash.clone())));
    named.collect()
}

/// The documents of a task: as they were last stored, else as they were submitted.
pub(super) fn documents(
    submitted: &BTreeMap<String, String>,
    stored: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut all = submitted.clone();
    all.extend(named(stored, DOCUMENTS));
    all
}

fn session_of(line: &str) -> Option<SessionId> {
    let line: JournalEntry = serde_json::from_str(line).ok()?;
    match line.record {
        // Its folder is named so, and what was there is removed.
        JournalRecord::Header(header) => is_id(&header.session.0).then_some(header.session),
        JournalRecord::Effect(_) | JournalRecord::Event(_) | JournalRecord::Changed(_) => None,
    }
}

/// Returns `true` if a text is the id of a session, and no path.
fn is_id(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_plain && (1..=64).contains(&text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_no_path() {
        assert!(is_id("01a22052-4ea7-724a-a429-32609315c6e4"));
        for path in ["", "..", "../../home", "/home", "a/b", "a\0b", &"a".repeat(65)] {
            assert!(!is_id(path), "{path}");
        }
    }
}
