//! The port to the user: what a session may want of a person, and what a person can say to it.

use std::{pin::Pin, time::Duration};

use deskhand_core::{
    agent::AgentRef,
    ids::EffectId,
    reply::Question,
    session::{ApprovalScope, AskedBy, FollowerPlan, PlannedAction},
};

/// What the user wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// In their words.
    pub text: String,
    /// The steps to follow, where the user gave them.
    pub plan: Option<FollowerPlan>,
}

impl From<String> for Request {
    fn from(text: String) -> Self {
        Self { text, plan: None }
    }
}

impl From<&str> for Request {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Questions that an agent waits with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Questions {
    /// The effect that the answers belong to.
    pub id: EffectId,
    /// The questions, in order.
    pub questions: Vec<Question>,
    /// How long they wait for an answer; none for ever.
    pub timeout: Option<Duration>,
}

/// An action that is parked until a person decides.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The effect that the decision belongs to.
    pub id: EffectId,
    /// The agent that wants it.
    pub agent: AgentRef,
    /// What would be done, in order.
    pub actions: Vec<PlannedAction>,
    /// Why it is to be done, or why it is asked about.
    pub reason: String,
    /// Who wants it to be asked about.
    pub asked_by: AskedBy,
    /// How long it waits for a decision; none for ever.
    pub timeout: Option<Duration>,
}

/// What came of questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// The answers, in the order of the questions; empty for a question left open.
    Answers(Vec<String>),
    /// There is nobody to ask.
    Nobody,
}

/// What came of a decision that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// Do it.
    Approved(ApprovalScope),
    /// Do not; with what to do instead, where the person said so.
    Rejected(Option<String>),
    /// There is nobody to decide.
    Nobody,
}

/// Something that the user should know at once, beside what the journal's lines tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The session holds before what it would do next.
    Paused {
        /// What that is: `look`, `ask the model`, `click_element`.
        before: String,
    },
    /// The session goes on.
    GoesOn,
}

/// A way to the user. All of it can be dropped at any moment, by a time-out or the stop switch; a prompt that was dropped
/// is withdrawn.
pub trait UserChannel: Send + Sync {
    /// The next request; none when there will be no further one.
    fn next_request(&self) -> impl Future<Output = Option<Request>> + Send;

    /// Asks the user.
    fn ask(&self, questions: &Questions) -> impl Future<Output = Answered> + Send;

    /// Asks the user for a decision about a parked action.
    fn decide(&self, request: &ApprovalRequest) -> impl Future<Output = Decided> + Send;

    /// Tells the user.
    fn tell(&self, notice: Notice) -> impl Future<Output = ()> + Send;
}

/// A future behind a pointer.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`UserChannel`] where its type is not known. Every channel is one.
pub trait AnyUserChannel: Send + Sync {
    /// See [`UserChannel::next_request`].
    fn next_request_boxed(&self) -> Boxed<'_, Option<Request>>;

    /// See [`UserChannel::ask`].
    fn ask_boxed<'a>(&'a self, questions: &'a Questions) -> Boxed<'a, Answered>;

    /// See [`UserChannel::decide`].
    fn decide_boxed<'a>(&'a self, request: &'a ApprovalRequest) -> Boxed<'a, Decided>;

    /// See [`UserChannel::tell`].
    fn tell_boxed(&self, notice: Notice) -> Boxed<'_, ()>;
}

impl<C: UserChannel> AnyUserChannel for C {
    fn next_request_boxed(&self) -> Boxed<'_, Option<Request>> {
        Box::pin(self.next_request())
    }

    fn ask_boxed<'a>(&'a self, questions: &'a Questions) -> Boxed<'a, Answered> {
        Box::pin(self.ask(questions))
    }

    fn decide_boxed<'a>(&'a self, request: &'a ApprovalRequest) -> Boxed<'a, Decided> {
        Box::pin(self.decide(request))
    }

    fn tell_boxed(&self, notice: Notice) -> Boxed<'_, ()> {
        Box::pin(self.tell(notice))
    }
}

/// No way to the user: no further requests, no answers, no decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nobody;

impl UserChannel for Nobody {
    async fn next_request(&self) -> Option<Request> {
        None
    }

    async fn ask(&self, _: &Questions) -> Answered {
        Answered::Nobody
    }

    async fn decide(&self, _: &ApprovalRequest) -> Decided {
        Decided::Nobody
    }

    async fn tell(&self, _: Notice) {}
}
