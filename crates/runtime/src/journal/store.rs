//! The session store, and the files of a session folder.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use deskhand_core::{ids::SessionId, prompt::PromptSet, record::Line, ui::PictureRef};
use sha2::{Digest as _, Sha256};

use super::{Journal, JournalError, JournalWriter, Lines, Read};

/// The SHA-256 hash as lower-case hexadecimal.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A folder of sessions, each in a subfolder named by its id.
#[derive(Debug, Clone)]
pub struct SessionStore {
    root: PathBuf,
}

impl SessionStore {
    /// The store in `root`; the folder is created with the first session.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates the folder of a new session, accessible to its owner only.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be created.
    pub fn create(&self, session: &SessionId) -> Result<SessionFolder, JournalError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let path = self.root.join(&session.0);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        for folder in [path.clone(), path.join("pictures")] {
            builder.create(&folder).map_err(|source| JournalError::file("create", folder, source))?;
        }
        Ok(SessionFolder { path })
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

    /// Finds the session whose id starts with `name`; `last` is the newest.
    ///
    /// # Errors
    /// [`JournalError::NoSession`] or [`JournalError::Ambiguous`] if not exactly one matches.
    pub fn find(&self, name: &str) -> Result<SessionFolder, JournalError> {
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
            [id] => Ok(SessionFolder { path: self.root.join(&id.0) }),
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
}

impl SessionFolder {
    /// The file name of the journal.
    pub const JOURNAL: &'static str = "journal.jsonl";

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join(Self::JOURNAL)
    }

    /// The folder for logs and scratch files of agents.
    pub fn agents_path(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// Removes the folder of a session that did not start. Failure is only logged.
    pub(crate) fn discard(&self) {
        if !self.journal_path().exists()
            && let Err(error) = fs::remove_dir_all(&self.path)
        {
            tracing::warn!(%error, "failed to remove the folder of a session that did not start");
        }
    }

    /// The file of a picture, in either format.
    pub fn picture_path(&self, sha256: &str) -> PathBuf {
        let jpeg = self.picture_file(sha256, "jpg");
        if jpeg.is_file() { jpeg } else { self.picture_file(sha256, "png") }
    }

    pub(crate) fn picture_file(&self, sha256: &str, extension: &str) -> PathBuf {
        self.path.join("pictures").join(format!("{sha256}.{extension}"))
    }

    /// Creates the journal.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be created or already exists.
    pub fn begin(&self) -> Result<JournalWriter, JournalError> {
        JournalWriter::create(self.journal_path(), self.lock()?)
    }

    /// Reads the journal.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be read; a truncated last line is not an error.
    pub fn read(&self) -> Result<Journal, JournalError> {
        Journal::read(&self.journal_path())
    }

    /// Passes every line of the journal to `reader`, in order, with one line in memory at a time.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be read; a truncated last line is not an error.
    pub fn read_lines(&self, reader: &mut dyn FnMut(&Line)) -> Result<(), JournalError> {
        let mut lines = Lines::open(&self.journal_path())?;
        while let Some(read) = lines.next()? {
            if let Read::Line(line) = read {
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

/// Writes a file atomically. An existing file of that name is kept: it has the same content.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
    if path.is_file() {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| JournalError::file("write", path, source))
}
