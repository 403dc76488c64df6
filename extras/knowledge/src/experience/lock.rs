//! Locks between processes. The kernel releases them when a process ends, however it ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

use super::error::ExperienceError;

/// Maximum time that a writer waits for another one, whose work takes milliseconds.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Waits for a lock, within bounds.
pub(crate) fn wait(path: &Path) -> Result<Lock, ExperienceError> {
    if let Some(lock) = attempt(path)? {
        return Ok(lock);
    }
    let file = open(path)?;
    let (sender, receiver) = mpsc::channel();
    // The call cannot be interrupted. If it returns too late, nobody receives the file, and closing it releases the lock.
    thread::spawn(move || {
        let locked = file.lock().map(|()| file);
        drop(sender.send(locked));
    });
    match receiver.recv_timeout(WAIT_MAX) {
        Ok(locked) => locked.map(|file| Lock { _file: file }).map_err(|problem| failed(path, problem)),
        Err(_) => Err(ExperienceError::Locked { path: path.to_owned(), seconds: WAIT_MAX.as_secs() }),
    }
}

/// Takes a lock if nobody holds it.
pub(crate) fn attempt(path: &Path) -> Result<Option<Lock>, ExperienceError> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(problem)) => Err(failed(path, problem)),
    }
}

fn open(path: &Path) -> Result<File, ExperienceError> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    file.map_err(|problem| failed(path, problem))
}

fn failed(path: &Path, problem: io::Error) -> ExperienceError {
    ExperienceError::File { action: "lock", path: path.to_owned(), problem }
}
