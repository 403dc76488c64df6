//! Documents to open: checked before anything starts, with the programs that open them.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use super::blank::blank;
use deskhand_desktop_linux::{NewFileMethod, NoOpener, OfficeLock, OpenTarget, Opener, Openers};
use deskhand_ui::suggest::{LIKELY_FILE_MIN, rank, similarity};

/// A document that cannot be opened. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The file does not exist.
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
    /// The file would be new, and its folder does not exist.
    #[error("failed to open {}: the folder {} does not exist", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// The file does not exist, and an empty file is no document of its type.
    #[error("failed to open {}: there is no such file, and {program} cannot begin one of type {mime}", path.display())]
    NotBegun {
        /// The file.
        path: PathBuf,
        /// Its type.
        mime: String,
        /// The application for it.
        program: String,
    },
    /// Nothing that is installed opens it.
    #[error("failed to open {}: no installed application opens {}{}", named.display(), none.mime, unusable(none))]
    NoProgram {
        /// The file or address.
        named: PathBuf,
        /// Result of the search for an application.
        none: NoOpener,
    },
    /// The address has a scheme that is not opened.
    #[error("failed to open {}: addresses with `{scheme}:` are not opened", address.display())]
    Scheme {
        /// The address.
        address: PathBuf,
        /// Its scheme.
        scheme: String,
    },
    /// The file is not readable.
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
    /// Returns the suggested next step.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Missing { nearest: Some(near), path, .. } => {
                format!("did you mean {}? `touch {}` begins a new document", near.display(), path.display())
            }
            Self::NoFolder { folder, .. } => {
                format!(
                    "check the path, or make the folder: `mkdir -p {}`; nothing was started",
                    folder.display()
                )
            }
            Self::Missing { .. } => "check the path; nothing was started".to_owned(),
            Self::NotBegun { .. } => "open a file that exists, or let an agent save a new one".to_owned(),
            Self::NoProgram { none, .. } => choose_help(none),
            Self::Scheme { .. } => {
                "open a file, a folder, or an address with `https:`, `http:` or `file:`".to_owned()
            }
            Self::Unreadable { path, .. } => format!("make it readable: `chmod u+r {}`", path.display()),
            Self::Locked { lock, .. } => {
                format!("close it there; if that program is gone, remove {}", lock.display())
            }
        })
    }
}

/// The applications that are registered for a type and cannot be used.
fn unusable(none: &NoOpener) -> String {
    let each = none.unusable.iter().map(|(name, why)| format!("{name} {why}"));
    let all = each.collect::<Vec<_>>().join(", ");
    if all.is_empty() { all } else { format!(" ({all})") }
}

/// Explains how to get an application for a type.
fn choose_help(none: &NoOpener) -> String {
    let choose = format!("choose one that is: `xdg-mime default NAME.desktop {}`", none.mime);
    match none.package {
        Some(package) => format!("install one, such as `{package}`, or {choose}"),
        None => format!("install one, or {choose}"),
    }
}

/// Handling of a file that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingFilePolicy {
    /// Begin the file as a new document.
    Begun,
    /// Report an error.
    Refused,
}

/// A file that is readable and not open elsewhere, a file to begin, a folder or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenableDocument {
    /// Its absolute path, or its address.
    pub(crate) named: PathBuf,
    /// The application that opens it.
    pub(crate) opener: Opener,
    /// The host of its address.
    host: Option<String>,
    /// Initial content of the file, if its application does not begin it by itself.
    beginning: Option<Vec<u8>>,
}

impl OpenableDocument {
    /// Returns the argument for the application.
    pub(crate) fn argument(&self) -> String {
        self.named.to_string_lossy().into_owned()
    }

    /// Makes the file for a new document, if its application needs one. One that has come meanwhile stays as it is.
    pub(crate) fn begin(&self) -> io::Result<()> {
        let Some(beginning) = &self.beginning else { return Ok(()) };
        match fs::File::create_new(&self.named) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other.and_then(|mut file| file.write_all(beginning)),
        }
    }
}

/// The hosts of the addresses among documents.
pub(crate) fn hosts_of(documents: &[OpenableDocument]) -> Vec<String> {
    documents.iter().filter_map(|document| document.host.clone()).collect()
}

/// Resolves a path named in a file against the folder of that file; addresses stay as they are.
pub(crate) fn in_folder(folder: &Path, named: &Path) -> PathBuf {
    match OpenTarget::parse(named) {
        Ok(OpenTarget::Path(path)) => folder.join(path),
        Ok(OpenTarget::Address(_)) | Err(_) => named.to_owned(),
    }
}

/// Checks what is to be opened: paths of files and folders, `file`, `http` and `https` addresses.
///
/// # Errors
/// [`DocumentError`] for the first that cannot be opened.
pub(crate) fn check(
    named: &[PathBuf],
    missing: MissingFilePolicy,
) -> Result<Vec<OpenableDocument>, DocumentError> {
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let openers = Openers::of_this_system();
    named.iter().map(|one| check_one(&openers, one, missing)).collect()
}

fn check_one(
    openers: &Openers,
    named: &Path,
    missing: MissingFilePolicy,
) -> Result<OpenableDocument, DocumentError> {
    let target = OpenTarget::parse(named)
        .map_err(|scheme| DocumentError::Scheme { address: named.to_owned(), scheme })?;
    let OpenTarget::Path(file) = target else {
        let host = target.host().map(ToOwned::to_owned);
        let opener = choose(openers, &target, named)?;
        return Ok(OpenableDocument { named: named.to_owned(), opener, host, beginning: None });
    };
    let path = match fs::canonicalize(&file) {
        Ok(path) => path,
        Err(source) => return begin(openers, &file, missing, source),
    };
    let unreadable = |source| DocumentError::Unreadable { path: file.clone(), source };
    if fs::metadata(&path).map_err(unreadable)?.is_dir() {
        fs::read_dir(&path).map_err(unreadable)?;
    } else {
        fs::File::open(&path).map_err(unreadable)?;
    }
    if let Some(lock) = find_lock(&path) {
        return Err(DocumentError::Locked { path: file, owner: lock.owner, lock: lock.file });
    }
    let opener = choose(openers, &OpenTarget::Path(path.clone()), &file)?;
    Ok(OpenableDocument { named: path, opener, host: None, beginning: None })
}

/// A document that does not exist yet, unless it is likely that another one is meant.
fn begin(
    openers: &Openers,
    file: &Path,
    missing: MissingFilePolicy,
    source: io::Error,
) -> Result<OpenableDocument, DocumentError> {
    let nearest = nearest_file(file);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_new = missing == MissingFilePolicy::Begun
        && source.kind() == io::ErrorKind::NotFound
        // A link that leads nowhere would be begun where it leads.
        && fs::symlink_metadata(file).is_err();
    let refused = |source| DocumentError::Missing { path: file.to_owned(), nearest: nearest.clone(), source };
    let (Some(name), true) =
        (file.file_name(), is_new && !nearest.as_deref().is_some_and(|near| is_slip(file, near)))
    else {
        return Err(refused(source));
    };
    let path = match fs::canonicalize(folder) {
        Ok(folder) => folder.join(name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(DocumentError::NoFolder { path: file.to_owned(), folder: folder.to_owned() });
        }
        Err(error) => return Err(refused(error)),
    };
    let opener = choose(openers, &OpenTarget::Path(path.clone()), file)?;
    let beginning = match opener.begins {
        NewFileMethod::ByPath => None,
        NewFileMethod::Empty => Some(blank(&opener.mime)),
        NewFileMethod::Not => {
            let (path, mime) = (file.to_owned(), opener.mime);
            return Err(DocumentError::NotBegun { path, mime, program: opener.name });
        }
    };
    Ok(OpenableDocument { named: path, opener, host: None, beginning })
}

/// Returns `true` if a name is likely a slip of the pen for that of an existing file. Names that differ in numbers are of a series, and one that
/// goes on where the other ends is another word: `note.txt`, `notes.txt`.
fn is_slip(file: &Path, near: &Path) -> bool {
    let without_digits = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.chars().filter(|c| !c.is_numeric()).collect::<String>()
    };
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let (own, other) = (stem(file), stem(near));
    let goes_on = own.starts_with(&other) || other.starts_with(&own);
    file.extension() == near.extension() && !goes_on && without_digits(file) != without_digits(near)
}

fn choose(openers: &Openers, target: &OpenTarget, named: &Path) -> Result<Opener, DocumentError> {
    openers.choose(target).map_err(|none| DocumentError::NoProgram { named: named.to_owned(), none })
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
