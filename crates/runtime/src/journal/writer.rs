//! Appends records to a journal.

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

/// The writer of a journal. It keeps only the number and hash of the last line.
#[derive(Debug)]
pub struct JournalWriter {
    path: PathBuf,
    file: fs::File,
    seq: u64,
    prev: String,
    /// The last view of each window, to store views as changes.
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

    /// Appends after the first `seq` lines (`bytes` bytes); truncates what follows.
    pub(crate) fn reopen(
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
        let file = open().map_err(|source| JournalError::file("reopen", &path, source))?;
        // The next view of each window is stored whole.
        Ok(Self { path, file, seq, prev, views: Views::default(), _lock: lock })
    }

    /// Appends a record in one write; it survives a crash of this process. Commands and outcomes are also synced, so that
    /// they survive a crash of the machine. Returns the line as given; the file may hold a diff instead of a repeated view.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be written; the recorded action must not be performed then.
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

    /// The line as stored in the file.
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

    /// The number of lines.
    pub fn len(&self) -> u64 {
        self.seq
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.seq == 0
    }
}
