//! The lines of a journal. The journal is the session: an append-only list of everything that happened to it.
//!
//! A journal is JSON Lines. The first line is the [`Header`]; then effects and events take turns: an effect's
//! line is written before it is carried out, an event's line before it is applied.

use serde::{Deserialize, Serialize};

use crate::{
    ids::SessionId,
    session::{EffectRecord, EventRecord, SessionConfig},
};

/// The version of the format that this code writes. Readers refuse a later one and read every earlier one.
pub const JOURNAL_VERSION: u32 = 1;

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub version: u32,
    /// The session.
    pub session: SessionId,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub created_ms: u64,
    /// What it is run with.
    pub config: SessionConfig,
    /// SHA-256 of the prompt set, which is stored beside the journal.
    pub prompts_sha256: String,
    /// The model, as it is shown to people.
    pub model: String,
    /// The desktop, as it is shown to people.
    pub desktop: String,
    /// The program that wrote it, with its version.
    pub program: String,
}

/// What a line of a journal tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Header(Box<Header>),
    /// Something is wanted.
    Effect(Box<EffectRecord>),
    /// Something came.
    Event(Box<EventRecord>),
}

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its number, from 1.
    pub seq: u64,
    /// SHA-256 of the line before it, lower-case hexadecimal; empty in the first line. A line that was changed
    /// after it was written no longer matches what the next one says of it.
    pub prev: String,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What it tells.
    pub record: Record,
}
