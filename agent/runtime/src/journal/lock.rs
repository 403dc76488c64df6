//! The lock of a session.

use std::{fs, io::Write as _, path::PathBuf};

use super::{JournalError, SessionFolder};

/// An exclusive lock on a session. Released when dropped and when the process exits in any way.
#[derive(Debug)]
pub struct SessionLock {
    _file: fs::File,
}

impl SessionFolder {
    const LOCK: &'static str = "lock";

    /// Locks the session.
    ///
    /// # Errors
    /// [`JournalError::InUse`] if another process holds the lock.
    pub fn lock(&self) -> Result<SessionLock, JournalError> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let path = self.lock_path();
        let failed = |source| JournalError::file("lock", &path, source);
        let mut file = fs::OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
                return Err(JournalError::InUse { session: self.name(), holder });
            }
            Err(fs::TryLockError::Error(source)) => return Err(failed(source)),
        }
        // The holder, for error messages of other processes.
        file.set_len(0).and_then(|()| writeln!(file, "process {}", std::process::id())).map_err(failed)?;
        Ok(SessionLock { _file: file })
    }

    /// The file that is locked. Who locks it writes to it.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.path().join(Self::LOCK)
    }

    /// Returns `true` if a process holds the lock.
    ///
    /// # Errors
    /// [`JournalError::File`] if that cannot be determined.
    pub fn is_in_use(&self) -> Result<bool, JournalError> {
        let path = self.lock_path();
        let failed = |source| JournalError::file("inspect", &path, source);
        let file = match fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(failed(source)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(fs::TryLockError::WouldBlock) => Ok(true),
            Err(fs::TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// The session id, which is also the folder name.
    pub fn name(&self) -> String {
        self.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}
