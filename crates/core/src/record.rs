//! The lines of a journal. The journal is the session: an append-only list of everything that happened to it.
//!
//! A journal is JSON Lines. The first line is the [`Header`]; then effects and events take turns: an effect's
//! line is written before it is carried out, an event's line before it is applied.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ids::SessionId,
    observation::Observation,
    prompt::PromptSet,
    session::{EffectRecord, EventRecord, SessionConfig},
};

/// The version of the format that this code writes. Readers refuse a later one and read every earlier one.
pub const JOURNAL_VERSION: u32 = 3;

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
    /// What the program needs to go on with the session, such as how to reach the model; it alone knows what is in
    /// it. Holds no secret.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub setup: Value,
    /// Where the session was forked from; none for one that was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<Origin>,
}

/// The session that another one was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The session.
    pub session: SessionId,
    /// Its last record that was taken over.
    pub record: u64,
}

/// What a session runs with from a record on; what stands in the header held until then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The configuration.
    pub config: SessionConfig,
    /// The prompt set itself.
    pub prompts: PromptSet,
    /// The model, as it is shown to people.
    pub model: String,
    /// The desktop, as it is shown to people.
    pub desktop: String,
    /// The program, with its version.
    pub program: String,
    /// See [`Header::setup`].
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub setup: Value,
}

/// What a line of a journal says. `O` is how an observation is represented: whole, or as a journal stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record<O = Observation> {
    /// The first line.
    Header(Box<Header>),
    /// Something is wanted.
    Effect(Box<EffectRecord>),
    /// Something came.
    Event(Box<EventRecord<O>>),
    /// The session runs with something else from here on: it was forked, or resumed with another model, other
    /// prompts or another configuration.
    Changed(Box<Change>),
}

/// One line of a journal; `O` as in [`Record`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line<O = Observation> {
    /// Its number, from 1.
    pub seq: u64,
    /// SHA-256 of the line before it, lower-case hexadecimal; empty in the first line. A line that was changed
    /// after it was written no longer matches what the next one says of it.
    pub prev: String,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What it tells.
    pub record: Record<O>,
}

impl<O> Line<O> {
    /// The same line with its observation represented otherwise, if it has one.
    ///
    /// # Errors
    /// What `convert` returns.
    pub fn try_map_observation<P, E>(self, convert: impl FnOnce(O) -> Result<P, E>) -> Result<Line<P>, E> {
        let Self { seq, prev, at_ms, record } = self;
        let record = match record {
            Record::Header(header) => Record::Header(header),
            Record::Effect(effect) => Record::Effect(effect),
            Record::Changed(change) => Record::Changed(change),
            Record::Event(record) => {
                let EventRecord { effect, at_ms, event } = *record;
                let event = event.try_map_observation(convert)?;
                Record::Event(Box::new(EventRecord { effect, at_ms, event }))
            }
        };
        Ok(Line { seq, prev, at_ms, record })
    }
}
