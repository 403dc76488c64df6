//! Documents to open: checked before anything starts, with the programs that open them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deskhand_core::suggest::{LIKELY_FILE_MIN, rank, similarity};
use deskhand_desktop_linux::OfficeLock;

/// A document that cannot be opened. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It does not exist.
    #[error("failed to open {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// A file with a similar name beside it.
        nearest: Option<PathBuf>,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It is a folder.
    #[error("failed to open {}: it is a folder", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// It is not readable.
    #[error("failed to open {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Another program has it open.
    #[error("{} is locked: {owner} has it open", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// Who has it open.
        owner: String,
        /// The lock file.
        lock: PathBuf,
    },
}

impl DocumentError {
    /// What to do next.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Missing { nearest: Some(near), .. } => format!("did you mean {}?", near.display()),
            Self::Missing { .. } => "check the path; nothing was started".to_owned(),
            Self::Folder { .. } => "name a document in it".to_owned(),
            Self::Unreadable { path, .. } => format!("make it readable: `chmod u+r {}`", path.display()),
            Self::Locked { lock, .. } => {
                format!("close it there; if that program is gone, remove {}", lock.display())
            }
        })
    }
}

/// A document that exists, is readable, and is not open elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its absolute path.
    pub(crate) path: PathBuf,
    /// The programs that open it, in order of preference.
    pub(crate) programs: &'static [&'static str],
}

const WRITER: &[&str] = &["libreoffice-writer"];
const CALC: &[&str] = &["libreoffice-calc"];
const IMPRESS: &[&str] = &["libreoffice-impress"];
const DRAW: &[&str] = &["libreoffice-draw"];
const BROWSER: &[&str] = &["chromium", "firefox", "firefox-esr"];
const READER: &[&str] = &["org.gnome.Evince", "evince", "okular", "chromium", "firefox", "firefox-esr"];
const PICTURES: &[&str] = &["org.gnome.eog", "eog", "gwenview", "ristretto"];
const EDITOR: &[&str] =
    &["mousepad", "org.gnome.gedit", "gedit", "org.gnome.TextEditor", "kate", "featherpad"];

/// The programs for each file extension. Other files are opened as plain text.
const KINDS: &[(&[&str], &[&str])] = &[
    (&["odt", "ott", "fodt", "doc", "docx", "rtf"], WRITER),
    (&["ods", "ots", "fods", "xls", "xlsx", "csv", "tsv"], CALC),
    (&["odp", "otp", "fodp", "ppt", "pptx"], IMPRESS),
    (&["odg", "fodg", "vsd", "vsdx"], DRAW),
    (&["html", "htm", "xhtml"], BROWSER),
    (&["pdf"], READER),
    (&["png", "jpg", "jpeg", "gif", "bmp", "webp"], PICTURES),
];

/// Checks the files to open.
///
/// # Errors
/// [`DocumentError`] for the first file that is missing, not readable, or open elsewhere.
pub(crate) fn check(files: &[PathBuf]) -> Result<Vec<Document>, DocumentError> {
    files.iter().map(|file| check_one(file)).collect()
}

fn check_one(file: &Path) -> Result<Document, DocumentError> {
    let path = fs::canonicalize(file).map_err(|source| DocumentError::Missing {
        path: file.to_owned(),
        nearest: nearest_file(file),
        source,
    })?;
    let unreadable = |source| DocumentError::Unreadable { path: file.to_owned(), source };
    if fs::metadata(&path).map_err(unreadable)?.is_dir() {
        return Err(DocumentError::Folder { path: file.to_owned() });
    }
    fs::File::open(&path).map_err(unreadable)?;
    if let Some(lock) = find_lock(&path) {
        return Err(DocumentError::Locked { path: file.to_owned(), owner: lock.owner, lock: lock.file });
    }
    Ok(Document { programs: programs_for(&path), path })
}

fn programs_for(path: &Path) -> &'static [&'static str] {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let kind = |extension: &String| KINDS.iter().find(|(known, _)| known.contains(&extension.as_str()));
    extension.as_ref().and_then(kind).map_or(EDITOR, |(_, programs)| programs)
}

/// The lock of a program that has the document open. A stale one, as a private desktop leaves it that was killed, is removed.
fn find_lock(path: &Path) -> Option<OfficeLock> {
    let lock = OfficeLock::find(path)?;
    if lock.is_stale() && lock.remove().is_ok() {
        return None;
    }
    Some(lock)
}

/// A file in the same folder with a similar name.
fn nearest_file(file: &Path) -> Option<PathBuf> {
    /// The most files to compare.
    const FILES_MAX: usize = 2_000;
    let wanted = file.file_name()?.to_string_lossy();
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names =
        fs::read_dir(folder).ok()?.take(FILES_MAX).filter_map(Result::ok).map(|entry| entry.file_name());
    let near = rank(names, LIKELY_FILE_MIN, |name| similarity(&wanted, &name.to_string_lossy()));
    near.first().map(|name| file.with_file_name(name))
}
