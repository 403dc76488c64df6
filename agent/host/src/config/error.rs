//! Configuration errors.

use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("failed to read the configuration {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The file is not valid TOML.
    #[error("failed to read the configuration {place}: {problem}")]
    Syntax {
        /// File and line.
        place: String,
        /// The parser's message.
        problem: String,
    },
    /// A key that does not exist.
    #[error("unknown key `{key}` in {origin}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Origin of the key.
        origin: String,
        /// The closest known key.
        nearest: Option<String>,
        /// The keys of its section.
        known: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("`{key}` in {origin} is {found}, but it must be {expected}")]
    WrongValue {
        /// The key.
        key: String,
        /// Origin of the value.
        origin: String,
        /// The value.
        found: String,
        /// Description of the required value.
        expected: String,
        /// The closest allowed value.
        nearest: Option<String>,
    },
    /// A value that does not fit the others.
    #[error("`{key}` cannot be used: {problem}")]
    Unfit {
        /// The key.
        key: String,
        /// The problem.
        problem: String,
        /// Suggested next step.
        fix: String,
    },
    /// A key to explain that does not exist.
    #[error("there is no key `{key}`")]
    NoSuchKey {
        /// The key.
        key: String,
        /// The closest known key.
        nearest: Option<String>,
    },
    /// A specification that does not name a model.
    #[error("there is no model `{spec}`")]
    NoSuchModel {
        /// The specification.
        spec: String,
        /// The closest known name.
        nearest: Option<String>,
        /// The names under `models`.
        known: Vec<String>,
    },
    /// A value that is not an amount of money.
    #[error("`{key}` is not an amount of money")]
    NotMoney {
        /// The key.
        key: String,
    },
    /// A price that is incomplete or not an amount of money.
    #[error("{problem}")]
    Price {
        /// The key and its problem.
        problem: String,
    },
}

impl ConfigError {
    /// Returns the suggested next step.
    pub fn help(&self) -> String {
        match self {
            Self::Read { .. } => "make the file readable, or name another one in DESKHAND_CONFIG".to_owned(),
            Self::Syntax { .. } => "fix that line; `deskhand config explain` lists every key".to_owned(),
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                format!("did you mean `{nearest}`? `deskhand config explain {nearest}` describes it")
            }
            Self::UnknownKey { known, .. } => format!("known keys here: {}", known.join(", ")),
            Self::WrongValue { nearest: Some(nearest), .. } => format!("did you mean \"{nearest}\"?"),
            Self::WrongValue { key, .. } => {
                let key = key.split('[').next().unwrap_or(key);
                format!("`deskhand config explain {key}` describes it")
            }
            Self::Unfit { fix, .. } => fix.clone(),
            Self::NotMoney { .. } => "use an amount in US dollars, such as 0.50".to_owned(),
            Self::Price { .. } => "give prices in US dollars per million tokens".to_owned(),
            Self::NoSuchModel { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NoSuchModel { known, .. } => {
                let configured = match known.as_slice() {
                    [] => "none".to_owned(),
                    names => names.join(", "),
                };
                format!(
                    "use `PROVIDER:MODEL` (such as `openai:gpt-5-mini`, `anthropic:…`, `gemini:…`, `ollama:…`), `script:FILE`, or a name from [models.NAME] (configured: {configured})"
                )
            }
            Self::NoSuchKey { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NoSuchKey { .. } => "`deskhand config explain` lists every key".to_owned(),
        }
    }
}
