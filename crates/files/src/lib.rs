//! Text and tables of common file formats, folders, searches and archives.
//!
//! ```text
//! read ──► format (by content, then name) ──► parser ──► Text (lines, pages) or Tables (sheets, cells)
//! list, search: folders, without following symbolic links
//! archive: entries of zip and tar files, and unpacking of them into a new folder
//! ```
//!
//! All functions block. Files are hostile: each parser has limits on bytes, depth and counts, and a panic in
//! one is returned as an error. Callers nevertheless run this crate in a confined process. It knows nothing
//! of agents, tools or policy.

pub mod archive;
mod compose;
mod content;
mod decode;
mod error;
mod folder;
mod format;
mod guard;
mod job;
mod office;
mod options;
mod pdf;
mod read;
mod tables;
mod text;
mod window;

pub use content::{Content, LeftOut, Next, Text};
pub use error::ReadError;
pub use folder::{
    Entry, EntryKind, ListOptions, Listing, Match, Pattern, SearchOptions, SearchResult, Skipped, Sort, list,
    search,
};
pub use format::Format;
pub use job::{Done, Job};
pub use options::{ReadOptions, Span, What};
pub use read::{format_of, read};
pub use tables::{Cell, CellRange, Row, Sheet, Tables, column_letters};
