//! Cassettes: what was sent to an endpoint and what came back, on the wire, in a file.
//!
//! The first line says whose wire it is, each further one is an exchange. Keys are not in it: headers of requests are left out, and the
//! key is taken out of everything else. Pictures are there by their hash. Everything else that the model was shown is there as it was.

mod exchange;
mod player;
mod recorder;

use std::path::{Path, PathBuf};

pub(crate) use exchange::{CassetteFailure, CassetteRequest, CassetteResponse, Exchange, ExchangeEnd};
pub(crate) use player::{NoExchange, Player, read as read_cassette};
pub(crate) use recorder::CassetteRecorder;

use crate::wire::Wire;

/// The most bytes of a cassette that are written or read.
const CASSETTE_MAX: u64 = 256 * 1024 * 1024;

/// Use of a cassette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cassette {
    /// Adds every exchange to this file. It is made if it does not exist, readable by its owner alone.
    Record(PathBuf),
    /// Takes the replies from this file, in order; nothing is sent, no key is read, and no delay is waited for.
    Play(PathBuf),
}

/// Whose wire is recorded.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CassetteHeader {
    /// The version of the format.
    cassette: u32,
    pub(crate) provider: String,
    pub(crate) wire: Wire,
    pub(crate) base_url: String,
    pub(crate) model: String,
}

/// The version of the format that is written.
const VERSION: u32 = 1;

impl CassetteHeader {
    pub(crate) const fn new(provider: String, wire: Wire, base_url: String, model: String) -> Self {
        Self { cassette: VERSION, provider, wire, base_url, model }
    }

    /// Returns `true` if both are about the same model; where its server is does not matter.
    fn is_for(&self, other: &Self) -> bool {
        self.wire == other.wire && self.model == other.model
    }

    fn read(line: &str, path: &Path) -> Result<Self, CassetteError> {
        let label: Self =
            serde_json::from_str(line).map_err(|_| CassetteError::Other { path: path.to_owned() })?;
        if label.cassette > VERSION {
            return Err(CassetteError::Newer { path: path.to_owned(), version: label.cassette });
        }
        Ok(label)
    }

    /// The label of a cassette must name the same model.
    fn check(&self, held: &Self, path: &Path) -> Result<(), CassetteError> {
        if held.is_for(self) {
            return Ok(());
        }
        let names = |label: &Self| format!("{}:{}", label.provider, label.model);
        Err(CassetteError::AnotherModel { path: path.to_owned(), held: names(held), wanted: names(self) })
    }
}

/// A cassette that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file cannot be opened, read or written.
    #[error("failed to open the cassette {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{} is not a cassette: its first line does not say whose wire it holds", path.display())]
    Other {
        /// The file.
        path: PathBuf,
    },
    /// The cassette was recorded by a later version.
    #[error("the cassette {} has format {version}, and this version reads up to {VERSION}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The cassette holds the exchanges of another model.
    #[error("the cassette {} holds the exchanges of {held}, not of {wanted}; each model needs a cassette of its own", path.display())]
    AnotherModel {
        /// The file.
        path: PathBuf,
        /// The model in it.
        held: String,
        /// The model that is configured.
        wanted: String,
    },
    /// A line is not an exchange.
    #[error("line {line} of the cassette {} is not an exchange: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// Description of the problem.
        problem: String,
    },
    /// The cassette is too long.
    #[error("the cassette {} has more than {CASSETTE_MAX} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
}
