//! Anchors: the head of a journal, written down outside of the session.
//!
//! A journal can lose its last records without a trace in what is left. So the number and the seal of the last record are
//! kept beside the key, in one small file per session:
//!
//! ```text
//! slot 0, slot 1   the head, sealed, padded to 1024 bytes each; written in turn, so that one of them is always whole
//! path             the folder of the session, to find the oldest anchors of sessions that are gone
//! ```
//!
//! The slot is written after the record. So the anchor may lag behind the journal, never the other way round, with one
//! exception: a power failure loses records that were not synced. Hence a slot holds two heads, the last record written
//! and the last one synced, and the boot of the machine: what was written in an earlier boot may be lost, what was synced
//! may not.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::FileExt as _,
    },
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use super::{
    JournalError, SessionFolder, disk,
    key::{Purpose, SealFolder, SealKey},
};

/// The size of a slot.
const SLOT_BYTES: usize = 1_024;
/// The number of slots.
const SLOTS: usize = 2;
/// The maximum length of the path of a session, in bytes.
const PATH_BYTES_MAX: usize = 4_096;
/// Maximum number of anchors of sessions whose folder is gone: it may come back, with its end cut off.
const GONE_MAX: usize = 4_096;

/// Maximum number of attempts to read an anchor that does not hold.
const READS_MAX: u32 = 5;
/// Maximum time to write an anchor.
const WRITTEN_WITHIN: Duration = Duration::from_secs(60);

/// A record and its seal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct JournalHead {
    /// The number of the record; 0 before the first one.
    pub(crate) seq: u64,
    /// Its seal; empty if the record has none of this key.
    pub(crate) seal: String,
}

/// Anchored state of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnchorContent {
    /// The session.
    session: String,
    /// Counts the writes, to find the newer slot.
    turn: u64,
    /// The first record that is sealed with the key; from there on, all are.
    pub(crate) since: u64,
    /// The last record written.
    pub(crate) written: JournalHead,
    /// The last record that was synced.
    pub(crate) synced: JournalHead,
    /// The boot in which it was written.
    pub(crate) boot: String,
}

/// A slot as stored: what is anchored as JSON, and its seal.
#[derive(Serialize, Deserialize)]
struct Slot {
    anchored: String,
    seal: String,
}

impl AnchorContent {
    /// Returns `true` if records after the last synced one may be missing because of a power failure.
    pub(crate) fn may_have_lost(&self, boot: &str) -> bool {
        boot.is_empty() || self.boot != boot
    }

    fn to_slot(&self, key: &SealKey) -> Result<[u8; SLOT_BYTES], JournalError> {
        let anchored = serde_json::to_string(self).map_err(JournalError::Encode)?;
        let seal = key.seal(Purpose::Anchor, anchored.as_bytes());
        let text = serde_json::to_vec(&Slot { anchored, seal }).map_err(JournalError::Encode)?;
        let mut slot = [b' '; SLOT_BYTES];
        let too_long =
            || JournalError::Encode(serde::ser::Error::custom("an anchor is longer than its slot"));
        slot.get_mut(..text.len()).ok_or_else(too_long)?.copy_from_slice(&text);
        if let Some(last) = slot.last_mut() {
            *last = b'\n';
        }
        Ok(slot)
    }

    /// Reads the content of a slot; `None` if it is torn, forged, or of another session.
    fn of_slot(slot: &[u8], key: &SealKey, session: &str) -> Option<Self> {
        let Slot { anchored, seal } = serde_json::from_slice(slot).ok()?;
        if !key.holds(Purpose::Anchor, anchored.as_bytes(), seal.as_bytes()) {
            return None;
        }
        serde_json::from_str(&anchored).ok().filter(|anchored: &Self| anchored.session == session)
    }

    /// The newer of the slots that hold. In the boot in which it was written both do, as only a power failure tears a slot: if one
    /// does not, somebody has spoilt it, and the other one may be too old.
    fn of_file(bytes: &[u8], key: &SealKey, session: &str) -> Option<Self> {
        let slots = bytes.chunks_exact(SLOT_BYTES).take(SLOTS);
        let held: Vec<Self> = slots.filter_map(|slot| Self::of_slot(slot, key, session)).collect();
        let is_whole = held.len() == SLOTS;
        let newer = held.into_iter().max_by_key(|anchored| anchored.turn)?;
        (is_whole || newer.may_have_lost(&boot())).then_some(newer)
    }
}

/// The anchor of a session that is being written.
#[derive(Debug)]
pub(crate) struct JournalAnchor {
    path: PathBuf,
    file: fs::File,
    key: SealKey,
    anchored: AnchorContent,
}

impl JournalAnchor {
    /// Records a new last record. `RecordSyncState::Yes` says that it and all before it are on the disk.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be written.
    pub(crate) fn advance(&mut self, head: JournalHead, synced: RecordSyncState) -> Result<(), JournalError> {
        if synced == RecordSyncState::Yes {
            self.anchored.synced.clone_from(&head);
        }
        self.anchored.written = head;
        self.write()
    }

    /// Syncs the anchor itself. Without it, a power failure may leave an earlier state, which lags behind.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be synced.
    pub(crate) fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|source| JournalError::file("sync", &self.path, source))
    }

    /// Writes one slot, in one write, in place: a full disk cannot prevent it.
    fn write(&mut self) -> Result<(), JournalError> {
        self.anchored.turn = self.anchored.turn.saturating_add(1);
        let at = (self.anchored.turn % SLOTS as u64) * SLOT_BYTES as u64;
        let slot = self.anchored.to_slot(&self.key)?;
        self.file.write_all_at(&slot, at).map_err(|source| JournalError::file("write", &self.path, source))
    }
}

/// Sync state of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordSyncState {
    /// The record is on the disk.
    Yes,
    /// Not necessarily.
    NotYet,
}

impl SealFolder {
    /// The anchor file of a session.
    pub fn anchor_path(&self, session: &str) -> PathBuf {
        // Ids come from journals, which may have been changed.
        let name: String =
            session.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        self.anchors_path().join(name)
    }

    /// Returns the anchored state of a session; `None` if no anchor holds.
    ///
    /// # Errors
    /// [`JournalError::File`] if the anchor cannot be read.
    pub(crate) fn anchored(
        &self,
        key: &SealKey,
        session: &str,
    ) -> Result<Option<AnchorContent>, JournalError> {
        let path = self.anchor_path(session);
        for _ in 0..READS_MAX {
            match fs::read(&path) {
                // A slot that is being written may be read in part.
                Ok(bytes) => match AnchorContent::of_file(&bytes, key, session) {
                    None => std::thread::yield_now(),
                    found => return Ok(found),
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(source) => return Err(JournalError::file("read", path, source)),
            }
        }
        Ok(None)
    }

    /// Anchors a journal anew, with records up to `head` that are on the disk. The anchor is synced.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be written.
    pub(crate) fn anchor(
        &self,
        key: SealKey,
        (session, folder): (&str, &Path),
        since: u64,
        head: JournalHead,
    ) -> Result<JournalAnchor, JournalError> {
        let path = self.anchor_path(session);
        let anchors = self.anchors_path();
        let turn = self.anchored(&key, session)?.map_or(0, |before| before.turn);
        let anchored = AnchorContent {
            session: session.to_owned(),
            turn,
            since,
            synced: head.clone(),
            written: head,
            boot: boot(),
        };
        let slot = anchored.to_slot(&key)?;
        let write = || {
            disk::create_folders(&anchors)?;
            let mut file = disk::create_part(&path)?;
            for _ in 0..SLOTS {
                file.write_all(&slot)?;
            }
            file.write_all(std::path::absolute(folder)?.as_os_str().as_bytes())?;
            file.sync_all()?;
            fs::rename(disk::part_of(&path), &path)?;
            disk::sync_folder(&anchors)?;
            Ok(file)
        };
        let file = write().map_err(|source| {
            // A full disk needs the space.
            fs::remove_file(disk::part_of(&path)).ok();
            JournalError::file("write", &path, source)
        })?;
        Ok(JournalAnchor { path, file, key, anchored })
    }

    /// Removes the anchor of the session in that folder. That of another folder with the same name stays.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be removed.
    pub(crate) fn remove_anchor(&self, session: &str, folder: &Path) -> Result<(), JournalError> {
        let path = self.anchor_path(session);
        let is_its = std::path::absolute(folder).is_ok_and(|folder| folder_of(&path) == Some(folder));
        if !is_its {
            return Ok(());
        }
        fs::remove_file(&path).map_err(|source| JournalError::file("remove", path, source))
    }

    /// Removes what a process left behind that died while it wrote an anchor, and the oldest anchors of sessions whose folder is
    /// gone, if there are more than [`GONE_MAX`]. Failures are only logged.
    pub(crate) fn prune(&self) {
        self.prune_to(GONE_MAX);
    }

    fn prune_to(&self, gone_max: usize) {
        let Ok(entries) = fs::read_dir(self.anchors_path()) else { return };
        let (parts, anchors): (Vec<PathBuf>, Vec<PathBuf>) =
            entries.filter_map(Result::ok).map(|entry| entry.path()).partition(|path| disk::is_part(path));
        let is_abandoned = |part: &PathBuf| {
            let written = SystemTime::now().duration_since(changed_at(part)).unwrap_or_default();
            written > WRITTEN_WITHIN
        };
        parts.iter().filter(|part| is_abandoned(part)).for_each(|part| remove_stale(part));
        if anchors.len() <= gone_max {
            return;
        }
        let is_gone = |anchor: &PathBuf| folder_of(anchor).is_some_and(|folder| !folder.exists());
        let mut gone: Vec<PathBuf> = anchors.into_iter().filter(is_gone).collect();
        gone.sort_by_cached_key(|anchor| std::cmp::Reverse(changed_at(anchor)));
        gone.iter().skip(gone_max).for_each(|anchor| remove_stale(anchor));
    }
}

impl SessionFolder {
    /// Returns the number of records in the journal according to its anchor; 0 if unknown.
    ///
    /// # Errors
    /// [`JournalError`] if the key or the anchor cannot be read.
    pub(crate) fn anchored_records(&self) -> Result<u64, JournalError> {
        let Some(key) = self.seals().key()? else { return Ok(0) };
        Ok(self.seals().anchored(&key, &self.name())?.map_or(0, |anchored| anchored.written.seq))
    }
}

/// When a file was last written; now if that is not known.
fn changed_at(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|metadata| metadata.modified()).unwrap_or_else(|_| SystemTime::now())
}

fn remove_stale(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        tracing::warn!(%error, path = %path.display(), "failed to remove an anchor that is not needed");
    }
}

/// The folder of the session of an anchor; `None` if the file is not an anchor.
fn folder_of(anchor: &Path) -> Option<PathBuf> {
    let size = usize::try_from(fs::metadata(anchor).ok()?.len()).ok()?;
    let path = size.checked_sub(SLOTS * SLOT_BYTES).filter(|length| (1..=PATH_BYTES_MAX).contains(length))?;
    let mut bytes = vec![0; path];
    fs::File::open(anchor).ok()?.read_exact_at(&mut bytes, (SLOTS * SLOT_BYTES) as u64).ok()?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// Returns an identifier of the current boot of the machine; empty if unknown.
pub(crate) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_anchors_of_sessions_that_are_gone_are_removed_beyond_a_number() {
        let place = tempfile::tempdir().unwrap();
        let seals = SealFolder::at(place.path().join("seals"));
        let key = SealKey::of(&[1; 32]).unwrap();
        for (number, name) in ["old", "kept", "new", "there"].into_iter().enumerate() {
            let folder = place.path().join(name);
            if name == "there" {
                fs::create_dir(&folder).unwrap();
            }
            let anchor = seals.anchor(key.clone(), (name, &folder), 1, JournalHead::default()).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(number as u64);
            anchor.file.set_modified(at).unwrap();
        }
        let part = disk::part_of(&seals.anchor_path("died"));
        fs::File::create(&part).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        seals.prune_to(2);
        let is_there = |name: &str| seals.anchor_path(name).exists();
        assert_eq!(["old", "kept", "new", "there"].map(is_there), [false, true, true, true]);
        assert!(!part.exists());
        seals.prune();
        assert!(is_there("kept"));
    }
}
