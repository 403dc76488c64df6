//! `record:FILE` and `play:FILE`: what is done with a cassette.

use std::{fmt, path::PathBuf, str::FromStr};

use deskhand_model::Cassette;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Use of a cassette: `record:FILE` or `play:FILE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("x-expects" = "`record:FILE` or `play:FILE`"))]
pub struct CassetteSetting(pub Cassette);

impl CassetteSetting {
    /// The same with another file.
    pub(crate) fn map(self, path: impl FnOnce(PathBuf) -> PathBuf) -> Self {
        Self(match self.0 {
            Cassette::Record(file) => Cassette::Record(path(file)),
            Cassette::Play(file) => Cassette::Play(path(file)),
        })
    }
}

impl FromStr for CassetteSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some(("record", file)) if !file.is_empty() => Ok(Self(Cassette::Record(file.into()))),
            Some(("play", file)) if !file.is_empty() => Ok(Self(Cassette::Play(file.into()))),
            _ => Err(format!("`{text}` is neither `record:FILE` nor `play:FILE`")),
        }
    }
}

impl TryFrom<String> for CassetteSetting {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for CassetteSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cassette::Record(file) => write!(f, "record:{}", file.display()),
            Cassette::Play(file) => write!(f, "play:{}", file.display()),
        }
    }
}

impl From<CassetteSetting> for String {
    fn from(setting: CassetteSetting) -> Self {
        setting.to_string()
    }
}
