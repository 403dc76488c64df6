//! What a kind of agent is: a name, an introduction, where its agents live, and how one is opened.

use std::{path::PathBuf, pin::Pin, sync::Arc};

use deskhand_core::{
    agent::{AgentHome, AgentReport},
    command::{CallResult, Command},
};

/// An agent that could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("open the agent `{agent}`: {problem}")]
pub struct AgentError {
    /// Its name.
    pub agent: String,
    /// What is in the way.
    pub problem: String,
}

/// What an agent is opened with.
#[derive(Debug, Clone)]
pub struct AgentSetup {
    /// A folder of its own beside the journal, for logs and scratch files. It exists.
    pub folder: PathBuf,
}

/// A kind of agent. It is registered under its name and looked up by it; core needs none of its code.
pub trait AgentKind: Send + Sync + 'static {
    /// Its name: lower-case letters, digits, `-` and `_`.
    fn name(&self) -> &str;

    /// What it is good for, in a sentence or two that the HostAgent reads when it chooses a target.
    fn introduction(&self) -> String;

    /// Where its agents live: statuses, prompts and tools for one whose steps the session drives.
    fn home(&self) -> AgentHome;

    /// Opens an agent for one session.
    ///
    /// # Errors
    /// [`AgentError`] when there cannot be one here and now; the session then does not begin.
    fn open(&self, setup: AgentSetup) -> impl Future<Output = Result<OpenAgent, AgentError>> + Send;
}

/// What an agent has before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
    /// In words, for the model; empty where there is nothing to see.
    pub text: String,
    /// As it looks, as a PNG file. Taken only where pictures are wanted.
    pub png: Option<Vec<u8>>,
}

/// An agent whose steps the session drives.
pub trait StepsAgent: Send + Sync + 'static {
    /// What it has before it now; `picture` says whether the model is shown pictures.
    ///
    /// # Errors
    /// Why nothing can be seen. The sub-task fails when that lasts.
    fn look(&self, picture: bool) -> impl Future<Output = Result<Sight, String>> + Send;

    /// Runs a command of one of its tools. Dropped when the session is stopped: what it began must end then.
    fn call(&self, command: &Command) -> impl Future<Output = CallResult> + Send;

    /// Ends what it holds. The session is over.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// A sub-task for an agent that lives elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The sub-task.
    pub subtask: String,
    /// What the agent should know.
    pub message: Vec<String>,
    /// The request of which the sub-task is a part.
    pub request: String,
}

/// An agent that is handed a sub-task and reports what came of it.
pub trait DelegateAgent: Send + Sync + 'static {
    /// Works on a sub-task. Dropped when the session is stopped: what it began must end then.
    fn work(&self, assignment: Assignment) -> impl Future<Output = AgentReport> + Send;

    /// Ends what it holds. The session is over.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// An agent that is open.
#[derive(Clone)]
pub struct OpenAgent {
    /// What it says of itself, where that is more than its kind knows.
    pub(super) introduction: Option<String>,
    pub(super) body: Body,
}

impl OpenAgent {
    /// An agent whose steps the session drives.
    pub fn steps(agent: impl StepsAgent) -> Self {
        Self { introduction: None, body: Body::Steps(Arc::new(agent)) }
    }

    /// An agent that works elsewhere.
    pub fn delegate(agent: impl DelegateAgent) -> Self {
        Self { introduction: None, body: Body::Delegate(Arc::new(agent)) }
    }

    /// With an introduction of its own.
    #[must_use]
    pub fn introduced(mut self, introduction: String) -> Self {
        self.introduction = Some(introduction);
        self
    }
}

#[derive(Clone)]
pub(super) enum Body {
    Steps(Arc<dyn AnySteps>),
    Delegate(Arc<dyn AnyDelegate>),
}

pub(super) type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`AgentKind`] behind a pointer.
pub(super) trait AnyKind: Send + Sync {
    fn name(&self) -> &str;
    fn introduction(&self) -> String;
    fn home(&self) -> AgentHome;
    fn open(&self, setup: AgentSetup) -> Doing<'_, Result<OpenAgent, AgentError>>;
}

impl<K: AgentKind> AnyKind for K {
    fn name(&self) -> &str {
        AgentKind::name(self)
    }

    fn introduction(&self) -> String {
        AgentKind::introduction(self)
    }

    fn home(&self) -> AgentHome {
        AgentKind::home(self)
    }

    fn open(&self, setup: AgentSetup) -> Doing<'_, Result<OpenAgent, AgentError>> {
        Box::pin(AgentKind::open(self, setup))
    }
}

/// [`StepsAgent`] behind a pointer.
pub(super) trait AnySteps: Send + Sync {
    fn look(&self, picture: bool) -> Doing<'_, Result<Sight, String>>;
    fn call<'a>(&'a self, command: &'a Command) -> Doing<'a, CallResult>;
    fn close(&self) -> Doing<'_, ()>;
}

impl<A: StepsAgent> AnySteps for A {
    fn look(&self, picture: bool) -> Doing<'_, Result<Sight, String>> {
        Box::pin(StepsAgent::look(self, picture))
    }

    fn call<'a>(&'a self, command: &'a Command) -> Doing<'a, CallResult> {
        Box::pin(StepsAgent::call(self, command))
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(StepsAgent::close(self))
    }
}

/// [`DelegateAgent`] behind a pointer.
pub(super) trait AnyDelegate: Send + Sync {
    fn work(&self, assignment: Assignment) -> Doing<'_, AgentReport>;
    fn close(&self) -> Doing<'_, ()>;
}

impl<A: DelegateAgent> AnyDelegate for A {
    fn work(&self, assignment: Assignment) -> Doing<'_, AgentReport> {
        Box::pin(DelegateAgent::work(self, assignment))
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(DelegateAgent::close(self))
    }
}
