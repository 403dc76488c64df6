//! Help and documents of this machine.
//!
//! ```text
//! source (a file or folder) ──► files ──► text with headings ──► passages ──► index
//! Machine: which sources there are for an application
//! ```
//!
//! All functions block.

mod document;
mod error;
mod files;
mod index;
mod language;
mod machine;
mod man;
mod mdoc;
mod rank;
mod roff;
mod xml;

pub use error::HelpError;
pub use files::{HelpLimits, SkippedHelpFile};
pub use index::{HelpIndex, HelpIndexUpdate, HelpSource, IndexedHelpSource};
pub use language::Languages;
pub use machine::HelpFolders;
pub use rank::Reranker;
