//! What can be wrong with a configuration.

use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file could not be read.
    #[error("failed to read the configuration {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It is no TOML.
    #[error("failed to read the configuration {place}: {problem}")]
    Syntax { place: String, problem: String },
    /// A key that does not exist.
    #[error("unknown key `{key}` in {source_of}")]
    UnknownKey { key: String, source_of: String, nearest: Option<String>, known: Vec<String> },
    /// A value of the wrong kind.
    #[error("`{key}` in {source_of} is {found}, but it must be {expected}")]
    WrongValue { key: String, source_of: String, found: String, expected: String, nearest: Option<String> },
    /// A value that does not fit the others.
    #[error("`{key}` cannot be used: {problem}")]
    Unfit { key: String, problem: String, fix: String },
    /// `config explain` of a key that does not exist.
    #[error("there is no key `{key}`")]
    NoSuchKey { key: String, nearest: Option<String> },
}

impl ConfigError {
    /// What to do about it.
    pub(crate) fn help(&self) -> String {
        match self {
            Self::Read { .. } => "make the file readable, or name another one in DESKHAND_CONFIG".to_owned(),
            Self::Syntax { .. } => {
                "correct the line; `deskhand config explain` lists every key with its type".to_owned()
            }
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                format!("did you mean `{nearest}`? `deskhand config explain {nearest}` says what it does")
            }
            Self::UnknownKey { known, .. } => format!("the keys here are {}", known.join(", ")),
            Self::WrongValue { nearest: Some(nearest), .. } => format!("did you mean \"{nearest}\"?"),
            Self::WrongValue { key, .. } => {
                let key = key.split('[').next().unwrap_or(key);
                format!("`deskhand config explain {key}` says what it means")
            }
            Self::Unfit { fix, .. } => fix.clone(),
            Self::NoSuchKey { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NoSuchKey { .. } => "`deskhand config explain` lists every key".to_owned(),
        }
    }
}
