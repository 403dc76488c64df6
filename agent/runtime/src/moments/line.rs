//! One moment in a few words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MomentKind {
    /// The user's request.
    Request,
    /// An agent got a sub-task.
    Subtask,
    /// An agent observed.
    Observation,
    /// A model was asked.
    Prompt,
    /// The model replied, or failed to.
    Reply,
    /// A command, with its verdict once it returned.
    Call,
    /// The user was asked.
    Question,
    /// The user was asked for an approval.
    Approval,
    /// The user replied.
    Answer,
    /// Something about the session itself: settings changed, it was stopped, suspended or resumed.
    Note,
    /// The end of a request.
    Outcome,
}

/// A moment on a time line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MomentLine {
    /// The number of its record. Commands that were refused together share one.
    pub record: u64,
    /// When the record was written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// The round, from 1.
    pub round: u32,
    /// The step; 0 outside of steps.
    pub step: u32,
    /// The agent; empty outside of steps.
    pub agent: String,
    /// The kind of the moment.
    pub kind: MomentKind,
    /// The same in a few words, on one line.
    pub words: String,
    /// The result of a call in one word: a verdict, `read`, `failed` or `skipped`. `None` without a result, and for other moments.
    pub verdict: Option<String>,
    /// The record that answers a call; `None` without one.
    pub answer: Option<u64>,
    /// Time until the answer, in milliseconds; 0 without one.
    pub elapsed_ms: u64,
    /// The file of the picture that was taken at this moment, in the folder `pictures` of the session.
    pub picture: Option<String>,
    /// The record of the last observation up to this moment.
    pub seen: Option<u64>,
    /// The file of the last picture up to this moment.
    pub shown: Option<String>,
}
