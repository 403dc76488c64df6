//! What a session writes, in steps that a power failure can separate.
//!
//! Written bytes and new names survive the end of the process at once, and a power failure only once they are synced. So
//! everything that a record refers to is synced before the record is. In unit tests, every step is recorded.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use crate::private;

/// Creates a folder with its parents, private to their owner, and syncs their names.
pub(super) fn create_folders(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    private::create_folders(path)?;
    for folder in missing.into_iter().rev() {
        match folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => sync_folder(parent)?,
            None => sync_folder(Path::new("."))?,
        }
    }
    Ok(())
}

/// Writes a file that appears whole or not at all. It is not synced.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    step(path, Step::Write(bytes));
    Ok(())
}

/// Creates a file to append to. It is not synced.
pub(super) fn create(path: &Path) -> io::Result<fs::File> {
    let file = fs::OpenOptions::new().append(true).create_new(true).mode(private::FILE_MODE).open(path)?;
    step(path, Step::Create);
    Ok(file)
}

/// Appends to a file. It is not synced.
pub(super) fn append(file: &mut fs::File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    step(path, Step::Append(bytes));
    Ok(())
}

/// Syncs the content of a file.
pub(super) fn sync(file: &fs::File, path: &Path) -> io::Result<()> {
    file.sync_data()?;
    step(path, Step::Sync);
    Ok(())
}

/// Syncs the names of what is in a folder.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()?;
    step(path, Step::SyncFolder);
    Ok(())
}

/// One step; the path is that of the file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'a> {
    Create,
    Write(&'a [u8]),
    Append(&'a [u8]),
    Sync,
    SyncFolder,
}

#[cfg(not(test))]
fn step(_: &Path, _: Step<'_>) {}

#[cfg(test)]
use recorder::step;

#[cfg(test)]
pub(super) mod recorder {
    //! The steps of this thread, for tests of power failures.

    use std::{
        cell::RefCell,
        path::{Path, PathBuf},
    };

    use super::Step;

    /// A recorded step.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(in crate::journal) enum Recorded {
        Create(PathBuf),
        Write(PathBuf, Vec<u8>),
        Append(PathBuf, Vec<u8>),
        Sync(PathBuf),
        SyncFolder(PathBuf),
    }

    impl Recorded {
        /// The file or folder.
        pub(in crate::journal) fn path(&self) -> &Path {
            match self {
                Self::Create(path)
                | Self::Write(path, _)
                | Self::Append(path, _)
                | Self::Sync(path)
                | Self::SyncFolder(path) => path,
            }
        }
    }

    thread_local! {
        static STEPS: RefCell<Vec<Recorded>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn step(path: &Path, step: Step<'_>) {
        let path = path.to_owned();
        let recorded = match step {
            Step::Create => Recorded::Create(path),
            Step::Write(bytes) => Recorded::Write(path, bytes.to_vec()),
            Step::Append(bytes) => Recorded::Append(path, bytes.to_vec()),
            Step::Sync => Recorded::Sync(path),
            Step::SyncFolder => Recorded::SyncFolder(path),
        };
        STEPS.with_borrow_mut(|steps| steps.push(recorded));
    }

    /// The steps since the last call.
    pub(in crate::journal) fn take() -> Vec<Recorded> {
        STEPS.take()
    }
}
