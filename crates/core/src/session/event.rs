//! What came back from outside.

use serde::{Deserialize, Serialize};

use crate::{
    command::CallResult,
    ids::EffectId,
    model::{ModelFailure, ModelReply},
    observation::{Observation, ObserveFailure},
};

/// Why nobody answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// There is no channel to the user, or asking is switched off.
    NoChannel,
    /// The user did not answer in time.
    TimedOut,
}

/// Why a round was stopped from outside; ordered, a later one outranks an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The wall time of the round is used up.
    WallTime,
    /// The user asked to stop.
    User,
    /// The process was told to end.
    Signal,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "came", rename_all = "snake_case")]
pub enum Event {
    /// The user's next request.
    Requested {
        /// In their words.
        text: String,
    },
    /// There is no further request.
    Ended,
    /// What was seen.
    Observed {
        /// The observation.
        observation: Observation,
    },
    /// Nothing could be seen.
    ObserveFailed {
        /// Why.
        failure: ObserveFailure,
    },
    /// The model's reply.
    Replied {
        /// The reply.
        reply: ModelReply,
    },
    /// The model gave no reply.
    ModelFailed {
        /// Why.
        failure: ModelFailure,
    },
    /// The result of a command.
    Returned {
        /// The result.
        result: CallResult,
    },
    /// The user's answers, in the order of the questions; empty for a question left open.
    Answered {
        /// The answers.
        answers: Vec<String>,
    },
    /// Nobody answered or decided.
    Unanswered {
        /// Why.
        why: NoAnswer,
    },
    /// The parked action was approved.
    Approved,
    /// The parked action was rejected.
    Rejected {
        /// What to do instead; none for just no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
    /// The outcome was received.
    Acknowledged,
    /// The round was stopped. Names no effect and can come at any time.
    Stopped {
        /// Why.
        reason: StopReason,
    },
}

/// An event with its time and the effect that it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The effect that it answers; none for events that answer nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectId>,
    /// When it came, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What came.
    pub event: Event,
}
