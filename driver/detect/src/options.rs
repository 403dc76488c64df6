//! The settings of detection.

use std::{path::PathBuf, time::Duration};

use deskhand_http::HttpCredential;

/// Which sources elements come from, and their settings.
#[derive(Debug, Clone, PartialEq)]
pub struct DetectOptions {
    /// If `true`, elements of the accessibility tree are listed.
    pub tree: bool,
    /// When text is read from pictures.
    pub ocr: OcrUse,
    /// The settings of OCR.
    pub reader: OcrOptions,
    /// The visual parser, if any.
    pub omniparser: Option<OmniparserOptions>,
    /// Criteria for the same element.
    pub merge: MergeOptions,
    /// Time for which a detector that failed is paused.
    pub retry_after: Duration,
}

impl Default for DetectOptions {
    fn default() -> Self {
        Self {
            tree: true,
            ocr: OcrUse::EmptyWindows,
            reader: OcrOptions::default(),
            omniparser: None,
            merge: MergeOptions::default(),
            retry_after: Duration::from_secs(30),
        }
    }
}

/// When text is read from pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OcrUse {
    /// Never.
    Never,
    /// For windows whose application exposes no elements.
    EmptyWindows,
    /// For every window.
    Always,
}

/// The settings of OCR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OcrOptions {
    /// The archive of a PP-OCR model, which then reads; without one, `tesseract` does.
    pub model: Option<PathBuf>,
    /// The program that reads with the model, `deskhand-local`; `None` if it is not installed.
    pub local: Option<PathBuf>,
    /// The program, `tesseract`, by name or path.
    pub program: PathBuf,
    /// The languages, as the program names them: `eng`, `eng+deu`.
    pub languages: String,
    /// By which factor pictures are enlarged for the program, 1 to 8.
    pub scale: u32,
    /// The minimum confidence of a word, in per cent.
    pub confidence_min: u8,
    /// The page segmentation mode (`--psm`).
    pub segmentation: u8,
    /// Maximum time for one picture.
    pub timeout: Duration,
}

impl Default for OcrOptions {
    fn default() -> Self {
        Self {
            model: None,
            local: None,
            program: PathBuf::from("tesseract"),
            languages: "eng".to_owned(),
            scale: 2,
            confidence_min: 50,
            segmentation: 11,
            timeout: Duration::from_secs(15),
        }
    }
}

/// The settings of a visual parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmniparserOptions {
    /// The address of its server, such as `http://127.0.0.1:8000`, with or without `/parse/`.
    pub endpoint: String,
    /// The bearer token that it wants.
    pub token: Option<HttpCredential>,
    /// Maximum time for an answer, connecting included.
    pub timeout: Duration,
    /// The largest picture that is sent, in bytes; larger ones are scaled down.
    pub picture_bytes_max: usize,
}

/// Criteria for treating a detection and an element as the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MergeOptions {
    /// The least overlap (intersection over union) of two boxes of the same control.
    pub iou: f64,
    /// The least share of a box that must be inside another one.
    pub inside: f64,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self { iou: 0.5, inside: 0.7 }
    }
}
