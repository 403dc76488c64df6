//! The files that records refer to, until they are on the disk.

use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
    path::Path,
};

use super::{JournalError, SessionFolder, disk};

/// The bytes before a picture reference in a stored record. The hash follows, 64 characters long.
const PICTURE: &[u8] = b"\"sha256\":\"";
const HEX: usize = 64;

/// The pictures that records of a session refer to.
#[derive(Debug, Default)]
pub(super) struct References {
    waiting: BTreeSet<String>,
    synced: HashSet<String>,
}

impl References {
    /// Adds the picture with that hash.
    pub(super) fn add(&mut self, sha256: &str) {
        if !self.synced.contains(sha256) {
            self.waiting.insert(sha256.to_owned());
        }
    }

    /// Adds the pictures that a record refers to, given as JSON without its own hash.
    pub(super) fn add_all(&mut self, record: &[u8]) {
        let mut rest = record;
        while let Some(at) = find(rest, PICTURE) {
            rest = rest.get(at + PICTURE.len()..).unwrap_or_default();
            if let Some(hash) = rest.get(..HEX).filter(|hash| hash.iter().all(u8::is_ascii_hexdigit))
                && let Ok(hash) = std::str::from_utf8(hash)
            {
                self.add(hash);
            }
        }
    }

    /// Syncs the pictures that are not synced yet.
    ///
    /// # Errors
    /// [`JournalError::File`] if that fails. A picture that does not exist is skipped.
    pub(super) fn sync(&mut self, folder: &SessionFolder) -> Result<(), JournalError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        for sha256 in &self.waiting {
            sync_file(&folder.picture_path(sha256))?;
        }
        sync_folder(&folder.pictures_path())?;
        self.synced.extend(std::mem::take(&mut self.waiting));
        Ok(())
    }
}

/// Syncs a file; a missing one is skipped.
pub(super) fn sync_file(path: &Path) -> Result<(), JournalError> {
    match fs::File::open(path).and_then(|file| disk::sync(&file, path)) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(JournalError::file("sync", path, source))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Syncs the names in a folder.
pub(super) fn sync_folder(path: &Path) -> Result<(), JournalError> {
    disk::sync_folder(path).map_err(|source| JournalError::file("sync", path, source))
}

/// The place of the first `part` in `text`.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_in_records_and_not_in_texts() {
        let [one, two] = ["1", "a"].map(|digit| digit.repeat(HEX));
        let picture = |hash: &str| serde_json::json!({"sha256": hash, "media_type": "image/png"});
        let text = format!("\"sha256\":\"{}\"", "b".repeat(HEX));
        let record = serde_json::json!({"parts": [picture(&one), {"picture": picture(&two)}], "text": text});
        let mut found = References::default();
        found.add_all(&serde_json::to_vec(&record).unwrap());
        found.add_all(br#"{"sha256":"short"}"#);
        assert_eq!(found.waiting.into_iter().collect::<Vec<_>>(), [one, two]);
    }
}
