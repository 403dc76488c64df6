//! Appends records to a journal.

use std::fs;

use deskhand_machine::{
    record::{JournalEntry, JournalRecord},
    session::{Effect, EventRecord, SessionEvent},
};

use super::{
    JournalError, SessionFolder,
    anchor::{JournalAnchor, JournalHead, RecordSyncState},
    chain::ChainEnd,
    disk,
    error::LINE_BYTES_MAX,
    key::SealKey,
    lock::SessionLock,
    references::{self, References},
    seal::seal,
    store::sha256_hex,
    views::{StoredLine, StoredObservation, ViewCache},
};

/// The writer of a journal. It keeps only the number and hash of the last line.
#[derive(Debug)]
pub struct JournalWriter {
    folder: SessionFolder,
    file: fs::File,
    key: SealKey,
    anchor: JournalAnchor,
    seq: u64,
    prev: String,
    /// Time the session was paused since the last line, in milliseconds.
    paused_ms: u64,
    /// The last view of each window, to store views as changes.
    views: ViewCache,
    references: References,
    _lock: SessionLock,
}

/// Returns `true` if a record is on the disk before anything else happens: it survives a power failure.
pub(crate) fn is_durable<O>(record: &JournalRecord<O>) -> bool {
    match record {
        JournalRecord::Header(_) | JournalRecord::Changed(_) => true,
        JournalRecord::Effect(effect) => matches!(effect.effect, Effect::Call { .. } | Effect::Finish { .. }),
        JournalRecord::Event(event) => matches!(event.event, SessionEvent::Ended),
    }
}

impl JournalWriter {
    pub(super) fn create(folder: SessionFolder, lock: SessionLock) -> Result<Self, JournalError> {
        let key = folder.seals().key_or_new()?;
        let path = folder.journal_path();
        let file = disk::create(&path).map_err(|source| JournalError::file("create", &path, source))?;
        // Anchored before its first record: a journal with records and without an anchor has lost it.
        let anchor = folder.seals().anchor(
            key.clone(),
            (&folder.name(), folder.path()),
            /*since*/ 1,
            JournalHead::default(),
        )?;
        Ok(Self {
            folder,
            file,
            key,
            anchor,
            seq: 0,
            prev: String::new(),
            paused_ms: 0,
            views: ViewCache::default(),
            references: References::default(),
            _lock: lock,
        })
    }

    /// Appends after `end`, `bytes` bytes from the start; truncates what follows. `pictures` are those that records after the
    /// last durable one refer to.
    pub(crate) fn reopen(
        folder: SessionFolder,
        lock: SessionLock,
        (end, bytes): (ChainEnd, u64),
        pictures: &[String],
    ) -> Result<Self, JournalError> {
        let path = folder.journal_path();
        let open = || {
            let file = fs::OpenOptions::new().append(true).open(&path)?;
            if file.metadata()?.len() > bytes {
                file.set_len(bytes)?;
            }
            disk::sync(&file, &path)?;
            Ok(file)
        };
        disk::remove_parts(folder.path());
        disk::remove_parts(&folder.pictures_path());
        let mut references = References::default();
        pictures.iter().for_each(|sha256| references.add(sha256));
        references.sync(&folder)?;
        let file = open().map_err(|source| JournalError::file("reopen", &path, source))?;
        let key = folder.seals().key_or_new()?;
        let ChainEnd { session, since, head, prev } = end;
        let seq = head.seq;
        let anchor = folder.seals().anchor(key.clone(), (&session, folder.path()), since, head)?;
        // The next view of each window is stored whole.
        let views = ViewCache::default();
        Ok(Self { folder, file, key, anchor, seq, prev, paused_ms: 0, views, references, _lock: lock })
    }

    /// Appends a record in one write; it survives a crash of this process. Commands, outcomes and the end are also synced, with
    /// everything that they and the records before them refer to, so that they survive a crash of the machine. Returns the line
    /// as given; the file may hold a diff instead of a repeated view.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be written; the recorded action must not be performed then.
    pub fn append(&mut self, at_ms: u64, record: JournalRecord) -> Result<JournalEntry, JournalError> {
        let durable = is_durable(&record);
        let paused_ms = std::mem::take(&mut self.paused_ms);
        let line = JournalEntry { seq: self.seq + 1, prev: self.prev.clone(), at_ms, paused_ms, record };
        let record = self.encoded(&line).map_err(JournalError::Encode)?;
        self.references.add_all(&record);
        let (mut text, seal) = seal(record, &self.key);
        let prev = sha256_hex(&text);
        text.push(b'\n');
        let path = self.folder.journal_path();
        let bytes = text.len() as u64;
        if bytes > LINE_BYTES_MAX {
            return Err(JournalError::TooLong { path, seq: line.seq, bytes });
        }
        if durable {
            self.sync_references(&line.record)?;
        }
        let mut write = || {
            disk::append(&mut self.file, &path, &text)?;
            if durable { disk::sync(&self.file, &path) } else { Ok(()) }
        };
        write().map_err(|source| JournalError::file("write", &path, source))?;
        self.prev = prev;
        self.seq = line.seq;
        let synced = if durable { RecordSyncState::Yes } else { RecordSyncState::NotYet };
        self.anchor.advance(JournalHead { seq: line.seq, seal }, synced)?;
        if let JournalRecord::Event(_) = &line.record
            && durable
        {
            self.anchor.sync()?;
        }
        Ok(line)
    }

    /// Syncs what this record and those before it refer to.
    fn sync_references(&mut self, record: &JournalRecord) -> Result<(), JournalError> {
        self.references.sync(&self.folder)?;
        if let JournalRecord::Header(header) = record {
            references::sync_file(&self.folder.prompts_path(&header.prompts_sha256))?;
            references::sync_folder(self.folder.path())?;
        }
        Ok(())
    }

    /// The line as stored in the file.
    fn encoded(&mut self, line: &JournalEntry) -> serde_json::Result<Vec<u8>> {
        let JournalRecord::Event(record) = &line.record else { return serde_json::to_vec(line) };
        let SessionEvent::Observed { observation } = &record.event else { return serde_json::to_vec(line) };
        let Some(changes) = self.views.encode(observation) else { return serde_json::to_vec(line) };
        let event = SessionEvent::Observed { observation: StoredObservation::WindowChanges(changes) };
        let record = EventRecord { effect: record.effect, at_ms: record.at_ms, event };
        let JournalEntry { seq, ref prev, at_ms, paused_ms, .. } = *line;
        serde_json::to_vec(&StoredLine {
            seq,
            prev: prev.clone(),
            at_ms,
            paused_ms,
            record: JournalRecord::Event(Box::new(record)),
        })
    }

    /// Notes that the session was paused before the next line.
    pub(crate) fn paused(&mut self, ms: u64) {
        self.paused_ms = self.paused_ms.saturating_add(ms);
    }

    /// The number of lines.
    pub fn len(&self) -> u64 {
        self.seq
    }

    /// Returns `true` if there are no lines.
    pub fn is_empty(&self) -> bool {
        self.seq == 0
    }
}
