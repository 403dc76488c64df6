//! The journal on disk: one folder a session, with the journal, its prompt set, and its pictures.
//!
//! Append-only. A record is in the file before what it tells is acted on, so whatever ends the process, the
//! file holds everything that happened.

mod error;
mod reader;
mod store;
mod writer;

pub use error::JournalError;
pub use reader::{Journal, JournalProblem};
pub use store::{SessionFolder, SessionStore};
pub use writer::JournalWriter;
