//! The parts of a session: rounds, steps, and what happened between them.

use deskhand_machine::{
    agent::{AgentRef, AgentReport},
    command::{CallResult, ToolCommand},
    model::{ModelFailure, ModelMessage, ModelReply, ReplyKind},
    money::Money,
    observation::{Observation, ObserveFailure},
    outcome::Outcome,
    reply::{AgentReply, ReplyError, UserQuestion},
    retrieval::Hit,
    session::{Approval, ApprovalScope, NoAnswer, StepRef, StopReason, Suspension},
};
use deskhand_ui::{PictureRef, ids::AgentId};

use super::{CommandTarget, DecisionSummary, PhaseTimes};

/// The result of reading a journal line.
#[derive(Debug)]
pub enum StoryUpdate {
    /// An event to show at once.
    Moment(Box<Moment>),
    /// A completed part of the session.
    Chapter(Chapter),
}

impl StoryUpdate {
    pub(super) fn moment(moment: Moment) -> Self {
        Self::Moment(Box::new(moment))
    }
}

/// An event within a step or between steps.
#[derive(Debug)]
pub enum Moment {
    /// The session was opened; its header is in [`super::Story::header`].
    Opened,
    /// An agent starts a sub-task.
    Assigned(StepRef),
    /// The work on a sub-task ended. `None` if its agent did not report how.
    SubtaskEnded {
        /// The sub-task.
        subtask: String,
        /// The result that its agent reported.
        end: Option<SubtaskEnd>,
    },
    /// An agent observed; the observation is in [`super::Story::observation`].
    Looked,
    /// The model replied.
    Replied {
        /// The step.
        step: StepRef,
        /// The raw reply.
        reply: ModelReply,
        /// The parsed reply, or why it is invalid.
        said: Result<AgentReply, ReplyError>,
    },
    /// The model request failed.
    ModelFailed(ModelFailure),
    /// A command returned.
    Acted {
        /// The step.
        step: StepRef,
        /// The command.
        command: ToolCommand,
        /// Its target control or window.
        target: Option<CommandTarget>,
        /// The result.
        result: CallResult,
    },
    /// A delegate reported.
    Delegated(AgentReport),
    /// The user is asked.
    Asked(UserInquiry),
    /// The user's reply, if any.
    UserReply(UserReply),
    /// A session-level event.
    Noted(SessionNote),
}

/// A completed part of a session.
#[derive(Debug)]
pub enum Chapter {
    /// The start of a round.
    Begun(RoundStart),
    /// A step.
    Step(Box<StepStory>),
    /// A question to the user between steps.
    Talk(Talk),
    /// A session-level event between steps.
    Note(SessionNote),
    /// The end of a round.
    Ended {
        /// The round number.
        round: u32,
        /// The outcome.
        outcome: Outcome,
    },
    /// The state at the end of a round.
    Left {
        /// The round number.
        round: u32,
        /// The picture of it.
        picture: PictureRef,
    },
}

/// A request of the user.
#[derive(Debug)]
pub struct RoundStart {
    /// The round number, from 1.
    pub round: u32,
    /// The request text.
    pub request: String,
    /// The steps of the plan to follow; empty without a plan.
    pub plan: Vec<String>,
}

/// The reported end of an agent's sub-task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubtaskEnd {
    /// `true` if the sub-task succeeded.
    pub finished: bool,
    /// The result, or the reason for failure.
    pub words: String,
}

/// A session-level event.
#[derive(Debug, Clone)]
pub enum SessionNote {
    /// The settings change from here on.
    Changed {
        /// The model.
        model: String,
        /// The desktop.
        desktop: String,
        /// The program.
        program: String,
    },
    /// An observation failed.
    LookFailed(ObserveFailure),
    /// Retrievers found nothing, because they could not look.
    NotRetrieved(Vec<String>),
    /// The session was stopped.
    Stopped(StopReason),
    /// The process ended before the round was over.
    Suspended(Suspension),
    /// The user said this of their own accord.
    Told(String),
    /// A person took over mouse and keyboard.
    TakenOver,
    /// They handed back.
    HandedBack {
        /// The acts of the person, a sentence each.
        acts: Vec<String>,
        /// The acts that could not be watched, a sentence each.
        unwatched: Vec<String>,
        /// The message that the person left with it.
        words: Option<String>,
    },
    /// The session was resumed after its process ended.
    Resumed {
        /// `true` if the desktop was retained.
        desktop_kept: bool,
    },
}

/// One step.
#[derive(Debug)]
pub struct StepStory {
    /// The step number in the session.
    pub number: u32,
    /// The round.
    pub round: u32,
    /// The agent.
    pub agent: AgentRef,
    /// Its sub-task; empty for the HostAgent.
    pub subtask: String,
    /// The start, in milliseconds since 1970-01-01 UTC.
    pub began_ms: u64,
    /// The duration of its phases.
    pub times: PhaseTimes,
    /// The time spent waiting for the user, in milliseconds.
    pub waited_ms: u64,
    /// The hits of retrievers before the step.
    pub found: Vec<Hit>,
    /// The last observation.
    pub observation: Option<Observation>,
    /// The model requests.
    pub asks: Vec<AskStory>,
    /// The last parsed reply.
    pub decision: Option<DecisionSummary>,
    /// The dispatched commands.
    pub acts: Vec<ActStory>,
    /// The requested approvals.
    pub talks: Vec<Talk>,
    /// Other events.
    pub notes: Vec<SessionNote>,
}

/// A model request.
#[derive(Debug)]
pub struct AskStory {
    /// The kind of reply.
    pub reply: ReplyKind,
    /// The conversation.
    pub messages: Vec<ModelMessage>,
    /// The response.
    pub result: AskResult,
    /// The parsed reply; empty if there is none.
    pub decision: DecisionSummary,
    /// `None` if the price or token count is unknown.
    pub cost: Option<Money>,
}

/// The response to a model request.
#[derive(Debug)]
pub enum AskResult {
    /// A reply.
    Reply(ModelReply),
    /// A failure.
    Failure(ModelFailure),
    /// None: the session was stopped or its process ended.
    Nothing,
}

/// A dispatched command, or a delegated sub-task.
#[derive(Debug)]
pub struct ActStory {
    /// The number of the record that asked for it.
    pub record: u64,
    /// The command; a delegation is shown as the command `delegate`.
    pub command: ToolCommand,
    /// The target control or window, as last observed.
    pub target: Option<CommandTarget>,
    /// `None` if the session was stopped or its process ended first.
    pub result: Option<CallResult>,
}

/// A question to the user.
#[derive(Debug, Clone)]
pub struct Talk {
    /// The step that it belongs to or follows; 0 before the first.
    pub step: u32,
    /// The question.
    pub asked: UserInquiry,
    /// The reply; `None` while open, or if the session ended.
    pub reply: Option<UserReply>,
    /// The waiting time, in milliseconds.
    pub waited_ms: u64,
}

/// The input requested from the user.
#[derive(Debug, Clone)]
pub enum UserInquiry {
    /// Answers.
    Questions(Vec<UserQuestion>),
    /// A decision on a parked action.
    Approval(Approval),
}

/// The user's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserReply {
    /// One answer per question.
    Answers(Vec<String>),
    /// No reply.
    Nobody(NoAnswer),
    /// Approval.
    Approved(ApprovalScope),
    /// Rejection, optionally with an instruction.
    Rejected(Option<String>),
}

/// The activity of a session when its journal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionActivity {
    /// Waiting for the next request.
    AwaitingRequest,
    /// Observing.
    Looking,
    /// Asking retrievers.
    LookingUp,
    /// Waiting for the model.
    AskingModel,
    /// Running this tool.
    Calling(String),
    /// Waiting for the report of this agent.
    Delegating(AgentId),
    /// Waiting for answers.
    AskingUser,
    /// Waiting for an approval.
    AwaitingApproval,
    /// Delivering an outcome.
    Finishing,
}

/// The end of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEnd {
    /// `true` if the session ended.
    pub complete: bool,
    /// The activity; `None` if the session ended, or between activities.
    pub doing: Option<SessionActivity>,
    /// The last line number.
    pub seq: u64,
}

impl StepStory {
    /// Starts a step.
    pub(super) fn begin(step: &StepRef, round: u32, at_ms: u64) -> Self {
        Self {
            number: step.number,
            round,
            agent: step.agent.clone(),
            subtask: step.subtask.clone(),
            began_ms: at_ms,
            times: PhaseTimes::default(),
            waited_ms: 0,
            found: Vec::new(),
            observation: None,
            asks: Vec::new(),
            decision: None,
            acts: Vec::new(),
            talks: Vec::new(),
            notes: Vec::new(),
        }
    }
}
