//! Reads text in pictures, with the reader that is configured.

use std::path::PathBuf;

use deskhand_desktop::Picture;
use deskhand_local_client::LocalCallError;

use crate::{model::ModelReader, options::OcrOptions, tesseract::Tesseract, words::OcrLabel};

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

/// Reads text.
#[derive(Debug)]
pub(crate) enum OcrEngine {
    /// By a model, in a program of ours.
    Model(ModelReader),
    /// By the program `tesseract`.
    Program(Box<Tesseract>),
}

impl OcrEngine {
    /// The reader of these options.
    pub(crate) fn new(options: OcrOptions) -> Self {
        match &options.model {
            Some(archive) => Self::Model(ModelReader::new(archive, &options)),
            None => Self::Program(Box::new(Tesseract::new(options))),
        }
    }

    /// The labels in a picture.
    ///
    /// # Errors
    /// [`OcrReadError`] if the reader is missing, fails or takes too long.
    pub(crate) async fn read(&self, picture: Picture) -> Result<Vec<OcrLabel>, OcrReadError> {
        match self {
            Self::Model(model) => model.read(picture).await,
            Self::Program(program) => program.read(picture).await,
        }
    }

    /// Starts or loads what reads, ahead of the next picture. A failure shows when it is read.
    pub(crate) fn prepare(&self) {
        match self {
            Self::Model(model) => model.prepare(),
            Self::Program(program) => program.prepare(),
        }
    }

    /// Returns `true` if several small pictures are read sooner than a large one around them.
    pub(crate) const fn prefers_parts(&self) -> bool {
        match self {
            Self::Model(_) => true,
            Self::Program(_) => false,
        }
    }
}
