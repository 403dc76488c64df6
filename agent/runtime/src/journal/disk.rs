//! Writes of a session, in steps that a power failure can separate.
//!
//! Written bytes and new names survive the end of the process at once, and a power failure only once they are
//! synced. So everything that a record refers to is synced before the record is. In unit tests, every step is
//! recorded.
//!
//! A file that appears whole is first written as `NAME.part`. A process that dies leaves that file, and the next
//! one that writes the same name, or resumes the session, removes it.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use crate::private;

/// Number of existing names above a folder that are synced: another process may have created them without that.
const NAMES_ABOVE: usize = 6;

/// Creates a folder with its parents, private to their owner, and syncs their names.
pub(super) fn create_folders(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    private::create_folders(path)?;
    let existing = path.ancestors().skip(missing.len()).take(NAMES_ABOVE);
    for parent in existing.filter_map(Path::parent).filter(|parent| !parent.as_os_str().is_empty()) {
        // A folder of another user cannot always be opened.
        sync_folder(parent).ok();
    }
    for folder in missing.into_iter().rev() {
        match folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => sync_folder(parent)?,
            None => sync_folder(Path::new("."))?,
        }
    }
    Ok(())
}

/// Name extension of a file that is not complete yet.
const PART: &str = "part";

/// The name of a file while it is written.
pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut part = OsString::from(path);
    part.push(".");
    part.push(PART);
    part.into()
}

/// Creates the file that becomes `path`, private to its owner; one that a dead process left is emptied.
pub(super) fn create_part(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.create(true).write(true).truncate(true).mode(private::FILE_MODE).open(part_of(path))
}

/// Writes a file that appears whole or not at all. It is not synced. Nobody else may write it meanwhile.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = create_part(path).and_then(|mut file| file.write_all(bytes));
    if let Err(error) = written.and_then(|()| fs::rename(part_of(path), path)) {
        // A full disk needs the space.
        fs::remove_file(part_of(path)).ok();
        return Err(error);
    }
    step(path, DiskStep::Write(bytes));
    Ok(())
}

/// Removes what processes that died have left half written in a folder. Failures are only logged.
pub(super) fn remove_parts(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for path in entries.map(|entry| entry.path()).filter(|path| is_part(path)) {
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(%error, path = %path.display(), "failed to remove a file that is half written");
        }
    }
}

/// Returns `true` if a file is not whole yet.
pub(super) fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == PART)
}

/// Creates a file to append to. It is not synced.
pub(super) fn create(path: &Path) -> io::Result<fs::File> {
    let file = fs::OpenOptions::new().append(true).create_new(true).mode(private::FILE_MODE).open(path)?;
    step(path, DiskStep::Create);
    Ok(file)
}

/// Appends to a file. It is not synced.
pub(super) fn append(file: &mut fs::File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    step(path, DiskStep::Append(bytes));
    Ok(())
}

/// Syncs the content of a file.
pub(super) fn sync(file: &fs::File, path: &Path) -> io::Result<()> {
    file.sync_data()?;
    step(path, DiskStep::Sync);
    Ok(())
}

/// Syncs the names of what is in a folder.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()?;
    step(path, DiskStep::SyncFolder);
    Ok(())
}

/// One step; the path is that of the file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiskStep<'a> {
    Create,
    Write(&'a [u8]),
    Append(&'a [u8]),
    Sync,
    SyncFolder,
}

#[cfg(not(test))]
fn step(_: &Path, _: DiskStep<'_>) {}

#[cfg(test)]
use recorder::step;

#[cfg(test)]
pub(super) mod recorder {
    //! The steps of this thread, for tests of power failures.

    use std::{
        cell::RefCell,
        path::{Path, PathBuf},
    };

    use super::DiskStep;

    /// A recorded step.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(in crate::journal) enum DiskOperation {
        Create(PathBuf),
        Write(PathBuf, Vec<u8>),
        Append(PathBuf, Vec<u8>),
        Sync(PathBuf),
        SyncFolder(PathBuf),
    }

    impl DiskOperation {
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
        static STEPS: RefCell<Vec<DiskOperation>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn step(path: &Path, step: DiskStep<'_>) {
        let path = path.to_owned();
        let recorded = match step {
            DiskStep::Create => DiskOperation::Create(path),
            DiskStep::Write(bytes) => DiskOperation::Write(path, bytes.to_vec()),
            DiskStep::Append(bytes) => DiskOperation::Append(path, bytes.to_vec()),
            DiskStep::Sync => DiskOperation::Sync(path),
            DiskStep::SyncFolder => DiskOperation::SyncFolder(path),
        };
        STEPS.with_borrow_mut(|steps| steps.push(recorded));
    }

    /// The steps since the last call.
    pub(in crate::journal) fn take() -> Vec<DiskOperation> {
        STEPS.take()
    }
}
