//! Journals on disk: one folder per session, with the journal, its prompt set and its pictures.
//!
//! The journal is append-only. Each record is written before it is acted on, so that the file is complete however the
//! process ends.

mod declared;
mod error;
mod lines;
mod lock;
mod reader;
mod seal;
mod store;
mod views;
mod writer;

pub use error::JournalError;
pub(crate) use lines::{Chain, Flaw, Lines, RawLine, RawLines, Read};
pub use lock::SessionLock;
pub use reader::{Journal, JournalProblem};
pub(crate) use store::sha256_hex;
pub use store::{SessionFolder, SessionStore};
pub(crate) use views::StoredLine;
pub use views::ViewError;
pub use writer::JournalWriter;
