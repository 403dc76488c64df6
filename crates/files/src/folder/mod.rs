//! Folders: what is in them, and which lines of their files match a pattern.

mod list;
mod names;
mod search;
mod walk;

pub use list::{Entry, EntryKind, ListOptions, Listing, Sort, list};
pub(crate) use names::NameFilter;
pub use search::{Match, Pattern, SearchOptions, SearchResult, Skipped, search};
