//! Finds the lines of a journal that one moment needs, without parsing the others.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::PathBuf,
};

use deskhand_machine::{
    record::{JournalEntry, JournalRecord},
    session::SessionEvent,
};
use deskhand_ui::WindowView;

use crate::journal::{JournalError, LINE_BYTES_MAX, SessionFolder, StoredLine, StoredObservation, ViewCache};

/// The most records from one that asks for a call to its result: a stop may come in between.
pub(super) const ANSWERED_WITHIN: u64 = 4;

/// The kind of a line, as far as it matters for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScannedLineKind {
    /// An observation.
    Observed,
    /// A question to a model.
    Ask,
    /// Its reply, or that there was none.
    Replied,
    /// A command, or a sub-task that is handed over.
    Call,
    /// Its result.
    Returned,
    /// Anything else.
    Other,
}

/// The position of a line in its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct JournalLineSpan {
    pub(super) record: u64,
    pub(super) kind: ScannedLineKind,
    offset: u64,
    bytes: u64,
}

/// A journal whose lines are looked up by number.
pub(super) struct JournalScan {
    path: PathBuf,
    file: BufReader<fs::File>,
    /// The complete lines that were scanned.
    pub(super) places: Vec<JournalLineSpan>,
}

impl JournalScan {
    /// Scans a journal up to a record, and a little further, where the answer to it is.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be read.
    pub(super) fn up_to(folder: &SessionFolder, record: u64) -> Result<Self, JournalError> {
        let path = folder.journal_path();
        let failed = |source| JournalError::file("read", &path, source);
        let mut file = BufReader::new(fs::File::open(&path).map_err(failed)?);
        let (mut places, mut offset, mut line) = (Vec::new(), 0, Vec::new());
        let mut number = 0;
        while number < record.saturating_add(ANSWERED_WITHIN) {
            line.clear();
            let read = file.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(failed)?;
            if line.last() != Some(&b'\n') {
                break;
            }
            number += 1;
            let bytes = read as u64;
            places.push(JournalLineSpan { record: number, kind: kind_of(&line), offset, bytes });
            offset += bytes;
        }
        Ok(Self { path, file, places })
    }

    /// The last line of a kind up to a record.
    pub(super) fn last(&self, kind: ScannedLineKind, record: u64) -> Option<JournalLineSpan> {
        self.places.iter().rev().find(|place| place.kind == kind && place.record <= record).copied()
    }

    /// The line with a number.
    pub(super) fn place(&self, record: u64) -> Option<JournalLineSpan> {
        self.places.iter().find(|place| place.record == record).copied()
    }

    /// Reads a line; a view that was stored as changes is completed by those before it.
    ///
    /// # Errors
    /// [`JournalError`] if the line, or one that it depends on, is not valid.
    pub(super) fn read(&mut self, place: JournalLineSpan) -> Result<JournalEntry, JournalError> {
        let mut stored = vec![self.read_stored(place)?];
        // From the view to the whole one that its changes start from; views of other windows are passed over.
        if let Some(window) = stored.first().and_then(changed_window) {
            let earlier: Vec<JournalLineSpan> = self
                .places
                .iter()
                .rev()
                .filter(|earlier| earlier.kind == ScannedLineKind::Observed && earlier.record < place.record)
                .copied()
                .collect();
            for earlier in earlier {
                let line = self.read_stored(earlier)?;
                let is_whole = whole_view(&line).is_some_and(|view| {
                    view.surfaces.first().is_some_and(|surface| surface.window.id == window)
                });
                if is_whole || changed_window(&line) == Some(window) {
                    stored.push(line);
                }
                if is_whole {
                    break;
                }
            }
        }
        let mut views = ViewCache::default();
        let mut decoded = None;
        for line in stored.into_iter().rev() {
            let seq = line.seq;
            let line = line.try_map_observation(|observation| views.decode(observation));
            let path = || self.path.clone();
            decoded = Some(line.map_err(|source| JournalError::View { path: path(), seq, source })?);
        }
        decoded.ok_or_else(|| JournalError::NoHeader { path: self.path.clone() })
    }

    fn read_stored(&mut self, place: JournalLineSpan) -> Result<StoredLine, JournalError> {
        let mut line = Vec::new();
        let file = &mut self.file;
        let read = file
            .seek(SeekFrom::Start(place.offset))
            .and_then(|_| file.by_ref().take(place.bytes).read_to_end(&mut line));
        read.map_err(|source| JournalError::file("read", &self.path, source))?;
        let invalid = |source| JournalError::Record { path: self.path.clone(), seq: place.record, source };
        serde_json::from_slice(&line).map_err(invalid)
    }
}

/// Returns the kind of a line. Quotes inside strings are escaped, so these field names occur only where there are
/// such fields. Tool arguments and outputs that contain them come after them.
fn kind_of(line: &[u8]) -> ScannedLineKind {
    const EFFECT: &str = "\"record\":{\"kind\":\"effect\"";
    let Ok(text) = std::str::from_utf8(line) else { return ScannedLineKind::Other };
    let after = |name: &str| {
        let rest = text.get(text.find(name)? + name.len()..)?;
        rest.split('"').next()
    };
    let is_effect = text.find(EFFECT).is_some_and(|at| text.find("\"record\":{") == Some(at));
    let word = if is_effect { after("\"want\":\"") } else { after("\"came\":\"") };
    match word {
        Some("observed") => ScannedLineKind::Observed,
        Some("ask") => ScannedLineKind::Ask,
        Some("replied" | "model_failed") => ScannedLineKind::Replied,
        Some("call" | "delegate") => ScannedLineKind::Call,
        Some("returned" | "delegated") => ScannedLineKind::Returned,
        Some(_) | None => ScannedLineKind::Other,
    }
}

/// The window whose changes a line holds.
fn changed_window(line: &StoredLine) -> Option<deskhand_ui::ids::WindowId> {
    match observation_of(line)? {
        StoredObservation::WindowChanges(changes) => Some(changes.window),
        StoredObservation::Desktop(_) | StoredObservation::Window(_) | StoredObservation::Agent(_) => None,
    }
}

/// The whole view that a line holds.
fn whole_view(line: &StoredLine) -> Option<&WindowView> {
    match observation_of(line)? {
        StoredObservation::Window(view) => Some(view),
        StoredObservation::Desktop(_) | StoredObservation::WindowChanges(_) | StoredObservation::Agent(_) => {
            None
        }
    }
}

fn observation_of(line: &StoredLine) -> Option<&StoredObservation> {
    let JournalRecord::Event(record) = &line.record else { return None };
    if let SessionEvent::Observed { observation } = &record.event { Some(observation) } else { None }
}
