//! Reads text with a PP-OCR model in the program `deskhand-local`: bounded, and stopped when the caller is dropped.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deskhand_desktop::Picture;
use deskhand_local_client::{
    LocalCallError, LocalProgram,
    protocol::{Letters, LocalOutput, LocalRequest, PictureText},
};
use deskhand_ui::geometry::Rect;
use tokio::{sync::oneshot, task::spawn_blocking};

use crate::{error::OcrReadError, languages::letters_of, options::OcrOptions, words::OcrLabel};

/// The least certainty of a text with a single letter or digit, or of a sign: signs and edges are often read as letters.
const SINGLE_CERTAINTY: f32 = 0.85;

/// Reads text by a model. All desktops of this process share the program.
#[derive(Debug)]
pub(crate) struct ModelReader {
    archive: PathBuf,
    program: Arc<LocalProgram>,
    letters: Letters,
    /// The least certainty of a text, from 0 to 1.
    certainty_min: f32,
    timeout: Duration,
    /// The program was told to load the model.
    is_prepared: AtomicBool,
}

impl ModelReader {
    pub(crate) fn new(archive: &Path, options: &OcrOptions) -> Self {
        Self {
            archive: archive.to_owned(),
            program: LocalProgram::shared(options.local.as_deref()),
            letters: letters_of(&options.languages),
            certainty_min: f32::from(options.confidence_min) / 100.0,
            timeout: options.timeout,
            is_prepared: AtomicBool::new(false),
        }
    }

    /// The labels in a picture.
    ///
    /// # Errors
    /// [`OcrReadError`] if the program or the model cannot be used, or reading takes too long.
    pub(crate) async fn read(&self, picture: Picture) -> Result<Vec<OcrLabel>, OcrReadError> {
        let origin = picture.region.origin();
        let (program, archive, letters) = (Arc::clone(&self.program), self.archive.clone(), self.letters);
        let (began, stop) = oneshot::channel();
        let read = spawn_blocking(move || {
            let (width, height) = (picture.width(), picture.height());
            let call =
                program.call(LocalRequest::ReadText { archive, width, height, letters }, &picture.rgb)?;
            // If nobody waits any more, this stops it.
            drop(began.send(call.stop_on_drop()));
            call.wait()
        });
        let wrong = |problem: String| OcrReadError::Model { archive: self.archive.clone(), problem };
        let done = tokio::time::timeout(self.timeout, async {
            let _stop = stop.await;
            read.await
        });
        let output = done
            .await
            .map_err(|_| OcrReadError::TimedOut {
                reader: "the OCR model".to_owned(),
                limit_ms: self.timeout.as_millis(),
            })?
            .map_err(|error| wrong(error.to_string()))?
            .map_err(|error| match error {
                LocalCallError::Refused(_) | LocalCallError::Ended => wrong(error.to_string()),
                LocalCallError::Missing | LocalCallError::Start { .. } | LocalCallError::Version { .. } => {
                    OcrReadError::NoLocal(error)
                }
            })?;
        let LocalOutput::Texts(texts) = output else {
            return Err(wrong("the answer is not one to a picture".to_owned()));
        };
        let place = |text: &PictureText| {
            let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
            let (x, y) = (origin.x.saturating_add(side(text.left)), origin.y.saturating_add(side(text.top)));
            Rect::new(x, y, side(text.width), side(text.height))
        };
        let certain = texts.into_iter().filter(|text| self.is_certain(text));
        Ok(certain.map(|text| OcrLabel { bounds: place(&text), text: text.text }).collect())
    }

    fn is_certain(&self, text: &PictureText) -> bool {
        let is_single = text.text.chars().filter(|letter| letter.is_alphanumeric()).count() < 2;
        text.certainty
            >= if is_single { self.certainty_min.max(SINGLE_CERTAINTY) } else { self.certainty_min }
    }

    /// Starts the program and has it load the model, ahead of the next picture. A failure shows when it is read.
    pub(crate) fn prepare(&self) {
        if !self.is_prepared.swap(true, Ordering::Relaxed) {
            let (program, archive) = (Arc::clone(&self.program), self.archive.clone());
            drop(spawn_blocking(move || program.call(LocalRequest::LoadReader { archive }, &[]).map(drop)));
        }
    }
}
