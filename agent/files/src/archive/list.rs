//! Listing of an archive.

use std::{
    io::{self, Read as _},
    path::Path,
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{
    entries::{ArchiveEntryFlow, ArchiveFile},
    names::inside,
};
use crate::{error::FileReadError, folder::EntryKind, format::Format, guard::guarded};

/// The most bytes that are decompressed to find the entries of a tar file.
const BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// The longest name that is returned.
const NAME_CHARACTERS_MAX: usize = 1_000;

/// The content list of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveListing {
    /// Its format.
    pub format: Format,
    /// The entries, in its order.
    pub entries: Vec<ArchiveEntry>,
    /// Bytes of all these entries, as the archive claims.
    pub bytes_total: u64,
    /// Description of the entries left out because of a limit.
    pub left_out: Option<String>,
}

/// An entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveEntry {
    /// Its path, as it is stored.
    pub name: String,
    /// Its kind.
    pub kind: EntryKind,
    /// Bytes, as the archive claims; counted for a compressed file.
    pub size: u64,
    /// When it was last changed. Absent in zip files, which store no time zone.
    pub modified: Option<SystemTime>,
    /// Why unpacking would skip it.
    pub refused: Option<String>,
}

/// Lists the first `entries_max` entries of an archive. Blocking.
///
/// # Errors
/// The file cannot be read, is no archive, or is damaged.
pub fn list(path: &Path, entries_max: usize) -> Result<ArchiveListing, FileReadError> {
    guarded(path, || {
        let archive = ArchiveFile::open(path)?;
        let format = archive.format;
        let mut listing = ArchiveListing { format, entries: Vec::new(), bytes_total: 0, left_out: None };
        let mut seen = 0_u64;
        let result = archive.visit(&mut |head, data| {
            if listing.entries.len() >= entries_max {
                listing.left_out = Some(format!("entries after the first {entries_max}"));
                return Ok(ArchiveEntryFlow::Stop);
            }
            let size = if format == Format::Compressed {
                io::copy(&mut data.take(BYTES_MAX), &mut io::sink())?
            } else {
                head.size
            };
            seen = seen.saturating_add(size);
            listing.bytes_total = seen;
            listing.entries.push(ArchiveEntry {
                name: head.name.chars().take(NAME_CHARACTERS_MAX).collect(),
                kind: head.kind.clone(),
                size,
                modified: head.modified,
                refused: head.unreadable.or_else(|| inside(&head.name).err()).map(str::to_owned),
            });
            if seen > BYTES_MAX && format != Format::Zip {
                listing.left_out = Some(format!("everything after the first {BYTES_MAX} bytes"));
                return Ok(ArchiveEntryFlow::Stop);
            }
            Ok(ArchiveEntryFlow::Next)
        });
        result.map_err(|fault| fault.at(path, format))?;
        Ok(listing)
    })
}
