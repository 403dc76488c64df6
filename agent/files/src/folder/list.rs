//! Listing of a folder.

use std::{
    cmp::Reverse,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{
    names::NameFilter,
    walk::{FolderWalk, FolderWalkEntry},
};
use crate::error::FileReadError;

/// The most entries that are kept to be sorted.
const ENTRIES_MAX: usize = 100_000;

/// Options for listing a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FolderListOptions {
    /// Glob of the names, such as `*.pdf`; with `/`, of the paths inside the folder, such as `2026/**/*.pdf`.
    pub glob: Option<String>,
    /// Levels of folders, 1 to 100; 1 is the folder alone.
    pub depth_max: usize,
    /// The most entries that are returned.
    pub entries_max: usize,
    /// Entries to skip, to read on.
    pub skip: usize,
    /// `true` if names that start with a dot are listed.
    pub hidden: bool,
    /// Files and folders that are left out, with what is in them.
    pub without: Vec<PathBuf>,
    /// `true` if only files and folders that every user may read are visible.
    pub public_only: bool,
    /// The order.
    pub sort: Sort,
}

impl Default for FolderListOptions {
    fn default() -> Self {
        Self {
            glob: None,
            depth_max: 1,
            entries_max: 500,
            skip: 0,
            hidden: false,
            without: Vec::new(),
            public_only: false,
            sort: Sort::Name,
        }
    }
}

/// Order of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// By path.
    #[default]
    Name,
    /// The largest first.
    Size,
    /// The newest first.
    Modified,
}

/// The content list of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderListing {
    /// The entries.
    pub entries: Vec<FolderEntry>,
    /// Total number of entries; a lower bound if `left_out` reports that not all were seen.
    pub total: usize,
    /// The part that is left out, and how to read on.
    pub left_out: Option<String>,
    /// Folders that could not be read.
    pub problems: Vec<String>,
}

/// A file, folder or link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderEntry {
    /// Its path inside the folder. Bytes that are not UTF-8 are shown as U+FFFD.
    pub path: String,
    /// Its kind.
    pub kind: EntryKind,
    /// Bytes of a file, 0 of anything else.
    pub size: u64,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
}

/// The kind of an entry of a folder or archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, which is not followed.
    Link {
        /// Its target, as it is stored.
        target: String,
    },
    /// A hard link inside an archive.
    HardLink {
        /// The entry with the content.
        target: String,
    },
    /// A device, pipe or socket.
    Other,
}

/// Lists a folder. Blocking. Symbolic links are shown with their targets and not followed.
///
/// # Errors
/// It is no folder, cannot be read, or the glob is not valid.
pub fn list(folder: &Path, options: &FolderListOptions) -> Result<FolderListing, FileReadError> {
    let filter = NameFilter::new(options.glob.as_deref())?;
    let mut walk = FolderWalk::new(folder, options.depth_max, options.hidden)?
        .sparing(&options.without, options.public_only);
    let mut entries: Vec<FolderEntry> = walk
        .by_ref()
        .filter(|found| filter.matches(&found.inside))
        .take(ENTRIES_MAX)
        .map(|found| entry(&found))
        .collect();
    let is_cut = entries.len() == ENTRIES_MAX || walk.is_over();
    match options.sort {
        Sort::Name => {}
        Sort::Size => entries.sort_by_key(|entry| Reverse(entry.size)),
        Sort::Modified => entries.sort_by_key(|entry| Reverse(entry.modified)),
    }
    let total = entries.len();
    let entries: Vec<FolderEntry> =
        entries.into_iter().skip(options.skip).take(options.entries_max).collect();
    let last = options.skip.saturating_add(entries.len());
    let mut left_out = Vec::new();
    if last < total {
        left_out.push(format!("entries {} to {total}; read on with skip {last}", last + 1));
    }
    if is_cut {
        left_out.push(
            "entries that were not looked at, because there are too many; list a folder inside".to_owned(),
        );
    }
    let left_out = (!left_out.is_empty()).then(|| left_out.join(", and "));
    Ok(FolderListing { entries, total, left_out, problems: walk.problems })
}

fn entry(found: &FolderWalkEntry) -> FolderEntry {
    let metadata = &found.metadata;
    let kind = if metadata.is_dir() {
        EntryKind::Folder
    } else if metadata.is_file() {
        EntryKind::File
    } else if metadata.is_symlink() {
        let target = fs::read_link(&found.path).unwrap_or_default();
        EntryKind::Link { target: target.to_string_lossy().into_owned() }
    } else {
        EntryKind::Other
    };
    let size = if metadata.is_file() { metadata.len() } else { 0 };
    let path = found.inside.to_string_lossy().into_owned();
    FolderEntry { path, kind, size, modified: metadata.modified().ok() }
}
