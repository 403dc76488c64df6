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
pub use files::{Limits, Skipped};
pub use index::{Added, HelpIndex, HelpSource, Listed};
pub use language::Languages;
pub use machine::Machine;
pub use rank::Reranker;
