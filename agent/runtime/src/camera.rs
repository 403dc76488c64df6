//! Pictures for models: marked, scaled, compressed and stored. Unchanged pictures are not encoded again.

use std::sync::{Mutex, PoisonError};

use deskhand_desktop::{Desktop, Picture, picture::ElementMark};
use deskhand_machine::{
    observation::ObserveFailure,
    session::{PictureCompression, ViewConfig},
};
use deskhand_model::{PictureError, PictureSource};
use deskhand_ui::{
    PictureRef,
    geometry::{Rect, Screen},
};

use crate::journal::SessionFolder;

/// A marked control: its number and bounds.
pub(crate) type MarkedControl = (u32, Rect<Screen>);

/// Processes the pictures of one session.
pub(crate) struct PictureProcessor {
    folder: SessionFolder,
    config: ViewConfig,
    last: Mutex<Option<ProcessedPicture>>,
}

/// The last picture.
struct ProcessedPicture {
    pixels: Picture,
    marks: Vec<MarkedControl>,
    kept: PictureRef,
}

impl PictureProcessor {
    pub(crate) fn new(folder: SessionFolder, config: ViewConfig) -> Self {
        Self { folder, config, last: Mutex::new(None) }
    }

    /// The folder that stores the pictures.
    pub(crate) const fn folder(&self) -> &SessionFolder {
        &self.folder
    }

    /// Returns `true` if listed controls are marked.
    pub(crate) fn marks(&self) -> bool {
        self.config.marks
    }

    /// The longest side of a picture, in pixels; 0 for no limit.
    pub(crate) const fn side_max(&self) -> u32 {
        self.config.picture_side_max
    }

    /// The approximate token budget of an element list.
    pub(crate) fn tokens_max(&self) -> usize {
        self.config.tokens_max
    }

    /// A picture of what the last one showed, as it is now; `None` if there was none. A failure is logged and changes nothing else.
    pub(crate) async fn last_look<D: Desktop>(&self, desktop: &D) -> Option<PictureRef> {
        let region = {
            let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            last.as_ref()?.kept.region
        };
        let pixels = desktop.region(region).await.map_err(|error| error.chain());
        let kept = match pixels {
            Ok(pixels) => self.keep(pixels, Vec::new()).await.map_err(|failure| failure.to_string()),
            Err(error) => Err(error),
        };
        kept.inspect_err(|error| tracing::warn!(error, "no picture of the end")).ok()
    }

    /// Stores a picture beside the journal. Drawing, encoding and writing run on a blocking thread.
    ///
    /// # Errors
    /// [`ObserveFailure`] if it cannot be encoded or written.
    pub(crate) async fn keep(
        &self,
        pixels: Picture,
        marks: Vec<MarkedControl>,
    ) -> Result<PictureRef, ObserveFailure> {
        let lock = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = lock().as_ref().filter(|last| last.marks == marks && last.pixels == pixels) {
            return Ok(last.kept.clone());
        }
        let broken = |message: String| ObserveFailure { window_gone: false, desktop_gone: false, message };
        let (folder, config) = (self.folder.clone(), self.config.clone());
        let work = tokio::task::spawn_blocking(move || {
            let shown = pixels.fitted(config.picture_side_max);
            let kept = encode(&folder, &config, shown, (pixels.region, &marks))?;
            Ok::<_, String>(ProcessedPicture { pixels, marks, kept })
        });
        let taken = work.await.map_err(|error| broken(format!("failed to store a picture: {error}")))?;
        let taken = taken.map_err(broken)?;
        let kept = taken.kept.clone();
        *lock() = Some(taken);
        Ok(kept)
    }

    /// Stores a picture that an agent asked for, enlarged where it is small. [`Self::last_look`] does not go by it.
    ///
    /// # Errors
    /// What failed, if it cannot be encoded or written.
    pub(crate) async fn keep_zoomed(&self, pixels: Picture) -> Result<PictureRef, String> {
        let (folder, config) = (self.folder.clone(), self.config.clone());
        let work = tokio::task::spawn_blocking(move || {
            let shown = pixels.enlarged(config.picture_side_max);
            encode(&folder, &config, shown, (pixels.region, &[]))
        });
        work.await.map_err(|error| format!("failed to store a picture: {error}"))?
    }
}

/// Stores a picture of `region` in the size that it is given in, with marks.
fn encode(
    folder: &SessionFolder,
    config: &ViewConfig,
    mut picture: Picture,
    (region, marks): (Rect<Screen>, &[MarkedControl]),
) -> Result<PictureRef, String> {
    let mut kept = PictureRef {
        sha256: String::new(),
        media_type: match config.picture_compression {
            PictureCompression::Fast | PictureCompression::Small => PictureRef::PNG.to_owned(),
            PictureCompression::Jpeg => PictureRef::JPEG.to_owned(),
        },
        width: picture.width(),
        height: picture.height(),
        region,
    };
    let placed = |(number, bounds): &MarkedControl| {
        Some(ElementMark { number: *number, bounds: kept.to_image(bounds)? })
    };
    let marks: Vec<ElementMark> = marks.iter().filter_map(placed).collect();
    picture.mark(&marks);
    let file = match config.picture_compression {
        PictureCompression::Fast => picture.to_png(),
        PictureCompression::Small => picture.to_small_png(),
        PictureCompression::Jpeg => picture.to_jpeg(config.jpeg_quality),
    };
    let file = file.map_err(|error| error.chain())?;
    kept.sha256 =
        folder.keep_picture(&file, kept.extension()).map_err(|error| format!("failed to {error}"))?;
    Ok(kept)
}

/// Loads pictures from the session folder.
pub(crate) struct SessionPictureSource<'a>(pub(crate) &'a SessionFolder);

impl PictureSource for SessionPictureSource<'_> {
    fn file(&self, picture: &PictureRef) -> Result<Vec<u8>, PictureError> {
        self.0
            .picture(picture)
            .map_err(|error| PictureError { sha256: picture.sha256.clone(), reason: error.to_string() })
    }
}
