//! Reasons why no text was read, each with the next step.

use std::path::PathBuf;

use deskhand_local_client::LocalCallError;

/// Why no text was read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OcrReadError {
    /// The program is not installed.
    #[error("the program `{0}` is not installed")]
    Missing(String),
    /// The program lacks the data of a language.
    #[error("`{program}` has no data for the language `{languages}`")]
    Language {
        /// The program.
        program: String,
        /// The requested languages.
        languages: String,
    },
    /// Reading took too long.
    #[error("{reader} did not finish within {limit_ms} ms")]
    TimedOut {
        /// The program or the model.
        reader: String,
        /// The limit.
        limit_ms: u128,
    },
    /// The program failed.
    #[error("`{program}` failed: {complaint}")]
    Failed {
        /// The program.
        program: String,
        /// The last line of its error output.
        complaint: String,
    },
    /// The program that reads with the model cannot be started.
    #[error(transparent)]
    NoLocal(LocalCallError),
    /// The model cannot be used.
    #[error("the model in {} cannot be used: {problem}", archive.display())]
    Model {
        /// Its archive.
        archive: PathBuf,
        /// Description of the problem.
        problem: String,
    },
}

impl OcrReadError {
    /// Returns the next step to take.
    pub(crate) fn fix(&self) -> String {
        match self {
            Self::Missing(_) => "get a model that reads (`deskhand model pull ocr`), install it (`apt-get install tesseract-ocr`), or \
                                 set `ocr.program`"
                .to_owned(),
            Self::Language { languages, .. } => {
                let packages: Vec<String> =
                    languages.split('+').map(|language| format!("tesseract-ocr-{language}")).collect();
                format!("install `{}`, or change `ocr.languages`", packages.join(" "))
            }
            Self::TimedOut { .. } => "raise `ocr.timeout_s`, or lower `ocr.scale`".to_owned(),
            Self::NoLocal(_) => "or set `ocr.reader = \"tesseract\"`".to_owned(),
            Self::Failed { .. } => "run `deskhand doctor`".to_owned(),
            Self::Model { .. } => {
                "pull it again (`deskhand model remove ocr`, `deskhand model pull ocr`), or set `ocr.reader = \"tesseract\"`".to_owned()
            }
        }
    }
}
