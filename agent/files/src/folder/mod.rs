//! Folders: what is in them, and which lines of their files match a pattern.

mod list;
mod names;
mod search;
mod walk;

pub use list::{EntryKind, FolderEntry, FolderListOptions, FolderListing, Sort, list};
pub(crate) use names::NameFilter;
pub use search::{FileSearchPattern, Match, SearchOptions, SearchResult, SkippedFile, search};
