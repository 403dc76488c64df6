//! The traits of a kind of agent and of its agents.

use std::{path::PathBuf, sync::Arc};

use deskhand_machine::{
    agent::{AgentHome, AgentReport},
    command::{CallResult, ToolCommand},
};
use futures_util::future::BoxFuture;

/// An agent that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("open agent `{agent}`: {problem}")]
pub struct AgentError {
    /// The agent's name.
    pub agent: String,
    /// The problem.
    pub problem: String,
}

/// Parameters for opening an agent.
#[derive(Debug, Clone)]
pub struct AgentSetup {
    /// The agent's own folder beside the journal, for logs and scratch files. It exists.
    pub folder: PathBuf,
    /// The files that the session was begun with.
    pub documents: Vec<PathBuf>,
}

/// A kind of agent, registered and looked up by name; core needs none of its code.
pub trait AgentKind: Send + Sync + 'static {
    /// The name: lower-case letters, digits, `-` and `_`.
    fn name(&self) -> &str;

    /// Returns one or two sentences that the HostAgent reads when it chooses a target.
    fn introduction(&self) -> String;

    /// Returns the place where its agents run; includes statuses, prompts and tools if the session drives their
    /// steps.
    fn home(&self) -> AgentHome;

    /// Checks if its agents could work on a sub-task now; returns the way, or the reason why not. `None` if only
    /// opening one can tell.
    fn standing(&self) -> impl Future<Output = Option<Result<String, String>>> + Send {
        std::future::ready(None)
    }

    /// Opens an agent for one session.
    ///
    /// # Errors
    /// [`AgentError`] if it cannot be opened; the session does not start then.
    fn open(&self, setup: AgentSetup) -> impl Future<Output = Result<OpenAgent, AgentError>> + Send;
}

/// Observation of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentObservation {
    /// Text for the model; empty if there is nothing to see.
    pub text: String,
    /// A picture as a PNG file, if pictures were requested.
    pub png: Option<Vec<u8>>,
}

/// An agent whose steps the session drives.
pub trait StepsAgent: Send + Sync + 'static {
    /// Observes the current state; `picture` requests a picture.
    ///
    /// # Errors
    /// The reason that nothing can be observed. The sub-task fails if it persists.
    fn observe(&self, picture: bool) -> impl Future<Output = Result<AgentObservation, String>> + Send;

    /// Runs a command with one of its tools. Dropping the future (on stop) must end the work.
    fn call(&self, command: &ToolCommand) -> impl Future<Output = CallResult> + Send;

    /// Releases its resources at the end of the session.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// A sub-task for a delegate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    /// Its number among the sub-tasks of all sessions: letters, digits, `-` and `_`. The same if it is handed over again in a resumed
    /// session.
    pub number: String,
    /// The sub-task.
    pub subtask: String,
    /// Additional information.
    pub message: Vec<String>,
    /// The user's request that the sub-task is part of.
    pub request: String,
    /// Blackboard contents on the sub-task, a paragraph each. Text of users, agents and tools: data, no instructions.
    pub context: Vec<String>,
    /// The files that the session has saved.
    pub saved: Vec<PathBuf>,
}

/// Callback for the messages of an agent.
type Say = dyn Fn(&str) + Send + Sync;

/// Sink for an agent's progress reports on a sub-task. Reports are only shown to people.
#[derive(Clone, Default)]
pub struct DelegateProgress(Option<Arc<Say>>);

impl DelegateProgress {
    /// One that passes on what is said.
    pub fn new(say: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(say)))
    }

    /// Says what is waited for from now on.
    pub fn say(&self, state: &str) {
        if let Some(say) = &self.0 {
            say(state);
        }
    }
}

/// An agent that receives a sub-task and reports its result.
pub trait DelegateAgent: Send + Sync + 'static {
    /// Works on a sub-task. Dropping the future (on stop) must end the work, unless it is on another machine
    /// ([`AgentHome::Machine`]).
    fn work(
        &self,
        assignment: Assignment,
        progress: DelegateProgress,
    ) -> impl Future<Output = AgentReport> + Send;

    /// Ends the work on a sub-task with this number that goes on elsewhere: nobody waits for it any more.
    fn withdraw(&self, number: &str) -> impl Future<Output = ()> + Send {
        let _ = number;
        std::future::ready(())
    }

    /// Releases its resources at the end of the session.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// An open agent.
#[derive(Clone)]
pub struct OpenAgent {
    /// The agent's own introduction, if more specific than its kind's.
    pub(super) introduction: Option<String>,
    pub(super) body: OpenAgentBody,
}

impl OpenAgent {
    /// An agent whose steps the session drives.
    pub fn steps(agent: impl StepsAgent) -> Self {
        Self { introduction: None, body: OpenAgentBody::Steps(Arc::new(agent)) }
    }

    /// A delegate.
    pub fn delegate(agent: impl DelegateAgent) -> Self {
        Self { introduction: None, body: OpenAgentBody::Delegate(Arc::new(agent)) }
    }

    /// Sets the agent's own introduction.
    #[must_use]
    pub fn introduced(mut self, introduction: String) -> Self {
        self.introduction = Some(introduction);
        self
    }
}

#[derive(Clone)]
pub(super) enum OpenAgentBody {
    Steps(Arc<dyn AnySteps>),
    Delegate(Arc<dyn AnyDelegate>),
}

/// [`AgentKind`] as a trait object.
pub(super) trait AnyKind: Send + Sync {
    fn name(&self) -> &str;
    fn introduction(&self) -> String;
    fn home(&self) -> AgentHome;
    fn standing(&self) -> BoxFuture<'_, Option<Result<String, String>>>;
    fn open(&self, setup: AgentSetup) -> BoxFuture<'_, Result<OpenAgent, AgentError>>;
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

    fn standing(&self) -> BoxFuture<'_, Option<Result<String, String>>> {
        Box::pin(AgentKind::standing(self))
    }

    fn open(&self, setup: AgentSetup) -> BoxFuture<'_, Result<OpenAgent, AgentError>> {
        Box::pin(AgentKind::open(self, setup))
    }
}

/// [`StepsAgent`] as a trait object.
pub(super) trait AnySteps: Send + Sync {
    fn observe(&self, picture: bool) -> BoxFuture<'_, Result<AgentObservation, String>>;
    fn call<'a>(&'a self, command: &'a ToolCommand) -> BoxFuture<'a, CallResult>;
    fn close(&self) -> BoxFuture<'_, ()>;
}

impl<A: StepsAgent> AnySteps for A {
    fn observe(&self, picture: bool) -> BoxFuture<'_, Result<AgentObservation, String>> {
        Box::pin(StepsAgent::observe(self, picture))
    }

    fn call<'a>(&'a self, command: &'a ToolCommand) -> BoxFuture<'a, CallResult> {
        Box::pin(StepsAgent::call(self, command))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(StepsAgent::close(self))
    }
}

/// [`DelegateAgent`] as a trait object.
pub(super) trait AnyDelegate: Send + Sync {
    fn work(&self, assignment: Assignment, progress: DelegateProgress) -> BoxFuture<'_, AgentReport>;
    fn withdraw<'a>(&'a self, number: &'a str) -> BoxFuture<'a, ()>;
    fn close(&self) -> BoxFuture<'_, ()>;
}

impl<A: DelegateAgent> AnyDelegate for A {
    fn work(&self, assignment: Assignment, progress: DelegateProgress) -> BoxFuture<'_, AgentReport> {
        Box::pin(DelegateAgent::work(self, assignment, progress))
    }

    fn withdraw<'a>(&'a self, number: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(DelegateAgent::withdraw(self, number))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(DelegateAgent::close(self))
    }
}
