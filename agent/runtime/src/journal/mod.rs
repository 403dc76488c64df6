//! Journals on disk: one folder per session, with the journal, its prompt set and its pictures; and beside the sessions, the
//! key that seals them and the anchor of each.
//!
//! The journal is append-only. Each record is written before it is acted on, so that the file is complete however the
//! process ends.

mod anchor;
mod chain;
mod disk;
mod error;
mod fence;
mod instructions;
mod key;
mod lines;
mod lock;
mod raw;
mod reader;
mod references;
mod seal;
mod store;
mod tail;
mod views;
mod writer;

pub(crate) use chain::{Chain, Flaw, MissingEnd};
pub use chain::{SealProof, Unproven};
pub(crate) use disk::write_whole as replace_file;
pub use error::JournalError;
pub(crate) use error::LINE_BYTES_MAX;
pub use fence::{Fence, SessionOwnershipLost};
pub use instructions::InstructionKind;
pub use key::SealFolder;
pub(crate) use lines::{JournalItem, JournalLines};
pub use lock::SessionLock;
pub(crate) use raw::{RawLine, RawLines};
pub(crate) use reader::records;
pub use reader::{JournalProblem, SessionJournal};
pub use store::{SessionFolder, SessionStore};
pub(crate) use store::{hex, sha256_hex};
pub use tail::JournalTail;
pub use views::ViewError;
pub(crate) use views::{StoredLine, StoredObservation, ViewCache};
pub use writer::JournalWriter;
pub(crate) use writer::is_durable;

#[cfg(test)]
mod power_tests;
