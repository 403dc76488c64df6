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

/// What came back. `O` is how an observation is represented: whole, or as a journal stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "came", rename_all = "snake_case")]
pub enum Event<O = Observation> {
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
        observation: O,
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

impl<O> Event<O> {
    /// Whether it answers no effect and can come at any time.
    pub const fn is_unasked(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }

    /// The same event with its observation represented otherwise, if it has one.
    ///
    /// # Errors
    /// What `convert` returns.
    pub fn try_map_observation<P, E>(self, convert: impl FnOnce(O) -> Result<P, E>) -> Result<Event<P>, E> {
        Ok(match self {
            Self::Observed { observation } => Event::Observed { observation: convert(observation)? },
            Self::Requested { text, plan } => Event::Requested { text, plan },
            Self::Ended => Event::Ended,
            Self::ObserveFailed { failure } => Event::ObserveFailed { failure },
            Self::Replied { reply } => Event::Replied { reply },
            Self::ModelFailed { failure } => Event::ModelFailed { failure },
            Self::Returned { result } => Event::Returned { result },
            Self::Answered { answers } => Event::Answered { answers },
            Self::Unanswered { why } => Event::Unanswered { why },
            Self::Approved { scope } => Event::Approved { scope },
            Self::Rejected { instruction } => Event::Rejected { instruction },
            Self::Delegated { report } => Event::Delegated { report },
            Self::Acknowledged => Event::Acknowledged,
            Self::Stopped { reason } => Event::Stopped { reason },
            Self::Resumed { desktop_kept } => Event::Resumed { desktop_kept },
        })
    }
}

/// An event with its time and the effect that it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord<O = Observation> {
    /// The effect that it answers; none for events that answer nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectId>,
    /// When it came, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What came.
    pub event: Event<O>,
}

/// An event that answers the wanted effect, as the machine hands it to who is at work.
pub(super) struct Came {
    /// The effect that it answers.
    pub(super) answers: EffectId,
    /// What came.
    pub(super) event: Event,
}
