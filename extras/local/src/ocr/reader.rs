//! Reads a picture: detector, then recogniser.

use std::{
    fmt,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::archive::ModelArchive;
use image::RgbImage;

use super::{
    Letters,
    boxes::PixelRect,
    detector::Detector,
    error::OcrError,
    ink::{OcrLabelBox, labels},
    recogniser::{RecognisedLine, Recogniser},
    workers::InferenceWorkers,
};

/// The largest file that is read out of an archive, in bytes. The recogniser of PP-OCRv6 small has 21 MB.
const FILE_MAX: u64 = 256 * 1024 * 1024;
/// The most labels of a picture that are read.
const LABELS_MAX: usize = 2_000;

/// A picture: rows from the top, without padding, three bytes a pixel.
#[derive(Debug)]
pub struct Pixels {
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// Red, green, blue.
    pub rgb: Vec<u8>,
}

/// A text and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct RecognisedText {
    /// The text; never empty.
    pub text: String,
    /// The area of the letters.
    pub area: PixelRect,
    /// The mean certainty of the letters, from 0 to 1.
    pub certainty: f32,
}

/// A model that reads text in pictures.
pub struct OcrTextReader {
    detector: Detector,
    recogniser: Recogniser,
    workers: InferenceWorkers,
}

impl fmt::Debug for OcrTextReader {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("TextReader")
    }
}

impl OcrTextReader {
    /// Reads a model out of an archive with a detector and a recogniser, side by side. Blocking, a few tenths of a second.
    ///
    /// # Errors
    /// The archive cannot be read, or does not have a model of the form of PP-OCR.
    pub fn open(archive: &Path) -> Result<Self, OcrError> {
        let mut archive = ModelArchive::open(archive, FILE_MAX)?;
        let detector = archive.read("ONNX file with `det` in its name", |name| is_onnx(name, "det"))?;
        thread::scope(|scope| {
            let detector = scope.spawn(|| Detector::load(detector));
            let recogniser = archive.read("ONNX file with `rec` in its name", |name| is_onnx(name, "rec"));
            let recogniser = recogniser.map_err(OcrError::from).and_then(Recogniser::load);
            let broke = |_| OcrError::Model { part: "detector", problem: "loading it broke".to_owned() };
            // Of two problems, the one that comes first in the order of work is told.
            let detector = detector.join().map_err(broke)??;
            Ok(Self { detector, recogniser: recogniser?, workers: InferenceWorkers::new() })
        })
    }

    /// The labels in a picture, from the top. Blocking; ends early, with what was read so far, once `stop` is set.
    ///
    /// # Errors
    /// The computation failed.
    pub fn read(
        &self,
        pixels: Pixels,
        letters: Letters,
        stop: &AtomicBool,
    ) -> Result<Vec<RecognisedText>, OcrError> {
        let Pixels { width, height, rgb } = pixels;
        let bytes = rgb.len();
        let picture =
            RgbImage::from_raw(width, height, rgb).ok_or(OcrError::Sides { width, height, bytes })?;
        let lines = self.detector.lines(&picture, &self.workers)?;
        let mut labels = labels(&picture, lines);
        labels.truncate(LABELS_MAX);
        let said = self.workers.each(&labels, OcrLabelBox::width_read, |label, options| {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.recogniser.read(&picture, label, letters, options).map(Some)
        })?;
        let texts = labels.into_iter().zip(said).filter_map(|(label, said)| {
            let RecognisedLine { text, certainty } = said?;
            (!text.is_empty()).then_some(RecognisedText { text, area: label.area, certainty })
        });
        Ok(texts.collect())
    }
}

/// Returns `true` if a file is that of a part of the model.
fn is_onnx(name: &str, part: &str) -> bool {
    name.ends_with(".onnx") && name.split(['_', '-', '.']).any(|word| word == part)
}
