//! What can be wrong with a configuration.

use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("failed to read the configuration {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is not valid TOML.
    #[error("failed to read the configuration {place}: {problem}")]
    Syntax {
        /// File and line.
        place: String,
        /// What the parser says.
        problem: String,
    },
    /// A key that does not exist.
    #[error("unknown key `{key}` in {origin}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it was set.
        origin: String,
        /// The key that was probably meant.
        nearest: Option<String>,
        /// The keys of its section.
        known: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("`{key}` in {origin} is {found}, but it must be {expected}")]
    WrongValue {
        /// The key.
        key: String,
        /// Where it was set.
        origin: String,
        /// The value.
        found: String,
        /// What it must be.
        expected: String,
        /// The value that was probably meant.
        nearest: Option<String>,
    },
    /// A value that does not fit the others.
    #[error("`{key}` cannot be used: {problem}")]
    Unfit {
        /// The key.
        key: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        fix: String,
    },
    /// There is no such key to explain.
    #[error("there is no key `{key}`")]
    NoSuchKey {
        /// The key.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
    },
    /// A specification that names no model.
    #[error("there is no model `{spec}`")]
    NoSuchModel {
        /// The specification.
        spec: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// The names under `models`.
        known: Vec<String>,
    },
    /// An amount of money that is not one.
    #[error("`{key}` is no amount of money")]
    NotMoney {
        /// The key.
        key: String,
    },
    /// A price that is incomplete or not an amount.
    #[error("{problem}")]
    Price {
        /// The key and what is wrong with it.
        problem: String,
    },
}

impl ConfigError {
    /// What to do about it.
    pub fn help(&self) -> String {
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
            Self::NotMoney { .. } => "name dollars: 0.50".to_owned(),
            Self::Price { .. } => "prices are US dollars for a million tokens".to_owned(),
            Self::NoSuchModel { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NoSuchModel { known, .. } => {
                let there = match known.as_slice() {
                    [] => "is none yet".to_owned(),
                    names => format!("is {}", names.join(", ")),
                };
                format!(
                    "use `openai:MODEL`, `script:FILE`, or the name of a section [models.NAME] (there {there})"
                )
            }
            Self::NoSuchKey { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NoSuchKey { .. } => "`deskhand config explain` lists every key".to_owned(),
        }
    }
}
