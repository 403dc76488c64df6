//! Failures of reading.

use crate::archive::ArchiveError;

/// Pictures that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OcrError {
    /// The archive of the model cannot be used.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A part of the model has another form, or the computation failed.
    #[error("the {part} of the OCR model: {problem}")]
    Model {
        /// The part.
        part: &'static str,
        /// The problem.
        problem: String,
    },
    /// The sides of a picture do not fit to its pixels.
    #[error("{bytes} bytes are not a picture of {width} × {height} pixels")]
    Sides {
        /// The width in pixels.
        width: u32,
        /// The height in pixels.
        height: u32,
        /// Number of bytes given.
        bytes: usize,
    },
}
