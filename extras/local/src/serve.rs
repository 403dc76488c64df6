//! Answers calls.

use std::{
    collections::HashMap,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use deskhand_local_client::protocol::{
    ClientMessage, Hello, LocalOutput, LocalRequest, LocalResponse, PictureText, read, read_picture, write,
};

use crate::{
    embed::Embedder,
    ocr::{OcrTextReader, Pixels, RecognisedText},
};

/// Models by their archives, each loaded when it is first used.
type Models<T> = Mutex<HashMap<PathBuf, Arc<OnceLock<Result<T, String>>>>>;

/// The models that are loaded, and the calls that run.
#[derive(Default)]
struct LoadedModels {
    readers: Models<OcrTextReader>,
    embedders: Models<Embedder>,
    /// Of each call that runs: set once nobody waits for it.
    stops: Mutex<HashMap<u64, Arc<AtomicBool>>>,
}

/// Answers the calls of a client until its stream ends, side by side. Calls that are running then are left where they are.
///
/// # Errors
/// What arrives is no message, or a stream fails.
pub fn serve(mut from: impl BufRead, mut to: impl Write + Send + 'static) -> io::Result<()> {
    write(&mut to, &Hello { version: env!("CARGO_PKG_VERSION").to_owned() }, &[])?;
    let to = Arc::new(Mutex::new(to));
    let shared = Arc::new(LoadedModels::default());
    while let Some(message) = read::<ClientMessage>(&mut from)? {
        match message {
            ClientMessage::Stop { id } => {
                if let Some(stop) = locked(&shared.stops).get(&id) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            ClientMessage::Call { id, request, picture_bytes } => {
                let picture = read_picture(&mut from, picture_bytes)?;
                let stop = Arc::new(AtomicBool::new(false));
                locked(&shared.stops).insert(id, Arc::clone(&stop));
                let (shared, to) = (Arc::clone(&shared), Arc::clone(&to));
                let work = move || {
                    let result = shared.answer(request, picture, &stop);
                    locked(&shared.stops).remove(&id);
                    // A client that has gone ends the program.
                    let _ = write(&mut *locked(&to), &LocalResponse { id, result }, &[]);
                };
                thread::Builder::new().name("call".to_owned()).spawn(work)?;
            }
        }
    }
    Ok(())
}

impl LoadedModels {
    fn answer(&self, request: LocalRequest, rgb: Vec<u8>, stop: &AtomicBool) -> Result<LocalOutput, String> {
        match request {
            LocalRequest::LoadReader { archive } => self.with_reader(&archive, |_| Ok(LocalOutput::Loaded)),
            LocalRequest::ReadText { archive, width, height, letters } => {
                self.with_reader(&archive, |reader| {
                    let pixels = Pixels { width, height, rgb };
                    let texts = reader.read(pixels, letters, stop).map_err(|error| error.to_string())?;
                    Ok(LocalOutput::Texts(texts.into_iter().map(picture_text).collect()))
                })
            }
            LocalRequest::Nearness { archive, query, texts } => {
                let slot = slot(&self.embedders, archive.clone());
                let embedder =
                    slot.get_or_init(|| Embedder::open(&archive).map_err(|error| error.to_string()));
                let embedder = embedder.as_ref().map_err(Clone::clone)?;
                embedder
                    .nearness(&query, &texts)
                    .map(LocalOutput::Nearness)
                    .map_err(|error| error.to_string())
            }
        }
    }

    fn with_reader(
        &self,
        archive: &Path,
        work: impl FnOnce(&OcrTextReader) -> Result<LocalOutput, String>,
    ) -> Result<LocalOutput, String> {
        let slot = slot(&self.readers, archive.to_owned());
        let reader = slot.get_or_init(|| OcrTextReader::open(archive).map_err(|error| error.to_string()));
        work(reader.as_ref().map_err(Clone::clone)?)
    }
}

fn slot<T>(models: &Models<T>, archive: PathBuf) -> Arc<OnceLock<Result<T, String>>> {
    Arc::clone(locked(models).entry(archive).or_default())
}

fn picture_text(text: RecognisedText) -> PictureText {
    let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let area = text.area;
    PictureText {
        text: text.text,
        left: side(area.left),
        top: side(area.top),
        width: side(area.width()),
        height: side(area.height()),
        certainty: text.certainty,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
