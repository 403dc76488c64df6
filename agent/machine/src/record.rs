//! The lines of a journal. The journal is the session: an append-only list of everything that happened to it.
//!
//! A journal is JSON Lines. The first line is the [`JournalHeader`]; then effects and events take turns: an effect's
//! line is written before it is carried out, an event's line before it is applied.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    observation::Observation,
    prompt::PromptSet,
    session::{EffectRecord, EventRecord, SessionConfig, SessionEvent},
};
use deskhand_ui::{PictureRef, ids::SessionId};

/// The format version that this code writes and reads; readers refuse every other one.
pub const JOURNAL_VERSION: u32 = 1;

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// The version of the format.
    pub version: u32,
    /// The session.
    pub session: SessionId,
    /// When it started, in milliseconds since 1970-01-01 UTC.
    pub created_ms: u64,
    /// Its configuration.
    pub config: SessionConfig,
    /// SHA-256 of the prompt set stored beside the journal.
    pub prompts_sha256: String,
    /// The model, as displayed.
    pub model: String,
    /// The desktop, as displayed.
    pub desktop: String,
    /// The program that wrote it, with its version.
    pub program: String,
    /// Data that the program needs to resume the session, such as how to reach the model. Opaque to everything
    /// else, and free of secrets; only `batch` has a meaning here: the results folder of the batch that the session
    /// is a part of.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub setup: Value,
    /// The session this one was forked from; `None` if it is not a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkOrigin>,
}

/// Source of a fork.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    /// The session.
    pub session: SessionId,
    /// The last record that was copied.
    pub record: u64,
}

/// The settings of a session from this record on; before, those of the header apply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsChange {
    /// The configuration.
    pub config: SessionConfig,
    /// The prompt set itself.
    pub prompts: PromptSet,
    /// The model, as displayed.
    pub model: String,
    /// The desktop, as displayed.
    pub desktop: String,
    /// The program, with its version.
    pub program: String,
    /// See [`JournalHeader::setup`].
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub setup: Value,
}

/// The content of a journal line. `O` is the representation of observations: full, or as a journal stores them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JournalRecord<O = Observation> {
    /// The first line.
    Header(Box<JournalHeader>),
    /// The machine requests an effect.
    Effect(Box<EffectRecord>),
    /// An event answers it.
    Event(Box<EventRecord<O>>),
    /// The session continues with other settings: it was forked, or resumed with another model, other prompts or another
    /// configuration.
    Changed(Box<SettingsChange>),
}

/// One line of a journal; `O` as in [`JournalRecord`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry<O = Observation> {
    /// Its number, from 1.
    pub seq: u64,
    /// SHA-256 of the previous line, lower-case hexadecimal; empty in the first line. With it, the seal of a line covers all
    /// lines before it.
    pub prev: String,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Duration of the session's pause right before it, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paused_ms: u64,
    /// Its content.
    pub record: JournalRecord<O>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(ms: &u64) -> bool {
    *ms == 0
}

impl JournalEntry {
    /// The picture that the line newly refers to.
    pub fn picture(&self) -> Option<&PictureRef> {
        let JournalRecord::Event(record) = &self.record else { return None };
        match &record.event {
            SessionEvent::Observed { observation } => observation.picture(),
            SessionEvent::Acknowledged { picture } => picture.as_ref(),
            SessionEvent::Returned { result } => result.picture.as_ref(),
            SessionEvent::Requested { .. }
            | SessionEvent::Ended
            | SessionEvent::ObserveFailed { .. }
            | SessionEvent::Ranked { .. }
            | SessionEvent::Retrieved { .. }
            | SessionEvent::Replied { .. }
            | SessionEvent::Disclosed { .. }
            | SessionEvent::ModelFailed { .. }
            | SessionEvent::Answered { .. }
            | SessionEvent::Unanswered { .. }
            | SessionEvent::Approved { .. }
            | SessionEvent::Rejected { .. }
            | SessionEvent::Delegated { .. }
            | SessionEvent::Stopped { .. }
            | SessionEvent::Suspended { .. }
            | SessionEvent::Told { .. }
            | SessionEvent::TakenOver { .. }
            | SessionEvent::HandedBack { .. }
            | SessionEvent::Resumed { .. } => None,
        }
    }
}

impl<O> JournalEntry<O> {
    /// Converts the representation of the observation in the line, if it has one.
    ///
    /// # Errors
    /// The error of `convert`.
    pub fn try_map_observation<P, E>(
        self,
        convert: impl FnOnce(O) -> Result<P, E>,
    ) -> Result<JournalEntry<P>, E> {
        let Self { seq, prev, at_ms, paused_ms, record } = self;
        let record = match record {
            JournalRecord::Header(header) => JournalRecord::Header(header),
            JournalRecord::Effect(effect) => JournalRecord::Effect(effect),
            JournalRecord::Changed(change) => JournalRecord::Changed(change),
            JournalRecord::Event(record) => {
                let EventRecord { effect, at_ms, event } = *record;
                let event = event.try_map_observation(convert)?;
                JournalRecord::Event(Box::new(EventRecord { effect, at_ms, event }))
            }
        };
        Ok(JournalEntry { seq, prev, at_ms, paused_ms, record })
    }
}
