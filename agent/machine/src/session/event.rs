//! The events from outside.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::password::{DisclosedText, TypedPassword};
use crate::{
    agent::AgentReport,
    command::CallResult,
    model::{ModelFailure, ModelReply},
    observation::{Observation, ObserveFailure},
    provenance::Provenance,
    retrieval::Hit,
    workflow::WorkflowRun,
};
use deskhand_ui::{PictureRef, ids::EffectId};

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// There is no channel to the user, or questions are disabled.
    NoChannel,
    /// The user did not answer in time.
    TimedOut,
}

/// Why a round was stopped from outside; later reasons outrank earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The wall time of the round is exhausted.
    WallTime,
    /// The user asked to stop.
    User,
    /// The process received a termination signal.
    Signal,
}

/// Why a session was suspended: its round is not over, and a resumed session goes on with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Suspension {
    /// The process was told to end: by a signal, or because its terminal was closed.
    Signal,
    /// The model did not answer.
    Model {
        /// The failure.
        failure: ModelFailure,
    },
    /// Another machine has the session, or may have it: nothing more is done here.
    Elsewhere,
}

impl fmt::Display for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal => f.write_str("the process was told to end"),
            Self::Model { failure } => write!(f, "the model call failed: {failure}"),
            Self::Elsewhere => f.write_str("another machine may have the session now"),
        }
    }
}

/// Duration of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// Once, for these commands.
    #[default]
    Once,
    /// For the same tool with the same arguments on the same element of the same application, until the session ends.
    Session,
}

/// A plan to follow step by step, without decisions of a HostAgent, or a workflow, without decisions of any model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FollowerPlan {
    /// Application or document to work in; `None` to let the HostAgent choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The steps, in order; each is a sub-task of the same AppAgent.
    #[serde(default)]
    pub steps: Vec<String>,
    /// A workflow, in place of steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Box<WorkflowRun>>,
    /// Who made the file that the request and the steps come from.
    #[serde(default)]
    pub provenance: Provenance,
}

impl FollowerPlan {
    /// Creates the plan of a mere request, which only states who made its file.
    pub fn of_file(provenance: Provenance) -> Self {
        Self { provenance, ..Self::default() }
    }

    /// Who made what it says.
    pub fn made_by(&self) -> Provenance {
        self.workflow.as_ref().map_or(self.provenance, |run| run.provenance)
    }

    /// Returns `true` if it only says who made the request.
    pub(super) fn is_request_alone(&self) -> bool {
        let Self { object, steps, workflow, provenance } = self;
        object.is_none() && steps.is_empty() && workflow.is_none() && !provenance.is_users()
    }
}

/// An event. `O` is the representation of observations: full, or as a journal stores them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "came", rename_all = "snake_case")]
pub enum SessionEvent<O = Observation> {
    /// The user's next request.
    Requested {
        /// The user's words.
        text: String,
        /// The plan, for a request that comes with one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<FollowerPlan>,
    },
    /// There are no further requests.
    Ended,
    /// The observation.
    Observed {
        /// The observation.
        observation: O,
    },
    /// The observation failed.
    ObserveFailed {
        /// The failure.
        failure: ObserveFailure,
    },
    /// Similarity of the texts to the wanted one.
    Ranked {
        /// A score for each text, the higher the nearer: the cosine of the angle between the embeddings, in thousandths. Empty if they
        /// could not be computed; then shared words decide.
        scores: Vec<i32>,
    },
    /// Hits of the retrievers.
    Retrieved {
        /// The hits, best first.
        hits: Vec<Hit>,
        /// Why others found nothing, such as a server that does not answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        problems: Vec<String>,
    },
    /// The model's reply.
    Replied {
        /// The reply, with dots in place of passwords.
        reply: ModelReply,
        /// The passwords that it is the first to type.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        passwords: Vec<TypedPassword>,
        /// The dots of texts that may be passwords: their field is not known yet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        withheld: Vec<String>,
    },
    /// Another look shows the fields of texts that were withheld.
    Disclosed {
        /// Those that are no passwords.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        texts: Vec<DisclosedText>,
        /// Those that are passwords.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        passwords: Vec<TypedPassword>,
    },
    /// The model call failed.
    ModelFailed {
        /// The failure.
        failure: ModelFailure,
    },
    /// The result of a command.
    Returned {
        /// The result.
        result: CallResult,
    },
    /// The user's answers, in the order of the questions; empty if a question was left open.
    Answered {
        /// The answers.
        answers: Vec<String>,
    },
    /// Nobody answered or decided.
    Unanswered {
        /// The reason.
        why: NoAnswer,
    },
    /// The parked action was approved.
    Approved {
        /// Duration of the approval.
        #[serde(default)]
        scope: ApprovalScope,
    },
    /// The parked action was rejected.
    Rejected {
        /// An instruction what to do instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
        /// `true` if the instruction is a message of this program, which may quote the proposal, and not words of the
        /// user.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_message: bool,
    },
    /// The report of a delegate agent.
    Delegated {
        /// Its report.
        report: AgentReport,
    },
    /// The outcome was received.
    Acknowledged {
        /// Final picture of what the agents saw last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        picture: Option<PictureRef>,
    },
    /// The round was stopped. Answers no effect and can come at any time.
    Stopped {
        /// The reason.
        reason: StopReason,
    },
    /// The process ends, and the round is not over. Answers no effect: the effect in progress stays without an answer. What a
    /// model did not answer is asked again under another number, or the round ends if its budget does not allow that.
    Suspended {
        /// The reason.
        reason: Suspension,
    },
    /// The user said something of their own accord. Answers no effect and can come at any time: a question to a model that is sent
    /// after it has the words.
    Told {
        /// The words.
        text: String,
        /// The effect in progress; `None` between two, when the effect that is next can still change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        during: Option<EffectId>,
    },
    /// A person took over mouse and keyboard. Answers no effect. What was decided on what was seen before is dropped: the agent looks
    /// again before anything else.
    TakenOver {
        /// The effect in progress that is withdrawn: a question or an approval. `None` between two.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        during: Option<EffectId>,
    },
    /// The person handed back. Answers no effect.
    HandedBack {
        /// Actions of the person, a sentence each, without passwords.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        acts: Vec<String>,
        /// Unobserved or unrecorded parts of the work, a sentence each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unwatched: Vec<String>,
        /// Message of the person with the hand-back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The session resumes after its process ended; sent before any effect is performed. It names the effect in progress
    /// without an answer, if there was one: a call or delegation then counts as returned with an unknown effect, and any
    /// other effect is requested again under its own number. An ended session waits for another request.
    Resumed {
        /// `true` if the desktop is the same as before. Otherwise all its windows are gone.
        desktop_kept: bool,
    },
}

impl<O> SessionEvent<O> {
    /// A reply without passwords.
    pub const fn replied(reply: ModelReply) -> Self {
        Self::Replied { reply, passwords: Vec::new(), withheld: Vec::new() }
    }

    /// Returns `true` if it answers no effect and can come at any time.
    pub const fn is_unsolicited(&self) -> bool {
        matches!(
            self,
            Self::Stopped { .. }
                | Self::Suspended { .. }
                | Self::Told { .. }
                | Self::TakenOver { .. }
                | Self::HandedBack { .. }
                | Self::Disclosed { .. }
        )
    }

    /// The outcome was received, without a final picture.
    pub const fn acknowledged() -> Self {
        Self::Acknowledged { picture: None }
    }

    /// Converts the representation of the observation, if it has one.
    ///
    /// # Errors
    /// The error of `convert`.
    pub fn try_map_observation<P, E>(
        self,
        convert: impl FnOnce(O) -> Result<P, E>,
    ) -> Result<SessionEvent<P>, E> {
        Ok(match self {
            Self::Observed { observation } => SessionEvent::Observed { observation: convert(observation)? },
            Self::Requested { text, plan } => SessionEvent::Requested { text, plan },
            Self::Ended => SessionEvent::Ended,
            Self::ObserveFailed { failure } => SessionEvent::ObserveFailed { failure },
            Self::Ranked { scores } => SessionEvent::Ranked { scores },
            Self::Retrieved { hits, problems } => SessionEvent::Retrieved { hits, problems },
            Self::Replied { reply, passwords, withheld } => {
                SessionEvent::Replied { reply, passwords, withheld }
            }
            Self::Disclosed { texts, passwords } => SessionEvent::Disclosed { texts, passwords },
            Self::ModelFailed { failure } => SessionEvent::ModelFailed { failure },
            Self::Returned { result } => SessionEvent::Returned { result },
            Self::Answered { answers } => SessionEvent::Answered { answers },
            Self::Unanswered { why } => SessionEvent::Unanswered { why },
            Self::Approved { scope } => SessionEvent::Approved { scope },
            Self::Rejected { instruction, is_message } => SessionEvent::Rejected { instruction, is_message },
            Self::Delegated { report } => SessionEvent::Delegated { report },
            Self::Acknowledged { picture } => SessionEvent::Acknowledged { picture },
            Self::Stopped { reason } => SessionEvent::Stopped { reason },
            Self::Suspended { reason } => SessionEvent::Suspended { reason },
            Self::Told { text, during } => SessionEvent::Told { text, during },
            Self::TakenOver { during } => SessionEvent::TakenOver { during },
            Self::HandedBack { acts, unwatched, note } => SessionEvent::HandedBack { acts, unwatched, note },
            Self::Resumed { desktop_kept } => SessionEvent::Resumed { desktop_kept },
        })
    }
}

/// An event with its time and the effect that it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord<O = Observation> {
    /// The effect that it answers; `None` for unsolicited events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectId>,
    /// When it came, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// The event.
    pub event: SessionEvent<O>,
}

/// An event that answers the pending effect, dispatched to the agent at work.
pub(super) struct IncomingEvent {
    /// The effect that it answers.
    pub(super) answers: EffectId,
    /// The event.
    pub(super) event: SessionEvent,
}
