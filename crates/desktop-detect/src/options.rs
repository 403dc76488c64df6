//! How things are found in pictures.

use std::{path::PathBuf, time::Duration};

use deskhand_http::Secret;

/// What finds elements besides the accessibility tree, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct DetectOptions {
    /// Whether the elements that applications show are listed.
    pub tree: bool,
    /// When text is read from pictures.
    pub ocr: OcrUse,
    /// How it is read.
    pub reader: OcrOptions,
    /// The visual parser that is asked; none for none.
    pub omniparser: Option<OmniparserOptions>,
    /// What counts as the same thing.
    pub merge: MergeOptions,
    /// How long a detector that failed is left alone before it is tried again.
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
    /// For windows whose application shows no elements.
    EmptyWindows,
    /// For every window.
    Always,
}

/// How text is read from pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OcrOptions {
    /// The program, `tesseract`, by name or path.
    pub program: PathBuf,
    /// The languages that it reads, in its own words: `eng`, `eng+deu`.
    pub languages: String,
    /// How many times pictures are enlarged first, 1 to 8.
    pub scale: u32,
    /// Words that it is less sure of are left out, in per cent.
    pub confidence_min: u8,
    /// How it looks for text: its `--psm`.
    pub segmentation: u8,
    /// How long it may take for one picture.
    pub timeout: Duration,
}

impl Default for OcrOptions {
    fn default() -> Self {
        Self {
            program: PathBuf::from("tesseract"),
            languages: "eng".to_owned(),
            scale: 2,
            confidence_min: 50,
            segmentation: 11,
            timeout: Duration::from_secs(15),
        }
    }
}

/// How a visual parser is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmniparserOptions {
    /// The address of its server, such as `http://127.0.0.1:8000`, with or without `/parse/`.
    pub endpoint: String,
    /// The bearer token that it wants.
    pub token: Option<Secret>,
    /// How long an answer may take, connecting included.
    pub timeout: Duration,
    /// The most bytes that a picture may have on its way there; larger ones are scaled down.
    pub picture_bytes_max: usize,
}

/// What counts as the same thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MergeOptions {
    /// Two boxes are the same control from this share of their overlap to what both cover (intersection over union) on.
    pub iou: f64,
    /// A box lies in another one from this share of its area on.
    pub inside: f64,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self { iou: 0.5, inside: 0.7 }
    }
}
