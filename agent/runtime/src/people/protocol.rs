//! The JSON Lines protocol between a session and a program, besides the journal's lines.
//!
//! `docs/guides/protocol.md` documents it; a test checks its examples against these types.

use deskhand_machine::{
    outcome::OutcomeKind,
    record::{JournalEntry, JournalRecord},
    reply::UserQuestion,
    session::{AskedBy, Effect, FollowerPlan, PlannedAction, RoundTally},
};
use deskhand_ui::{duration::milliseconds, ids::EffectId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{
    story::RunSummary,
    waiting::{SessionWait, WaitReason},
};

/// A line to a session.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToSession {
    /// Adds a request; requests are queued.
    Request {
        /// The request text.
        text: String,
        /// The steps to follow, if given.
        #[serde(default)]
        #[schemars(schema_with = "crate::schema::plan_or_null")]
        plan: Option<FollowerPlan>,
    },
    /// Answers questions.
    Answer {
        /// The id of the questions.
        #[schemars(schema_with = "crate::schema::effect_id")]
        id: EffectId,
        /// The answers, in order; an empty text or null for no answer.
        answers: Vec<Option<String>>,
    },
    /// Decides on an action.
    Decide {
        /// The id of the approval.
        #[schemars(schema_with = "crate::schema::effect_id")]
        id: EffectId,
        /// The decision.
        approve: Approve,
        /// With `no`: what to do instead.
        #[serde(default)]
        instruction: Option<String>,
    },
    /// Says something to the agents, at any time.
    Say {
        /// The words: at most 4,000 characters.
        text: String,
    },
    /// A person takes over mouse and keyboard before the next effect.
    TakeOver {},
    /// They hand back.
    HandBack {
        /// A word to the agents, bounded as what is said.
        #[serde(default)]
        note: Option<String>,
    },
    /// Pauses before the next effect.
    Pause {},
    /// Resumes.
    Resume {},
    /// Stops the current request: the running call is cancelled and reports what it did; with `now` it is dropped.
    Stop {
        /// Drop the running call.
        #[serde(default)]
        now: bool,
    },
    /// No further requests.
    End {},
}

/// The decision on an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approve {
    /// Approve this action.
    Once,
    /// Approve this action and equal ones, with the same values, for the rest of the session.
    Session,
    /// Reject it.
    No,
}

/// A line from a session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FromSession<'a> {
    /// The first line of the journal.
    Header(JournalLine<'a>),
    /// A journal line: an effect.
    Effect(JournalLine<'a>),
    /// A journal line: an event.
    Event(JournalLine<'a>),
    /// A journal line: the settings change from here on.
    Changed(JournalLine<'a>),
    /// The first line over a control socket. What is asked at the moment follows.
    Attached {
        /// The session.
        session: &'a str,
        /// The number of its last record.
        seq: u64,
        /// `true` if the session is paused.
        paused: bool,
    },
    /// A record was written; over a control socket in place of the record.
    Recorded {
        /// Its number.
        seq: u64,
    },
    /// The session waits for the next request.
    AwaitingRequest,
    /// Questions; the session waits for an `answer` with this id.
    Questions {
        /// The id.
        #[schemars(schema_with = "crate::schema::effect_id")]
        id: EffectId,
        /// The questions.
        #[schemars(schema_with = "crate::schema::questions")]
        questions: &'a [UserQuestion],
        /// The timeout in milliseconds; null for none.
        timeout_ms: Option<u64>,
    },
    /// An action needs approval; the session waits for a `decide` with this id.
    Approval {
        /// The id.
        #[schemars(schema_with = "crate::schema::effect_id")]
        id: EffectId,
        /// The name of the agent that proposes it.
        agent: String,
        /// The proposed actions.
        #[schemars(schema_with = "crate::schema::planned_actions")]
        actions: &'a [PlannedAction],
        /// The reason.
        reason: &'a str,
        /// Who requires the approval.
        #[schemars(with = "serde_json::Value")]
        asked_by: &'a AskedBy,
        /// The scope that `session` would approve for the rest of the session: one text for each action that needs
        /// approval.
        covers: &'a [String],
        /// The timeout in milliseconds; null for none.
        timeout_ms: Option<u64>,
    },
    /// A prompt was closed without an answer.
    Withdrawn {
        /// The id of the prompt.
        #[schemars(schema_with = "crate::schema::effect_id")]
        id: EffectId,
    },
    /// The session is paused.
    Paused {
        /// The effect that it is paused before.
        before: &'a str,
    },
    /// The session was resumed.
    Resumed,
    /// A person has mouse and keyboard; the session waits for a `hand_back` or `resume`.
    TakenOver {
        /// The effect that it stopped before.
        before: &'a str,
        /// `true` if the person's input is watched.
        watched: bool,
    },
    /// They have handed back, and the agents look again.
    HandedBack,
    /// The session has waited for something for a while; repeated as long as it does. The journal does not hold it.
    Waiting {
        /// The kind of wait: `desktop`, `opening`, `look`, `reply`, `retry`, `tool`, `agent`, `answers`, `approval`,
        /// `request` or `closing`.
        on: &'static str,
        /// Its name: the model, the tool, the documents, the sub-task; why a request is sent again.
        detail: String,
        /// For how long, in milliseconds.
        elapsed_ms: u64,
        /// When the next request to the model is sent, in milliseconds from now; null but for `retry`.
        next_try_ms: Option<u64>,
        /// With `reply`: the last words of the model so far, if it streams, without secrets.
        #[serde(skip_serializing_if = "str::is_empty")]
        words: &'a str,
    },
    /// A request ended.
    Outcome {
        /// The round number, from 1.
        round: u32,
        /// The request.
        request: &'a str,
        /// The outcome.
        #[schemars(schema_with = "crate::schema::outcome")]
        outcome: OutcomeKind,
        /// The reason.
        reason: &'a str,
        /// The resources used.
        #[schemars(schema_with = "crate::schema::tally")]
        used: &'a RoundTally,
        /// The duration in milliseconds.
        elapsed_ms: u64,
    },
    /// A line was rejected and had no effect.
    Error {
        /// The problem.
        message: &'a str,
        /// The line number, from 1.
        line: u64,
    },
}

/// A journal line as it is emitted: the record with its number and time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JournalLine<'a> {
    seq: u64,
    at_ms: u64,
    /// The record, as it was written.
    #[schemars(with = "serde_json::Value")]
    record: &'a JournalRecord,
}

impl<'a> FromSession<'a> {
    /// Creates the message that says what a session waits for, as of `now`.
    pub fn waiting(waiting: &'a SessionWait, now: Instant) -> Self {
        let (mut next_try_ms, mut words) = (None, "");
        let (on, detail) = match &waiting.on {
            WaitReason::LocalModel => ("local_model", String::new()),
            WaitReason::Desktop => ("desktop", String::new()),
            WaitReason::Opening(what) => ("opening", what.join(", ")),
            WaitReason::Look => ("look", String::new()),
            WaitReason::Help => ("help", String::new()),
            WaitReason::Reply { model, words: said, .. } => {
                words = said;
                ("reply", model.clone())
            }
            WaitReason::Retry { reason, at, .. } => {
                next_try_ms = Some(milliseconds(at.saturating_duration_since(now)));
                ("retry", reason.clone())
            }
            WaitReason::Tool { tool, .. } => ("tool", tool.clone()),
            WaitReason::Agent { subtask, state } if state.is_empty() => ("agent", subtask.clone()),
            WaitReason::Agent { subtask, state } => ("agent", format!("{subtask}: {state}")),
            WaitReason::Answers => ("answers", String::new()),
            WaitReason::Approval => ("approval", String::new()),
            WaitReason::Request => ("request", String::new()),
            WaitReason::Closing => ("closing", String::new()),
        };
        let elapsed_ms = milliseconds(now.saturating_duration_since(waiting.since));
        Self::Waiting { on, detail, elapsed_ms, next_try_ms, words }
    }
}

impl<'a> FromSession<'a> {
    /// The outcome that a journal line tells, with what is known of the session up to there.
    pub fn outcome(line: &'a JournalEntry, summary: &'a RunSummary) -> Option<Self> {
        let JournalRecord::Effect(record) = &line.record else { return None };
        let (Effect::Finish { outcome }, Some(round)) = (&record.effect, summary.rounds.last()) else {
            return None;
        };
        Some(Self::Outcome {
            round: record.round,
            request: &round.request,
            outcome: outcome.kind,
            reason: &outcome.reason,
            used: &round.tally,
            elapsed_ms: round.elapsed_ms,
        })
    }

    /// Converts a journal line.
    pub fn journal(line: &'a JournalEntry) -> Self {
        let out = JournalLine { seq: line.seq, at_ms: line.at_ms, record: &line.record };
        match &line.record {
            JournalRecord::Header(_) => Self::Header(out),
            JournalRecord::Effect(_) => Self::Effect(out),
            JournalRecord::Event(_) => Self::Event(out),
            JournalRecord::Changed(_) => Self::Changed(out),
        }
    }
}
