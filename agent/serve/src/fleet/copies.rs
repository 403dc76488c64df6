//! Stores the journal of a session and its files while it runs, so that another machine can take it over.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use deskhand_fleet::{
    holder::{Lease, LeaseLost},
    journal::TaskJournalChunk,
    nats::NatsStore,
    pace::pause,
    store::FleetStore,
};
use deskhand_runtime::SessionFolder;
use tokio::{sync::Mutex, time::Instant};

/// The names of what is stored begin with one of these.
pub(super) const SESSION: &str = "session/";
pub(super) const DOCUMENTS: &str = "documents/";
/// The longest part of a journal, in bytes: servers take messages of a megabyte, and JSON escapes some bytes.
const PART_BYTES_MAX: usize = 400 * 1024;
/// The most files of a folder that are stored, and how deep folders are looked into.
const FILES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 4;
/// The largest file that is stored, in bytes.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Files of applications that say who has a document open.
const LOCK: &str = ".~lock.";

/// The state of a file when it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StoredFileStamp {
    changed: Option<SystemTime>,
    bytes: u64,
    hash: String,
}

#[derive(Debug, Default)]
struct SessionCopyState {
    /// Number of bytes of the journal that are stored.
    journal: u64,
    files: BTreeMap<String, StoredFileStamp>,
}

/// The kind of journal entry that ends the new lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// A command is carried out next.
    Acts,
    /// Nothing is.
    GoesOn,
}

/// The copies of a session.
pub(super) struct Copies<'a, S> {
    store: &'a NatsStore,
    lease: &'a Lease<S>,
    session: PathBuf,
    documents: PathBuf,
    stored: Mutex<SessionCopyState>,
}

impl<'a, S: FleetStore> Copies<'a, S> {
    /// Copies of a session in this folder. `journal` bytes of its journal, and the files in `known`, are stored already.
    pub(super) fn new(
        (store, lease): (&'a NatsStore, &'a Lease<S>),
        (session, documents): (PathBuf, PathBuf),
        journal: u64,
        known: &BTreeMap<String, String>,
    ) -> Self {
        let mut files = BTreeMap::new();
        for (name, hash) in known {
            let path = match (name.strip_prefix(SESSION), name.strip_prefix(DOCUMENTS)) {
                (Some(name), _) => session.join(name),
                (None, Some(name)) => documents.join(name),
                (None, None) => continue,
            };
            if let Ok((changed, bytes)) = facts(&path) {
                files.insert(name.clone(), StoredFileStamp { changed, bytes, hash: hash.clone() });
            }
        }
        Self { store, lease, session, documents, stored: Mutex::new(SessionCopyState { journal, files }) }
    }

    /// Stores what is new.
    ///
    /// # Errors
    /// The lease is lost, or it cannot be stored: then nothing more may be done for the session.
    pub(super) async fn store(&self, then: Then) -> Result<(), LeaseLost> {
        let mut stored = self.stored.lock().await;
        let (text, journal) = new_lines(&self.session.join(SessionFolder::JOURNAL), stored.journal)
            .map_err(|error| lost("read the journal", &error))?;
        let files = self.store_files(&mut stored.files).await?;
        let mut pieces = pieces(&text, PART_BYTES_MAX).peekable();
        let mut is_stored = false;
        while let Some(piece) = pieces.next() {
            let is_last = pieces.peek().is_none();
            let part = TaskJournalChunk {
                lines: piece.to_owned(),
                // What a line refers to is known before the line is whole.
                files: if is_stored { BTreeMap::new() } else { files.clone() },
            };
            match then {
                Then::Acts if is_last => self.lease.act(part).await?,
                Then::Acts | Then::GoesOn => self.lease.write(part).await?,
            }
            is_stored = true;
        }
        if !is_stored && then == Then::Acts {
            self.lease.act(TaskJournalChunk { lines: String::new(), files }).await?;
        } else if !is_stored && !files.is_empty() {
            self.lease.write(TaskJournalChunk { lines: String::new(), files }).await?;
        }
        stored.journal = journal;
        Ok(())
    }

    /// The documents as they are stored, by their names. Those that are gone again, such as what an application writes while it saves, are none.
    pub(super) async fn documents(&self) -> BTreeMap<String, String> {
        let stored = self.stored.lock().await;
        let documents =
            stored.files.iter().filter_map(|(name, stamp)| Some((name.strip_prefix(DOCUMENTS)?, stamp)));
        let documents = documents.filter(|(name, _)| facts(&self.documents.join(name)).is_ok());
        documents.map(|(name, stamp)| (name.to_owned(), stamp.hash.clone())).collect()
    }

    /// Stores files that are new or have changed; returns their hashes.
    async fn store_files(
        &self,
        known: &mut BTreeMap<String, StoredFileStamp>,
    ) -> Result<BTreeMap<String, String>, LeaseLost> {
        let mut found = Vec::new();
        find_files(&self.session.join("pictures"), &format!("{SESSION}pictures/"), 1, &mut found);
        find_files(&self.session, SESSION, 1, &mut found);
        found.retain(|(name, _)| {
            name.starts_with("session/pictures/") || name.starts_with("session/prompts-")
        });
        find_files(&self.documents, DOCUMENTS, DEPTH_MAX, &mut found);
        let mut news = BTreeMap::new();
        for (name, path) in found {
            // A file that is gone by now is none.
            let Ok((changed, bytes)) = facts(&path) else { continue };
            let is_known =
                known.get(&name).is_some_and(|stamp| stamp.changed == changed && stamp.bytes == bytes);
            if is_known || bytes > FILE_BYTES_MAX {
                continue;
            }
            let Ok(content) = fs::read(&path) else { continue };
            let hash = self.put(&content).await?;
            let stamp = StoredFileStamp { changed, bytes, hash: hash.clone() };
            if known.insert(name.clone(), stamp).is_none_or(|before| before.hash != hash) {
                news.insert(name, hash);
            }
        }
        Ok(news)
    }

    /// Stores a file, however often the server has to be asked.
    async fn put(&self, content: &[u8]) -> Result<String, LeaseLost> {
        let begun = Instant::now();
        loop {
            match self.store.put_file(content).await {
                Ok(hash) => return Ok(hash),
                Err(error) if begun.elapsed() > self.store.times().lease => {
                    return Err(lost("store a file", &error));
                }
                Err(_) => pause(self.store.times().again).await,
            }
        }
    }
}

fn lost(what: &str, error: &(dyn std::error::Error + 'static)) -> LeaseLost {
    tracing::warn!(error, "failed to {what}; the task goes to another worker");
    LeaseLost
}

fn facts(path: &Path) -> io::Result<(Option<SystemTime>, u64)> {
    let facts = fs::symlink_metadata(path)?;
    if !facts.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((facts.modified().ok(), facts.len()))
}

/// The regular files of a folder, with the names under which they are stored. No links: what they lead to is not the task's.
fn find_files(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let Some(name) = entry.file_name().to_str().map(ToOwned::to_owned) else { continue };
        if found.len() >= FILES_MAX || name.starts_with(LOCK) {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_file() => found.push((format!("{prefix}{name}"), entry.path())),
            Ok(kind) if kind.is_dir() && depth > 1 => {
                find_files(&entry.path(), &format!("{prefix}{name}/"), depth - 1, found);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// The whole lines of a file from `from` on, and where they end. No file is an empty one.
fn new_lines(path: &Path, from: u64) -> io::Result<(String, u64)> {
    use io::{Read as _, Seek as _};
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((String::new(), from)),
        Err(error) => return Err(error),
    };
    file.seek(io::SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(whole);
    let end = from.saturating_add(bytes.len() as u64);
    let text = String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok((text, end))
}

/// A text in pieces of at most `most` bytes.
fn pieces(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // A character has at most four bytes.
        let ends = (0..4).map(|less| most.min(rest.len()).saturating_sub(less));
        let end = ends.into_iter().find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_text_are_the_text() {
        let text = "aä".repeat(1_000);
        let all: Vec<&str> = pieces(&text, 100).collect();
        assert!(all.iter().all(|piece| piece.len() <= 100), "{all:?}");
        assert_eq!(all.concat(), text);
        assert_eq!(pieces("", 100).count(), 0);
    }

    #[test]
    fn only_whole_lines_are_new() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal");
        assert_eq!(new_lines(&file, 0).unwrap(), (String::new(), 0));
        fs::write(&file, "one\ntwo\nthr").unwrap();
        assert_eq!(new_lines(&file, 0).unwrap(), ("one\ntwo\n".to_owned(), 8));
        assert_eq!(new_lines(&file, 8).unwrap(), (String::new(), 8));
        fs::write(&file, "one\ntwo\nthree\n").unwrap();
        assert_eq!(new_lines(&file, 8).unwrap(), ("three\n".to_owned(), 14));
    }

    #[test]
    fn links_and_locks_are_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.ods"), "a").unwrap();
        fs::write(folder.path().join(".~lock.a.ods#"), "me").unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(folder.path().join("deep/b.txt"), "b").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
        let mut found = Vec::new();
        find_files(folder.path(), DOCUMENTS, DEPTH_MAX, &mut found);
        let mut names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["documents/a.ods", "documents/deep/b.txt"]);
    }
}
