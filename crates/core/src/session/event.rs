//! What came back from outside.

use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentReport,
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

/// For how long an approval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// For what was asked, once.
    #[default]
    Once,
    /// For the same tool on the same element of the same application, until the session ends.
    Session,
}

/// A plan to follow step by step, without a HostAgent that decides what is next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowerPlan {
    /// The application or document to work in; none to let the HostAgent choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The steps, in order; each is a sub-task of the same AppAgent.
    pub steps: Vec<String>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "came", rename_all = "snake_case")]
pub enum Event {
    /// The user's next request.
    Requested {
        /// In their words.
        text: String,
        /// The steps to follow, for a request that comes with a plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<FollowerPlan>,
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
    Approved {
        /// For how long.
        #[serde(default)]
        scope: ApprovalScope,
    },
    /// The parked action was rejected.
    Rejected {
        /// What to do instead; none for just no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
    /// What an agent outside of the machine came back with.
    Delegated {
        /// Its report.
        report: AgentReport,
    },
    /// The outcome was received.
    Acknowledged,
    /// The round was stopped. Names no effect and can come at any time.
    Stopped {
        /// Why.
        reason: StopReason,
    },
    /// The session goes on after its process had ended; a runtime sends it before it performs anything. It names the
    /// effect that had been begun and has no answer, where there is one: a call or delegation is then taken as
    /// returned with an unknown effect. What is wanted afterwards is performed, under its own number. A session that
    /// had ended waits for another request.
    Resumed {
        /// Whether the desktop is the same as before. If not, all its windows are gone.
        desktop_kept: bool,
    },
}

impl Event {
    /// Whether it answers no effect and can come at any time.
    pub const fn is_unasked(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }
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

/// An event that answers the wanted effect, as the machine hands it to who is at work.
pub(super) struct Came {
    /// The effect that it answers.
    pub(super) answers: EffectId,
    /// What came.
    pub(super) event: Event,
}
