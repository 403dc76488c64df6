//! Appends records.

use std::{fs, io::Write as _, path::PathBuf};

use deskhand_core::{
    record::{Line, Record},
    session::{Effect, Event, EventRecord},
};

use super::{
    JournalError,
    lock::SessionLock,
    seal::seal,
    store::sha256_hex,
    views::{StoredLine, StoredObservation, Views},
};

/// The one writer of a journal. It keeps the number and the hash of the last line, and nothing else of it.
#[derive(Debug)]
pub struct JournalWriter {
    path: PathBuf,
    file: fs::File,
    seq: u64,
    prev: String,
    /// The last view of each window, so that the next one can be stored as changes.
    views: Views,
    _lock: SessionLock,
}

impl JournalWriter {
    pub(super) fn create(path: PathBuf, lock: SessionLock) -> Result<Self, JournalError> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let file = fs::OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|source| JournalError::file("create", &path, source))?;
        Ok(Self { path, file, seq: 0, prev: String::new(), views: Views::default(), _lock: lock })
    }

    /// Goes on after the first `seq` lines, which have `bytes` bytes; what stands after them is cut off.
    pub(crate) fn go_on(
        path: PathBuf,
        lock: SessionLock,
        (seq, bytes): (u64, u64),
        prev: String,
    ) -> Result<Self, JournalError> {
        let open = || {
            let file = fs::OpenOptions::new().append(true).open(&path)?;
            if file.metadata()?.len() > bytes {
                file.set_len(bytes)?;
                file.sync_data()?;
            }
            Ok(file)
        };
        let file = open().map_err(|source| JournalError::file("go on with", &path, source))?;
        // The next view of each window is stored whole again.
        Ok(Self { path, file, seq, prev, views: Views::default(), _lock: lock })
    }

    /// Appends a record and hands it to the operating system in one write; the death of this process cannot
    /// lose it. Commands and outcomes also survive the death of the machine. The line is returned as it was given;
    /// in the file, a view of a window that was seen before is what changed of it.
    ///
    /// # Errors
    /// [`JournalError`] when it cannot be written; nothing may be done then that the record tells of.
    pub fn append(&mut self, at_ms: u64, record: Record) -> Result<Line, JournalError> {
        let durable = match &record {
            Record::Header(_) | Record::Changed(_) => true,
            Record::Effect(effect) => matches!(effect.effect, Effect::Call { .. } | Effect::Finish { .. }),
            Record::Event(_) => false,
        };
        let line = Line { seq: self.seq + 1, prev: std::mem::take(&mut self.prev), at_ms, record };
        let mut text = seal(self.encoded(&line).map_err(JournalError::Encode)?);
        self.prev = sha256_hex(&text);
        text.push(b'\n');
        let result =
            self.file.write_all(&text).and_then(|()| if durable { self.file.sync_data() } else { Ok(()) });
        result.map_err(|source| JournalError::file("write", &self.path, source))?;
        self.seq = line.seq;
        Ok(line)
    }

    /// The line as it stands in the file.
    fn encoded(&mut self, line: &Line) -> serde_json::Result<Vec<u8>> {
        let Record::Event(record) = &line.record else { return serde_json::to_vec(line) };
        let Event::Observed { observation } = &record.event else { return serde_json::to_vec(line) };
        let Some(changes) = self.views.encode(observation) else { return serde_json::to_vec(line) };
        let event = Event::Observed { observation: StoredObservation::WindowChanges(changes) };
        let record = EventRecord { effect: record.effect, at_ms: record.at_ms, event };
        let Line { seq, ref prev, at_ms, .. } = *line;
        serde_json::to_vec(&StoredLine {
            seq,
            prev: prev.clone(),
            at_ms,
            record: Record::Event(Box::new(record)),
        })
    }

    /// How many lines there are.
    pub fn len(&self) -> u64 {
        self.seq
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.seq == 0
    }
}
