//! The journal on disk: one folder a session, with the journal, its prompt set, and its pictures.
//!
//! Append-only. A record is in the file before what it tells is acted on, so whatever ends the process, the
//! file holds everything that happened.

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
