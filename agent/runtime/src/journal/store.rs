//! The session store, and the files of a session folder.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use deskhand_machine::{prompt::PromptSet, record::JournalEntry};
use deskhand_ui::{PictureRef, ids::SessionId};
use sha2::{Digest as _, Sha256};

use super::{
    Fence, JournalError, JournalItem, JournalLines, JournalWriter, SealFolder, SessionJournal, disk,
};

/// Maximum time between the creation of a session's folder and its first record.
const BEGUN_WITHIN: Duration = Duration::from_secs(60);
/// A longer journal has more than a part of its header.
const HEADER_BYTES_MAX: u64 = 64 * 1024;

/// Bytes as lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 hash as lower-case hexadecimal.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A folder of sessions, each in a subfolder named by its id, and the seals of their journals.
#[derive(Debug, Clone)]
pub struct SessionStore {
    root: PathBuf,
    seals: SealFolder,
    fence: Option<Arc<dyn Fence>>,
}

impl SessionStore {
    /// The store in `root`, sealed with the key in the folder `seals`. That folder must lie outside of `root`, and should be
    /// the same for all stores of a user. Both are created with the first session.
    pub fn at(root: impl Into<PathBuf>, seals: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), seals: SealFolder::at(seals), fence: None }
    }

    /// The same for sessions that another machine may take over: each command waits for `fence`.
    #[must_use]
    pub fn with_fence(self, fence: Arc<dyn Fence>) -> Self {
        Self { fence: Some(fence), ..self }
    }

    /// Returns the fence that commands wait for.
    pub(crate) fn fence(&self) -> Option<&dyn Fence> {
        self.fence.as_deref()
    }

    /// The folder of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The seals of the journals.
    pub fn seals(&self) -> &SealFolder {
        &self.seals
    }

    /// Creates the folder of a new session, accessible to its owner only.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be created.
    pub fn create(&self, session: &SessionId) -> Result<SessionFolder, JournalError> {
        self.seals.prune();
        self.prune();
        let folder = SessionFolder { path: self.root.join(&session.0), seals: self.seals.clone() };
        let pictures = folder.pictures_path();
        disk::create_folders(&pictures).map_err(|source| JournalError::file("create", pictures, source))?;
        Ok(folder)
    }

    /// Removes sessions that did not begin because their process died. Failures are only logged.
    fn prune(&self) {
        for entry in fs::read_dir(&self.root).into_iter().flatten().filter_map(Result::ok) {
            let folder = SessionFolder { path: entry.path(), seals: self.seals.clone() };
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && folder.did_not_begin() {
                folder.discard();
            }
        }
    }

    /// The ids of all sessions, newest first.
    ///
    /// # Errors
    /// [`JournalError::File`] if the store cannot be read. A missing store is empty.
    pub fn list(&self) -> Result<Vec<SessionId>, JournalError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(JournalError::file("read", &self.root, source)),
        };
        let mut ids: Vec<SessionId> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().join(SessionFolder::JOURNAL).is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .map(SessionId)
            .collect();
        ids.sort_by(|a, b| b.cmp(a));
        Ok(ids)
    }

    /// The folder of a session, whether it exists or not; `None` if the id cannot be the name of a folder here.
    pub fn folder(&self, session: &SessionId) -> Option<SessionFolder> {
        let is_name = Path::new(&session.0).file_name().is_some_and(|name| name == session.0.as_str());
        let folder = || SessionFolder { path: self.root.join(&session.0), seals: self.seals.clone() };
        is_name.then(folder)
    }

    /// The folders of all sessions, in no order. Some may lack a journal.
    ///
    /// # Errors
    /// [`JournalError::File`] if the store cannot be read. A missing store is empty.
    pub(crate) fn folders(&self) -> Result<Vec<SessionFolder>, JournalError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(JournalError::file("read", &self.root, source)),
        };
        let is_folder =
            |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink());
        let folders = entries.filter_map(Result::ok).filter(is_folder);
        let folders = folders.filter(|entry| entry.file_name().to_str().is_some());
        Ok(folders.map(|entry| SessionFolder { path: entry.path(), seals: self.seals.clone() }).collect())
    }

    /// Finds the session whose id starts with `name`; `last` is the newest.
    ///
    /// # Errors
    /// [`JournalError::NoSession`] or [`JournalError::Ambiguous`] if not exactly one matches.
    pub fn find(&self, name: &str) -> Result<SessionFolder, JournalError> {
        let whole = self.folder(&SessionId(name.to_owned()));
        if let Some(folder) = whole.filter(|folder| folder.journal_path().is_file()) {
            return Ok(folder);
        }
        let ids = self.list()?;
        let matches: Vec<&SessionId> = if name == "last" {
            ids.first().into_iter().collect()
        } else {
            // Ids start with a timestamp, so their ends are accepted too.
            ids.iter()
                .filter(|id| !name.is_empty() && (id.0.starts_with(name) || id.0.ends_with(name)))
                .collect()
        };
        match matches.as_slice() {
            [] => Err(JournalError::NoSession { name: name.to_owned() }),
            [id] => Ok(SessionFolder { path: self.root.join(&id.0), seals: self.seals.clone() }),
            several => Err(JournalError::Ambiguous {
                name: name.to_owned(),
                matches: several.iter().map(|id| id.0.clone()).collect(),
            }),
        }
    }
}

/// The folder of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFolder {
    path: PathBuf,
    seals: SealFolder,
}

impl SessionFolder {
    /// The file name of the journal.
    pub const JOURNAL: &'static str = "journal.jsonl";

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The seals of the journal.
    pub fn seals(&self) -> &SealFolder {
        &self.seals
    }

    /// The journal.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join(Self::JOURNAL)
    }

    /// The folder for logs and scratch files of agents.
    pub fn agents_path(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// Removes what there is of a session that did not begin. Failure is only logged.
    pub(crate) fn discard(&self) {
        if let Err(error) = self.remove() {
            tracing::warn!(%error, "failed to remove the folder of a session that did not begin");
        }
    }

    /// Returns `true` if the process that created it died before its first record was complete.
    fn did_not_begin(&self) -> bool {
        let changed = fs::metadata(&self.path).and_then(|data| data.modified());
        let age =
            changed.map_or(Duration::ZERO, |at| SystemTime::now().duration_since(at).unwrap_or_default());
        let is_unused = || self.is_in_use().is_ok_and(|in_use| !in_use);
        // One that was emptied had records.
        let had_none = || self.anchored_records().is_ok_and(|records| records == 0);
        age > BEGUN_WITHIN && !has_record(&self.journal_path()) && is_unused() && had_none()
    }

    /// Removes the session with its anchor, or what is left of them if an earlier removal was interrupted.
    ///
    /// # Errors
    /// [`JournalError::File`] if something cannot be removed.
    pub fn remove(&self) -> Result<(), JournalError> {
        // The journal is removed first: without one, what an interruption leaves behind is no longer a session.
        let journal = self.journal_path();
        match fs::remove_file(&journal) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(JournalError::file("remove", journal, source));
            }
            Ok(()) | Err(_) => {}
        }
        self.seals.remove_anchor(&self.name(), &self.path)?;
        match fs::remove_dir_all(&self.path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(JournalError::file("remove", &self.path, source))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The folder of the pictures.
    pub(crate) fn pictures_path(&self) -> PathBuf {
        self.path.join("pictures")
    }

    /// The file of a picture, in either format.
    pub fn picture_path(&self, sha256: &str) -> PathBuf {
        let jpeg = self.picture_file(sha256, "jpg");
        if jpeg.is_file() { jpeg } else { self.picture_file(sha256, "png") }
    }

    pub(crate) fn picture_file(&self, sha256: &str, extension: &str) -> PathBuf {
        self.pictures_path().join(format!("{sha256}.{extension}"))
    }

    /// Creates the journal.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be created or already exists.
    pub fn begin(&self) -> Result<JournalWriter, JournalError> {
        JournalWriter::create(self.clone(), self.lock()?)
    }

    /// Reads the journal.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be read; a truncated last line is not an error.
    pub fn read(&self) -> Result<SessionJournal, JournalError> {
        SessionJournal::read(self)
    }

    /// Passes every line of the journal to `reader`, in order, with one line in memory at a time.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be read; a truncated last line is not an error.
    pub fn read_lines(&self, reader: &mut dyn FnMut(&JournalEntry)) -> Result<(), JournalError> {
        let mut lines = JournalLines::open(self)?;
        while let Some(read) = lines.next()? {
            if let JournalItem::Line(line) = read {
                reader(&line);
            }
        }
        Ok(())
    }

    /// Stores a picture under the hash of its bytes and returns the hash. Equal pictures are stored once.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be written.
    pub fn keep_picture(&self, file: &[u8], extension: &str) -> Result<String, JournalError> {
        let sha256 = sha256_hex(file);
        write_whole(&self.picture_file(&sha256, extension), file)?;
        Ok(sha256)
    }

    /// Reads a picture.
    ///
    /// # Errors
    /// [`JournalError::File`] if it is missing.
    pub fn picture(&self, picture: &PictureRef) -> Result<Vec<u8>, JournalError> {
        let path = self.picture_file(&picture.sha256, picture.extension());
        fs::read(&path).map_err(|source| JournalError::file("read", path, source))
    }

    /// Stores the prompt set under its hash and returns the hash.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be written.
    pub fn keep_prompts(&self, prompts: &PromptSet) -> Result<String, JournalError> {
        let bytes = serde_json::to_vec_pretty(prompts).map_err(JournalError::Encode)?;
        let sha256 = sha256_hex(&bytes);
        write_whole(&self.prompts_path(&sha256), &bytes)?;
        Ok(sha256)
    }

    /// Copies the prompt set with that hash from another session.
    ///
    /// # Errors
    /// [`JournalError::File`] if it is missing or cannot be written.
    pub(crate) fn keep_prompts_of(&self, other: &Self, sha256: &str) -> Result<(), JournalError> {
        let path = other.prompts_path(sha256);
        let bytes = fs::read(&path).map_err(|source| JournalError::file("read", &path, source))?;
        write_whole(&self.prompts_path(sha256), &bytes)
    }

    /// Reads the prompt set with that hash.
    ///
    /// # Errors
    /// [`JournalError`] if it is missing or invalid.
    pub fn prompts(&self, sha256: &str) -> Result<PromptSet, JournalError> {
        let path = self.prompts_path(sha256);
        let bytes = fs::read(&path).map_err(|source| JournalError::file("read", &path, source))?;
        serde_json::from_slice(&bytes).map_err(|source| JournalError::Record { path, seq: 1, source })
    }

    pub(crate) fn prompts_path(&self, sha256: &str) -> PathBuf {
        self.path.join(format!("prompts-{sha256}.json"))
    }
}

/// Returns `true` if a journal has a complete record, or may have one.
fn has_record(journal: &Path) -> bool {
    let length = match fs::metadata(journal) {
        Ok(found) => found.len(),
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
    };
    length > HEADER_BYTES_MAX || fs::read(journal).map_or(true, |bytes| bytes.contains(&b'\n'))
}

/// Writes a file atomically. An existing file of that name and size is kept: it has the same content.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
    // A power failure can leave an empty file.
    let is_whole = |found: fs::Metadata| found.is_file() && found.len() == bytes.len() as u64;
    if fs::metadata(path).is_ok_and(is_whole) {
        return Ok(());
    }
    disk::write_whole(path, bytes).map_err(|source| JournalError::file("write", path, source))
}
