//! The folder of local models: what lies where, locks, and files that appear whole or not at all.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use deskhand_runtime::private;
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::LocalError;
use crate::config::LocalModelSettings;

/// The folder. Each model has one of its own in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocalModelFolder(PathBuf);

impl LocalModelFolder {
    pub(super) const fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The folder of a model.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.0.join("models").join(name)
    }

    /// The file of a model: one with another hash is another file.
    pub(super) fn model(&self, name: &str, settings: &LocalModelSettings) -> PathBuf {
        let extension = if settings.kind.is_archive() { "zip" } else { "gguf" };
        self.folder(name).join(settings.sha256.to_ascii_lowercase()).with_extension(extension)
    }

    /// The file that becomes [`LocalModelFolder::model`].
    pub(super) fn part(&self, name: &str, settings: &LocalModelSettings) -> PathBuf {
        self.model(name, settings).with_extension("part")
    }

    /// Returns the folder for the wheels of a model until its file is complete.
    pub(super) fn wheels(&self, name: &str) -> PathBuf {
        self.folder(name).join("wheels")
    }

    /// The Python environment.
    pub(super) fn python(&self) -> PathBuf {
        self.0.join("python")
    }

    /// The file whose lock is that of a name.
    pub(super) fn lock_file(&self, name: &str) -> PathBuf {
        self.0.join("locks").join(name)
    }

    /// Locks a name against other processes, until the returned file is dropped; `None` if another process holds it.
    ///
    /// # Errors
    /// The lock cannot be made.
    pub(super) fn try_lock(&self, name: &str) -> Result<Option<File>, LocalError> {
        let file = self.open_lock(name)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(LocalError::file("lock", &self.lock_file(name))(error)),
        }
    }

    /// The same, waiting for the other process. Blocking.
    ///
    /// # Errors
    /// The lock cannot be made.
    pub(super) fn lock(&self, name: &str) -> Result<File, LocalError> {
        let file = self.open_lock(name)?;
        file.lock().map_err(LocalError::file("lock", &self.lock_file(name)))?;
        Ok(file)
    }

    /// The same, without blocking. Calls `waits` first if another process holds it.
    ///
    /// # Errors
    /// The lock cannot be made.
    pub(super) async fn lock_in_turn(
        &self,
        name: &str,
        waits: &mut (dyn FnMut() + Send),
    ) -> Result<File, LocalError> {
        if let Some(lock) = self.try_lock(name)? {
            return Ok(lock);
        }
        waits();
        let (files, name) = (self.clone(), name.to_owned());
        let path = files.lock_file(&name);
        spawn_blocking(move || files.lock(&name))
            .await
            .unwrap_or_else(|error| Err(LocalError::file("lock", &path)(io::Error::other(error))))
    }

    fn open_lock(&self, name: &str) -> Result<File, LocalError> {
        let folder = self.0.join("locks");
        private::create_folders(&folder).map_err(LocalError::file("create", &folder))?;
        let path = self.lock_file(name);
        File::options().create(true).append(true).open(&path).map_err(LocalError::file("open", &path))
    }
}

/// The SHA-256 of a file in hexadecimal digits. Blocking.
pub(super) fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; 1024 * 1024];
    loop {
        let length = file.read(&mut buffer)?;
        match buffer.get(..length) {
            Some(read) if length > 0 => sha256.update(read),
            Some(_) | None => return Ok(format!("{:x}", sha256.finalize())),
        }
    }
}

/// Gives a whole file its name, so that it is there after a power failure. Blocking.
pub(super) fn keep(part: &Path, file: &Path) -> io::Result<()> {
    File::open(part)?.sync_all()?;
    fs::rename(part, file)?;
    match file.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Removes a file or folder if it is there. Blocking.
pub(super) fn remove(path: &Path) -> Result<(), LocalError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(LocalError::file("remove", path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
