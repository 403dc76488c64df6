//! The lines between a session and a program: what Deskhand writes beside the journal's lines, and what it reads.
//!
//! One JSON object a line. `docs/guides/protocol.md` tells it for programmers; a test holds its examples against these types.

use deskhand_core::{
    ids::EffectId,
    outcome::OutcomeKind,
    record::{Line, Record},
    reply::Question,
    session::{AskedBy, FollowerPlan, PlannedAction, Tally},
};
use serde::{Deserialize, Serialize};

/// A line to a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToSession {
    /// The next request, or one more that waits its turn.
    Request {
        /// What to do.
        text: String,
        /// The steps to follow, where they are given.
        #[serde(default)]
        plan: Option<FollowerPlan>,
    },
    /// Answers to questions.
    Answer {
        /// The number of the questions.
        id: EffectId,
        /// The answers, in their order; an empty text or null for none.
        answers: Vec<Option<String>>,
    },
    /// A decision about an action.
    Decide {
        /// The number of the approval that is asked for.
        id: EffectId,
        /// The decision.
        approve: Approve,
        /// With `no`: what to do instead.
        #[serde(default)]
        instruction: Option<String>,
    },
    /// Hold before what comes next.
    Pause {},
    /// Go on.
    Resume {},
    /// Stop the request that is carried out; with `now`, without waiting for the action that is going on.
    Stop {
        /// At once.
        #[serde(default)]
        now: bool,
    },
    /// There is no further request.
    End {},
}

/// The decision about an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approve {
    /// Do it.
    Once,
    /// Do it, and the like of it in this session without asking.
    Session,
    /// Do not.
    No,
}

/// A line from a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FromSession<'a> {
    /// The first line of the journal.
    Header(JournalLine<'a>),
    /// A line of the journal: something is wanted.
    Effect(JournalLine<'a>),
    /// A line of the journal: something came.
    Event(JournalLine<'a>),
    /// A line of the journal: the session runs with something else from here on.
    Changed(JournalLine<'a>),
    /// The next request is awaited.
    AwaitingRequest,
    /// Questions; an `answer` with this id is awaited.
    Questions {
        /// Their number.
        id: EffectId,
        /// The questions.
        questions: &'a [Question],
        /// How long they wait, in milliseconds; null for ever.
        timeout_ms: Option<u64>,
    },
    /// An action waits for approval; a `decide` with this id is awaited.
    Approval {
        /// Its number.
        id: EffectId,
        /// The name of the agent that wants it.
        agent: String,
        /// What would be done.
        actions: &'a [PlannedAction],
        /// Why.
        reason: &'a str,
        /// Who wants it to be asked about.
        asked_by: &'a AskedBy,
        /// How long it waits, in milliseconds; null for ever.
        timeout_ms: Option<u64>,
    },
    /// What was asked for is no longer awaited.
    Withdrawn {
        /// Its number.
        id: EffectId,
    },
    /// The session holds.
    Paused {
        /// Before what.
        before: &'a str,
    },
    /// The session goes on.
    Resumed,
    /// A request came to its end.
    Outcome {
        /// The number of its round, from 1.
        round: u32,
        /// The request.
        request: &'a str,
        /// How it ended.
        outcome: OutcomeKind,
        /// Why.
        reason: &'a str,
        /// What it used up.
        used: &'a Tally,
        /// How long it took, in milliseconds.
        elapsed_ms: u64,
    },
    /// A line could not be followed. Nothing else came of it.
    Error {
        /// What is wrong with it.
        message: &'a str,
        /// The number of the line, from 1.
        line: u64,
    },
}

/// A line of the journal as it is given out: the record itself with its number and time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JournalLine<'a> {
    seq: u64,
    at_ms: u64,
    record: &'a Record,
}

impl<'a> FromSession<'a> {
    /// A line of the journal.
    pub fn journal(line: &'a Line) -> Self {
        let out = JournalLine { seq: line.seq, at_ms: line.at_ms, record: &line.record };
        match &line.record {
            Record::Header(_) => Self::Header(out),
            Record::Effect(_) => Self::Effect(out),
            Record::Event(_) => Self::Event(out),
            Record::Changed(_) => Self::Changed(out),
        }
    }
}
