//! Reads text with a PP-OCR model in this process: bounded, and stopped when the caller is dropped.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deskhand_core::geometry::Rect;
use deskhand_desktop::Picture;
use deskhand_ocr::{Letters, Pixels, ReadText, TextReader};
use tokio::task::spawn_blocking;

use crate::{options::OcrOptions, reading::ReadError, words::Label};

/// The least certainty of a text with a single letter or digit, or of a sign: signs and edges are often read as letters.
const SINGLE_CERTAINTY: f32 = 0.85;

/// A model that is opened when it is first used; or why it cannot be.
type Slot = OnceLock<Result<TextReader, String>>;

/// Reads text by a model. All desktops of this process share it.
#[derive(Debug)]
pub(crate) struct ModelReader {
    archive: PathBuf,
    slot: Arc<Slot>,
    letters: Letters,
    /// The least certainty of a text, from 0 to 1.
    certainty_min: f32,
    timeout: Duration,
}

impl ModelReader {
    pub(crate) fn new(archive: &Path, options: &OcrOptions) -> Self {
        Self {
            archive: archive.to_owned(),
            slot: shared(archive),
            letters: Letters::of(&options.languages),
            certainty_min: f32::from(options.confidence_min) / 100.0,
            timeout: options.timeout,
        }
    }

    /// The labels in a picture.
    ///
    /// # Errors
    /// [`ReadError`] if the model cannot be used or takes too long.
    pub(crate) async fn read(&self, picture: Picture) -> Result<Vec<Label>, ReadError> {
        let origin = picture.region.origin();
        let stop = StopOnDrop::default();
        let (slot, archive, letters) = (Arc::clone(&self.slot), self.archive.clone(), self.letters);
        let stopped = Arc::clone(&stop.0);
        let read = spawn_blocking(move || {
            let pixels = Pixels { width: picture.width(), height: picture.height(), rgb: picture.rgb };
            opened(&slot, &archive)?.read(pixels, letters, &stopped).map_err(|error| error.to_string())
        });
        let wrong = |problem: String| ReadError::Model { archive: self.archive.clone(), problem };
        let texts = tokio::time::timeout(self.timeout, read)
            .await
            .map_err(|_| ReadError::TimedOut {
                reader: "the OCR model".to_owned(),
                limit_ms: self.timeout.as_millis(),
            })?
            .map_err(|error| wrong(error.to_string()))?
            .map_err(wrong)?;
        let place = |text: &ReadText| {
            let side = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
            let area = text.area;
            let (x, y) = (origin.x + side(area.left), origin.y + side(area.top));
            Rect::new(x, y, side(area.width()), side(area.height()))
        };
        let certain = texts.into_iter().filter(|text| self.is_certain(text));
        Ok(certain.map(|text| Label { bounds: place(&text), text: text.text }).collect())
    }

    fn is_certain(&self, text: &ReadText) -> bool {
        let is_single = text.text.chars().filter(|letter| letter.is_alphanumeric()).count() < 2;
        text.certainty
            >= if is_single { self.certainty_min.max(SINGLE_CERTAINTY) } else { self.certainty_min }
    }

    /// Opens the model ahead of the next picture.
    pub(crate) fn prepare(&self) {
        if self.slot.get().is_none() {
            let (slot, archive) = (Arc::clone(&self.slot), self.archive.clone());
            // Whoever reads next waits for the slot.
            drop(spawn_blocking(move || opened(&slot, &archive).map(drop)));
        }
    }
}

/// The model of a slot, opened if it is not. Blocking.
fn opened<'s>(slot: &'s Slot, archive: &Path) -> Result<&'s TextReader, String> {
    let reader = slot.get_or_init(|| TextReader::open(archive).map_err(|error| error.to_string()));
    reader.as_ref().map_err(Clone::clone)
}

/// The slot of an archive, which all who use it at the same time share.
fn shared(archive: &Path) -> Arc<Slot> {
    static SLOTS: Mutex<Option<HashMap<PathBuf, Weak<Slot>>>> = Mutex::new(None);
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    let slots = slots.get_or_insert_default();
    slots.retain(|_, slot| slot.strong_count() > 0);
    if let Some(slot) = slots.get(archive).and_then(Weak::upgrade) {
        return slot;
    }
    let slot = Arc::default();
    slots.insert(archive.to_owned(), Arc::downgrade(&slot));
    slot
}

/// Tells a computation that nobody waits for it.
#[derive(Debug, Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
