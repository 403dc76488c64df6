//! The folder that is unpacked into: filled beside its place, then moved there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{error::FileReadError, folder::SkippedFile};

/// Name of the folder that holds the entries until all of them are unpacked.
const CONTENT: &str = "content";

/// The action if the folder to unpack into is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnpackConflictPolicy {
    /// An error.
    #[default]
    Refuse,
    /// Files are added; those that exist are kept, and their new versions skipped.
    Keep,
    /// Files are added; those that exist are replaced.
    Replace,
}

/// The destination, and the temporary folder beside it. Dropping it removes what was unpacked.
pub(super) struct Destination {
    into: PathBuf,
    temporary: TempDir,
    existing: UnpackConflictPolicy,
    /// `true` if the destination is not empty.
    is_filled: bool,
}

impl Destination {
    pub(super) fn prepare(into: &Path, existing: UnpackConflictPolicy) -> Result<Self, FileReadError> {
        let exists =
            |problem: &str| FileReadError::Exists { path: into.to_owned(), problem: problem.to_owned() };
        let failed = |error| FileReadError::file("unpack into", into, error);
        let is_filled = match fs::symlink_metadata(into) {
            Ok(metadata) if metadata.is_dir() => fs::read_dir(into).map_err(failed)?.next().is_some(),
            Ok(_) => return Err(exists("it exists and is no folder; choose another name")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        };
        if is_filled && existing == UnpackConflictPolicy::Refuse {
            return Err(exists("it has files already; choose a new folder, or say that files may be added"));
        }
        let parent = into.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new().prefix(".unpack-").tempdir_in(parent).map_err(failed)?;
        fs::create_dir(temporary.path().join(CONTENT)).map_err(failed)?;
        Ok(Self { into: into.to_owned(), temporary, existing, is_filled })
    }

    /// Returns the folder to unpack into.
    pub(super) fn root(&self) -> PathBuf {
        self.temporary.path().join(CONTENT)
    }

    /// Moves what was unpacked to its place. Returns what was kept as it was.
    pub(super) fn finish(self) -> Result<Vec<SkippedFile>, FileReadError> {
        let mut skipped = Vec::new();
        let root = self.root();
        let moved = if self.is_filled {
            self.merge(&root, &self.into, &mut skipped)
        } else {
            // Replaces an empty folder, and fails if something has been put there meanwhile.
            fs::rename(&root, &self.into)
        };
        moved.map_err(|error| FileReadError::file("unpack into", &self.into, error))?;
        Ok(skipped)
    }

    /// Moves the entries of a folder into one that exists. The depth is that of names in archives.
    fn merge(&self, from: &Path, to: &Path, skipped: &mut Vec<SkippedFile>) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let target = to.join(entry.file_name());
            let name = target.strip_prefix(&self.into).unwrap_or(&target).to_string_lossy().into_owned();
            let is_folder = entry.file_type()?.is_dir();
            let mut skip = |why: &str| skipped.push(SkippedFile { name: name.clone(), why: why.to_owned() });
            match fs::symlink_metadata(&target) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(entry.path(), &target)?,
                Err(error) => return Err(error),
                Ok(found) if found.is_dir() && is_folder => self.merge(&entry.path(), &target, skipped)?,
                // A link to a folder could lead anywhere.
                Ok(found) if found.is_dir() || is_folder => skip("a folder and a file have the same name"),
                Ok(_) if self.existing == UnpackConflictPolicy::Replace => fs::rename(entry.path(), &target)?,
                Ok(_) => skip("a file of this name exists and is kept"),
            }
        }
        Ok(())
    }
}
