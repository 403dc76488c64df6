//! What a session consists of: rounds, steps, and what happened between them.

use deskhand_core::{
    agent::{AgentRef, AgentReport},
    command::{CallResult, Command},
    ids::AgentId,
    model::{Message, ModelFailure, ModelReply, ReplyKind},
    money::Money,
    observation::{Observation, ObserveFailure},
    outcome::Outcome,
    reply::{Question, Reply, ReplyError},
    session::{Approval, ApprovalScope, NoAnswer, StepRef, StopReason},
};

use super::{Decision, PhaseTimes, Target};

/// What a line of the journal brings.
#[derive(Debug)]
pub enum Update {
    /// Something to show at once.
    Moment(Box<Moment>),
    /// A part of the session that is complete.
    Chapter(Chapter),
}

impl Update {
    pub(super) fn moment(moment: Moment) -> Self {
        Self::Moment(Box::new(moment))
    }
}

/// Something that happened just now, within a step or between two.
#[derive(Debug)]
pub enum Moment {
    /// The session was opened; [`super::Story::header`] holds its header.
    Opened,
    /// An agent begins to work on a sub-task.
    Assigned(StepRef),
    /// The work on a sub-task ended. `None` where its agent did not say how.
    SubtaskEnded {
        /// The sub-task.
        subtask: String,
        /// How its agent says that it ended.
        end: Option<SubtaskEnd>,
    },
    /// An agent looked; [`super::Story::observation`] holds what it saw.
    Looked,
    /// The model replied.
    Replied {
        /// The step.
        step: StepRef,
        /// The reply as it came.
        reply: ModelReply,
        /// What it says; why it cannot be used.
        said: Result<Reply, ReplyError>,
    },
    /// The model gave no reply.
    ModelFailed(ModelFailure),
    /// A command came back.
    Acted {
        /// The step.
        step: StepRef,
        /// What was asked for.
        command: Command,
        /// The control or window it is about.
        target: Option<Target>,
        /// What came back.
        result: CallResult,
    },
    /// An agent that lives elsewhere reported.
    Delegated(AgentReport),
    /// The user is asked.
    Asked(Asked),
    /// What the user said, or that nobody did.
    Heard(Heard),
    /// Something happened to the session as a whole.
    Noted(Note),
}

/// A complete part of a session.
#[derive(Debug)]
pub enum Chapter {
    /// A round begins.
    Begun(Begun),
    /// A step was taken.
    Step(Box<StepStory>),
    /// The user was asked between two steps.
    Talk(Talk),
    /// Something happened to the session as a whole, between two steps.
    Note(Note),
    /// A round ended.
    Ended {
        /// Its number.
        round: u32,
        /// How.
        outcome: Outcome,
    },
}

/// A request of the user.
#[derive(Debug)]
pub struct Begun {
    /// The number of its round, from 1.
    pub round: u32,
    /// In the user's words.
    pub request: String,
    /// The steps of a plan to follow; empty without one.
    pub plan: Vec<String>,
}

/// How an agent says that its sub-task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubtaskEnd {
    /// Whether it is done.
    pub finished: bool,
    /// The result, or why not.
    pub words: String,
}

/// Something to know about a session.
#[derive(Debug, Clone)]
pub enum Note {
    /// From here on it runs with something else.
    Changed {
        /// The model.
        model: String,
        /// The desktop.
        desktop: String,
        /// The program.
        program: String,
    },
    /// Nothing could be seen.
    LookFailed(ObserveFailure),
    /// It was stopped from outside.
    Stopped(StopReason),
    /// Its process had ended, and it was resumed.
    Resumed {
        /// Whether the desktop is the one of before.
        desktop_kept: bool,
    },
}

/// One step with everything that belongs to it.
#[derive(Debug)]
pub struct StepStory {
    /// Its number in the session.
    pub number: u32,
    /// The round.
    pub round: u32,
    /// The agent that took it.
    pub agent: AgentRef,
    /// What it worked on; empty for the HostAgent.
    pub subtask: String,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub began_ms: u64,
    /// How long its phases took.
    pub times: PhaseTimes,
    /// How long it waited for a person, in milliseconds.
    pub waited_ms: u64,
    /// What was seen last.
    pub observation: Option<Observation>,
    /// The questions to the model.
    pub asks: Vec<AskStory>,
    /// What the model's last reply says.
    pub decision: Option<Decision>,
    /// The commands that went out.
    pub acts: Vec<ActStory>,
    /// Approvals that were asked for.
    pub talks: Vec<Talk>,
    /// What else happened.
    pub notes: Vec<Note>,
}

/// The model was asked.
#[derive(Debug)]
pub struct AskStory {
    /// What kind of reply was asked for.
    pub reply: ReplyKind,
    /// The conversation.
    pub messages: Vec<Message>,
    /// What came of it.
    pub came: Came,
    /// What the reply says, in its parts; empty without one.
    pub decision: Decision,
    /// `None` where the price or the number of tokens is not known.
    pub cost: Option<Money>,
}

/// What came of a question to the model.
#[derive(Debug)]
pub enum Came {
    /// A reply.
    Reply(ModelReply),
    /// No reply.
    Failure(ModelFailure),
    /// Nothing: the session was stopped, or its process ended.
    Nothing,
}

/// A command went out, or a sub-task went to another agent.
#[derive(Debug)]
pub struct ActStory {
    /// The command; a delegation is told as the command `delegate`.
    pub command: Command,
    /// The control or window it is about, as it was seen before.
    pub target: Option<Target>,
    /// `None` where the session was stopped, or its process ended, before it came back.
    pub result: Option<CallResult>,
}

/// The user was asked.
#[derive(Debug, Clone)]
pub struct Talk {
    /// The step it belongs to or follows; 0 before the first.
    pub step: u32,
    /// What was asked.
    pub asked: Asked,
    /// What came of it; `None` while it is open, or where the session ended.
    pub heard: Option<Heard>,
    /// How long it was waited for, in milliseconds.
    pub waited_ms: u64,
}

/// What the user is asked.
#[derive(Debug, Clone)]
pub enum Asked {
    /// To answer.
    Questions(Vec<Question>),
    /// To decide about a parked action.
    Approval(Approval),
}

/// What came of asking the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// An answer for each question.
    Answers(Vec<String>),
    /// Nobody answered.
    Nobody(NoAnswer),
    /// The action was approved.
    Approved(ApprovalScope),
    /// The action was rejected, perhaps with an instruction.
    Rejected(Option<String>),
}

/// What a session was doing when its journal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// Waiting for the next request.
    AwaitingRequest,
    /// Looking.
    Looking,
    /// Asking the model.
    AskingModel,
    /// Running this tool.
    Calling(String),
    /// Waiting for the report of this agent.
    Delegating(AgentId),
    /// Waiting for answers.
    AskingUser,
    /// Waiting for an approval.
    AwaitingApproval,
    /// Giving out an outcome.
    Finishing,
}

/// How a journal ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Whether the session came to its end.
    pub complete: bool,
    /// What it was doing; `None` where it is complete, or between two things.
    pub doing: Option<Doing>,
    /// The number of the last line.
    pub seq: u64,
}

impl StepStory {
    /// Begins a step.
    pub(super) fn begin(step: &StepRef, round: u32, at_ms: u64) -> Self {
        Self {
            number: step.number,
            round,
            agent: step.agent.clone(),
            subtask: step.subtask.clone(),
            began_ms: at_ms,
            times: PhaseTimes::default(),
            waited_ms: 0,
            observation: None,
            asks: Vec::new(),
            decision: None,
            acts: Vec::new(),
            talks: Vec::new(),
            notes: Vec::new(),
        }
    }
}
