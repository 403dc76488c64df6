//! Errors on files: the error of the crate, and the faults that parsers report.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use crate::format::Format;

/// The longest part of a message that comes out of a file.
const MESSAGE_CHARACTERS_MAX: usize = 500;

/// A file, folder or archive that cannot be read, listed, searched or unpacked.
///
/// Messages are fragments that follow "failed to …". They contain their cause, so there is no `source`:
/// results cross a process boundary as text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileReadError {
    /// The operating system refuses an operation on a file or folder.
    #[error("{action} {}: {cause}", path.display())]
    File {
        /// The attempted operation, such as `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reply of the operating system.
        cause: io::Error,
    },
    /// A folder where a file is needed, the other way round, or a device.
    #[error("read {}: it is {found}; {next}", path.display())]
    Kind {
        /// The given path.
        path: PathBuf,
        /// The kind of object found there.
        found: &'static str,
        /// The suggested alternative.
        next: &'static str,
    },
    /// The content is in no format that this crate reads.
    #[error(
        "recognise the format of {}: its first bytes are {first_bytes}; \
         if it is text, give it a name that ends in .txt",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Up to 16 bytes in hexadecimal, with their ASCII characters.
        first_bytes: String,
    },
    /// The format does not have what an option asks for.
    #[error("read {}: {format} {problem}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// The feature it does not have, and the alternative to request.
        problem: String,
    },
    /// The file is cut off, damaged, or not in the format that it claims.
    #[error("read {} as {format}: {problem}; it is damaged or incomplete, so get a new copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The format it was read as.
        format: Format,
        /// Description of the damage.
        problem: String,
    },
    /// The content is encrypted.
    #[error("read {}: the {format} is password protected; ask for a copy without a password", path.display())]
    PasswordProtected {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
    /// A limit is exceeded.
    #[error("read {}: {problem}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Which limit, and its value.
        problem: String,
    },
    /// A sheet, page, line, JSON pointer or entry that is not in the file.
    #[error("find {wanted} in {}: {available}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The requested item.
        wanted: String,
        /// The items that are available instead.
        available: String,
    },
    /// A glob, regular expression, range or other value that cannot be understood.
    #[error("understand {value:?}: {problem}")]
    Value {
        /// The given value.
        value: String,
        /// The reason it is not valid, and the valid values.
        problem: String,
    },
    /// A helper program is missing, fails or takes too long.
    #[error("run {program} for {}: {problem}", path.display())]
    Program {
        /// The program.
        program: &'static str,
        /// The file.
        path: PathBuf,
        /// Description of the problem, and the package to install.
        problem: String,
    },
    /// A parser panicked; the process is intact.
    #[error(
        "read {}: the parser failed ({problem}); the file is probably damaged, so get a new copy",
        path.display()
    )]
    Panicked {
        /// The file.
        path: PathBuf,
        /// The message of the panic.
        problem: String,
    },
    /// The destination of an unpacked archive has files already.
    #[error("unpack into {}: {problem}", path.display())]
    Exists {
        /// The destination.
        path: PathBuf,
        /// The existing content, and the suggested alternative.
        problem: String,
    },
}

impl FileReadError {
    pub(crate) fn file(action: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::File { action, path: path.to_owned(), cause }
    }
}

/// The error of a parser, before the path of its file is added.
#[derive(Debug)]
pub(crate) enum FileParseError {
    Io(io::Error),
    Damaged(String),
    PasswordProtected,
    TooLarge(String),
    Missing { wanted: String, available: String },
    Unsupported(String),
    Value { value: String, problem: String },
    Program { program: &'static str, problem: String },
}

impl FileParseError {
    pub(crate) fn damaged(problem: impl fmt::Display) -> Self {
        Self::Damaged(problem.to_string())
    }

    /// Messages may quote the file, which may have names of megabytes.
    fn shortened(self) -> Self {
        match self {
            Self::Damaged(problem) => Self::Damaged(short(&problem)),
            Self::Missing { wanted, available } => {
                Self::Missing { wanted: short(&wanted), available: short(&available) }
            }
            Self::Value { value, problem } => Self::Value { value: short(&value), problem: short(&problem) },
            other @ (Self::Io(_)
            | Self::PasswordProtected
            | Self::TooLarge(_)
            | Self::Unsupported(_)
            | Self::Program { .. }) => other,
        }
    }

    /// Adds the file and its format.
    pub(crate) fn at(self, path: &Path, format: Format) -> FileReadError {
        let path = path.to_owned();
        match self.shortened() {
            Self::Io(cause) if is_damage(&cause) => {
                FileReadError::Damaged { path, format, problem: cause.to_string() }
            }
            Self::Io(cause) => FileReadError::File { action: "read", path, cause },
            Self::Damaged(problem) => FileReadError::Damaged { path, format, problem },
            Self::PasswordProtected => FileReadError::PasswordProtected { path, format },
            Self::TooLarge(problem) => FileReadError::TooLarge { path, problem },
            Self::Missing { wanted, available } => FileReadError::Missing { path, wanted, available },
            Self::Unsupported(problem) => FileReadError::Unsupported { path, format, problem },
            Self::Value { value, problem } => FileReadError::Value { value, problem },
            Self::Program { program, problem } => FileReadError::Program { program, path, problem },
        }
    }
}

impl From<io::Error> for FileParseError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(MESSAGE_CHARACTERS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Returns `true` if the error is about the content: decoders report damage as I/O errors without an OS error code.
fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}
