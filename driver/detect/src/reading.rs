//! Reads text in pictures, with the reader that is configured.

use deskhand_desktop::Picture;

use crate::{
    error::OcrReadError, model::ModelReader, options::OcrOptions, tesseract::Tesseract, words::OcrLabel,
};

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
