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

pub use content::{FileContent, OmittedContent, ReadContinuation, Text};
pub use error::FileReadError;
pub use folder::{
    EntryKind, FileSearchPattern, FolderEntry, FolderListOptions, FolderListing, Match, SearchOptions,
    SearchResult, SkippedFile, Sort, list, search,
};
pub use format::Format;
pub use job::{FileJob, FileJobResult};
pub use options::{ContentForm, ReadOptions, ReadRange};
pub use read::{format_of, read};
pub use tables::{SheetCellRange, SheetCellValue, SheetData, SheetRow, Tables, column_letters};
