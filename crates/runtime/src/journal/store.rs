//! Where sessions are kept, and what is in a session's folder.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use deskhand_core::{ids::SessionId, prompt::PromptSet, record::Line, ui::PictureRef};
use sha2::{Digest as _, Sha256};

use super::{Journal, JournalError, JournalWriter, Lines, Read};

/// SHA-256 of some bytes, lower-case hexadecimal.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A folder of sessions, each in a folder of its own under its id.
#[derive(Debug, Clone)]
pub struct SessionStore {
    root: PathBuf,
}

impl SessionStore {
    /// The store in `root`; the folder is made when the first session is.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder of a new session, readable by its owner alone.
    ///
    /// # Errors
    /// [`JournalError::File`] when it cannot be made.
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
    /// [`JournalError::File`] when the store cannot be read. A store that does not exist is empty.
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

    /// The folder of the session whose id begins with `name`; `last` is the newest one.
    ///
    /// # Errors
    /// [`JournalError::NoSession`] or [`JournalError::Ambiguous`] when there is none, or more than one.
    pub fn find(&self, name: &str) -> Result<SessionFolder, JournalError> {
        let ids = self.list()?;
        let matches: Vec<&SessionId> = if name == "last" {
            ids.first().into_iter().collect()
        } else {
            // Ids begin with their time; people tell them apart by their ends as well.
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
    /// The name of the journal in the folder.
    pub const JOURNAL: &'static str = "journal.jsonl";

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join(Self::JOURNAL)
    }

    /// Where agents keep their logs and scratch files.
    pub fn agents_path(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// Removes the folder of a session that did not begin. That it cannot be removed changes nothing.
    pub(crate) fn discard(&self) {
        if !self.journal_path().exists()
            && let Err(error) = fs::remove_dir_all(&self.path)
        {
            tracing::warn!(%error, "the folder of a session that did not begin is left behind");
        }
    }

    /// The file of a picture, whichever of the two kinds it is.
    pub fn picture_path(&self, sha256: &str) -> PathBuf {
        let jpeg = self.picture_file(sha256, "jpg");
        if jpeg.is_file() { jpeg } else { self.picture_file(sha256, "png") }
    }

    pub(crate) fn picture_file(&self, sha256: &str, extension: &str) -> PathBuf {
        self.path.join("pictures").join(format!("{sha256}.{extension}"))
    }

    /// Begins the journal.
    ///
    /// # Errors
    /// [`JournalError`] when the file cannot be made, or exists already.
    pub fn begin(&self) -> Result<JournalWriter, JournalError> {
        JournalWriter::create(self.journal_path(), self.lock()?)
    }

    /// Reads the journal.
    ///
    /// # Errors
    /// [`JournalError`] when it cannot be read; a last line that was cut off by a crash is no error.
    pub fn read(&self) -> Result<Journal, JournalError> {
        Journal::read(&self.journal_path())
    }

    /// Gives every line of the journal to `reader`, in order. No more than one line is in memory.
    ///
    /// # Errors
    /// [`JournalError`] when it cannot be read; a last line that was cut off by a crash is no error.
    pub fn read_lines(&self, reader: &mut dyn FnMut(&Line)) -> Result<(), JournalError> {
        let mut lines = Lines::open(&self.journal_path())?;
        while let Some(read) = lines.next()? {
            if let Read::Line(line) = read {
                reader(&line);
            }
        }
        Ok(())
    }

    /// Keeps the file of a picture under the hash of its bytes, and returns that hash. The same picture is kept once.
    ///
    /// # Errors
    /// [`JournalError::File`] when it cannot be written.
    pub fn keep_picture(&self, file: &[u8], extension: &str) -> Result<String, JournalError> {
        let sha256 = sha256_hex(file);
        write_whole(&self.picture_file(&sha256, extension), file)?;
        Ok(sha256)
    }

    /// The bytes of a picture.
    ///
    /// # Errors
    /// [`JournalError::File`] when it is not there.
    pub fn picture(&self, picture: &PictureRef) -> Result<Vec<u8>, JournalError> {
        let path = self.picture_file(&picture.sha256, picture.extension());
        fs::read(&path).map_err(|source| JournalError::file("read", path, source))
    }

    /// Keeps the prompt set under its hash, and returns that hash.
    ///
    /// # Errors
    /// [`JournalError`] when it cannot be written.
    pub fn keep_prompts(&self, prompts: &PromptSet) -> Result<String, JournalError> {
        let bytes = serde_json::to_vec_pretty(prompts).map_err(JournalError::Encode)?;
        let sha256 = sha256_hex(&bytes);
        write_whole(&self.prompts_path(&sha256), &bytes)?;
        Ok(sha256)
    }

    /// Takes the prompt set with that hash over from another session.
    ///
    /// # Errors
    /// [`JournalError::File`] when it is not there or cannot be written.
    pub(crate) fn keep_prompts_of(&self, other: &Self, sha256: &str) -> Result<(), JournalError> {
        let path = other.prompts_path(sha256);
        let bytes = fs::read(&path).map_err(|source| JournalError::file("read", &path, source))?;
        write_whole(&self.prompts_path(sha256), &bytes)
    }

    /// The prompt set with that hash.
    ///
    /// # Errors
    /// [`JournalError`] when it is not there or no prompt set.
    pub fn prompts(&self, sha256: &str) -> Result<PromptSet, JournalError> {
        let path = self.prompts_path(sha256);
        let bytes = fs::read(&path).map_err(|source| JournalError::file("read", &path, source))?;
        serde_json::from_slice(&bytes).map_err(|source| JournalError::Record { path, seq: 1, source })
    }

    pub(crate) fn prompts_path(&self, sha256: &str) -> PathBuf {
        self.path.join(format!("prompts-{sha256}.json"))
    }
}

/// Writes a file that is there whole or not at all. A file of that name is left as it is: it has the same bytes.
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
