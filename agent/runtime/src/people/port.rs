//! The port to the user.

use std::time::Duration;

use deskhand_machine::{
    agent::AgentRef,
    reply::UserQuestion,
    session::{ApprovalScope, AskedBy, FollowerPlan, PlannedAction, WORDS_CHARS_MAX},
};
use deskhand_ui::ids::EffectId;
use futures_util::future::BoxFuture;

/// A request of the user.
#[derive(Debug, Clone, PartialEq)]
pub struct UserRequest {
    /// The request in the user's words.
    pub text: String,
    /// The steps to follow, if given.
    pub plan: Option<FollowerPlan>,
}

impl From<String> for UserRequest {
    fn from(text: String) -> Self {
        Self { text, plan: None }
    }
}

impl From<&str> for UserRequest {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Why words of the user cannot be taken in; `None` if they can.
pub fn words_problem(text: &str) -> Option<String> {
    let count = text.chars().count();
    match () {
        () if text.trim().is_empty() => Some("nothing is said: the text is empty".to_owned()),
        () if count > WORDS_CHARS_MAX => {
            Some(format!("not said: {count} characters are more than {WORDS_CHARS_MAX}"))
        }
        () => None,
    }
}

/// Questions of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRequest {
    /// The effect that asks.
    pub id: EffectId,
    /// The questions, in order.
    pub questions: Vec<UserQuestion>,
    /// The timeout; `None` for none.
    pub timeout: Option<Duration>,
}

/// A parked action that needs approval.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The effect that asks.
    pub id: EffectId,
    /// The agent that proposes it.
    pub agent: AgentRef,
    /// The proposed actions, in order.
    pub actions: Vec<PlannedAction>,
    /// The reason for the action, or for asking.
    pub reason: String,
    /// Who requires the approval.
    pub asked_by: AskedBy,
    /// The actions that an approval for the session covers.
    pub covers: Vec<String>,
    /// The timeout; `None` for none.
    pub timeout: Option<Duration>,
}

/// The result of asking questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionReply {
    /// The answers, in the order of the questions; empty if left open.
    Answers(Vec<String>),
    /// There is no user.
    Nobody,
}

/// The result of asking for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalReply {
    /// Approved.
    Approved(ApprovalScope),
    /// Rejected, optionally with an instruction.
    Rejected(Option<String>),
    /// Not approved, with a message for whoever proposed it. These are not words of the user: it may quote what was proposed.
    Refused(String),
    /// There is no user.
    Nobody,
}

/// Tells the user that the session was paused, taken over, or goes on; the journal records only hand-overs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PauseNotice {
    /// The session is paused.
    Paused {
        /// The effect that it is paused before: `look`, `ask the model`, `click_element`.
        before: String,
    },
    /// The session was resumed.
    Resumed,
    /// A person has mouse and keyboard.
    TakenOver {
        /// The effect that the session stopped before, which is dropped if it was decided on what was seen before.
        before: String,
        /// `true` if the person's input is watched from now on.
        watched: bool,
    },
    /// They have handed back.
    HandedBack,
}

/// A channel to the user. A timeout or the stop switch may drop its futures at any time; dropping a prompt withdraws
/// it.
pub trait UserChannel: Send + Sync {
    /// The next request; `None` if there are no more.
    fn next_request(&self) -> impl Future<Output = Option<UserRequest>> + Send;

    /// Asks the user.
    fn ask(&self, questions: &QuestionRequest) -> impl Future<Output = QuestionReply> + Send;

    /// Asks the user to approve a parked action.
    fn decide(&self, request: &ApprovalRequest) -> impl Future<Output = ApprovalReply> + Send;

    /// Sends a notice to the user.
    fn notify(&self, notice: PauseNotice) -> impl Future<Output = ()> + Send;

    /// Returns `true` if there is no user, now or later.
    fn is_nobody(&self) -> bool {
        false
    }

    /// The next words that the user says of their own accord. Dropping the future loses none. Never completes for a user who only
    /// answers.
    fn heard(&self) -> impl Future<Output = String> + Send {
        std::future::pending()
    }
}

/// [`UserChannel`] as a trait object.
pub trait AnyUserChannel: Send + Sync {
    /// See [`UserChannel::next_request`].
    fn next_request_boxed(&self) -> BoxFuture<'_, Option<UserRequest>>;

    /// See [`UserChannel::ask`].
    fn ask_boxed<'a>(&'a self, questions: &'a QuestionRequest) -> BoxFuture<'a, QuestionReply>;

    /// See [`UserChannel::decide`].
    fn decide_boxed<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply>;

    /// See [`UserChannel::notify`].
    fn notify_boxed(&self, notice: PauseNotice) -> BoxFuture<'_, ()>;

    /// See [`UserChannel::is_nobody`].
    fn is_nobody_boxed(&self) -> bool;

    /// See [`UserChannel::heard`].
    fn heard_boxed(&self) -> BoxFuture<'_, String>;
}

impl<C: UserChannel> AnyUserChannel for C {
    fn next_request_boxed(&self) -> BoxFuture<'_, Option<UserRequest>> {
        Box::pin(self.next_request())
    }

    fn ask_boxed<'a>(&'a self, questions: &'a QuestionRequest) -> BoxFuture<'a, QuestionReply> {
        Box::pin(self.ask(questions))
    }

    fn decide_boxed<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
        Box::pin(self.decide(request))
    }

    fn notify_boxed(&self, notice: PauseNotice) -> BoxFuture<'_, ()> {
        Box::pin(self.notify(notice))
    }

    fn is_nobody_boxed(&self) -> bool {
        self.is_nobody()
    }

    fn heard_boxed(&self) -> BoxFuture<'_, String> {
        Box::pin(self.heard())
    }
}

/// No user: no further requests, answers or decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nobody;

impl UserChannel for Nobody {
    async fn next_request(&self) -> Option<UserRequest> {
        None
    }

    async fn ask(&self, _: &QuestionRequest) -> QuestionReply {
        QuestionReply::Nobody
    }

    async fn decide(&self, _: &ApprovalRequest) -> ApprovalReply {
        ApprovalReply::Nobody
    }

    async fn notify(&self, _: PauseNotice) {}

    fn is_nobody(&self) -> bool {
        true
    }
}
