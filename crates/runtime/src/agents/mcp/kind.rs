//! The kind of an agent in a process of its own, and that agent.

use std::{path::PathBuf, time::Duration};

use deskhand_core::{
    agent::{AgentHome, AgentReport},
    session::SubtaskStatus,
};
use tokio::sync::Mutex;

use super::{
    connection::Connection,
    contract::{report, request},
};
use crate::agents::{AgentError, AgentKind, AgentSetup, Assignment, DelegateAgent, OpenAgent};

/// What such an agent is run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSettings {
    /// Its name.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it is good for; without it, what the program says of itself.
    pub introduction: Option<String>,
    /// The folder that it runs in; a private one of each session without it.
    pub folder: Option<PathBuf>,
    /// Variables of our own environment that it gets beside the usual ones.
    pub environment: Vec<String>,
    /// How long it may take to answer when it is started.
    pub start_timeout: Duration,
    /// How long it may take for one sub-task.
    pub subtask_timeout: Duration,
}

impl McpSettings {
    /// An agent of that name behind a command, with the usual bounds.
    pub fn new(name: impl Into<String>, command: Vec<String>) -> Self {
        Self {
            name: name.into(),
            command,
            introduction: None,
            folder: None,
            environment: Vec::new(),
            start_timeout: Duration::from_secs(20),
            subtask_timeout: Duration::from_secs(600),
        }
    }
}

/// An agent that is started by a command.
#[derive(Debug, Clone)]
pub struct McpKind {
    settings: McpSettings,
}

impl McpKind {
    /// With these settings.
    pub fn new(settings: McpSettings) -> Self {
        Self { settings }
    }
}

impl AgentKind for McpKind {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn introduction(&self) -> String {
        self.settings.introduction.clone().unwrap_or_else(|| {
            format!("Started by `{}`; says itself what it is good for.", self.settings.command.join(" "))
        })
    }

    fn home(&self) -> AgentHome {
        AgentHome::Delegate
    }

    async fn open(&self, setup: AgentSetup) -> Result<OpenAgent, AgentError> {
        let opened = Connection::open(&self.settings, &setup.folder).await;
        let (connection, said) =
            opened.map_err(|problem| AgentError { agent: self.settings.name.clone(), problem })?;
        let introduction = self.settings.introduction.clone().unwrap_or(said);
        let agent = McpAgent {
            settings: self.settings.clone(),
            folder: setup.folder,
            connection: Mutex::new(Some(connection)),
        };
        Ok(OpenAgent::delegate(agent).introduced(introduction))
    }
}

struct McpAgent {
    settings: McpSettings,
    folder: PathBuf,
    /// Taken out while it works: when that is given up, the process goes with it, and the next sub-task starts another.
    connection: Mutex<Option<Connection>>,
}

impl DelegateAgent for McpAgent {
    async fn work(&self, assignment: Assignment) -> AgentReport {
        let failed = |result: String| AgentReport { status: SubtaskStatus::Failed, result };
        let kept = self.connection.lock().await.take();
        let alive = kept.and_then(|mut connection| connection.is_alive().then_some(connection));
        let mut connection = match alive {
            Some(connection) => connection,
            None => match Connection::open(&self.settings, &self.folder).await {
                Ok((connection, _)) => connection,
                Err(problem) => {
                    return failed(format!("failed to {problem}; nothing was done"));
                }
            },
        };
        match connection.call(request(&assignment), self.settings.subtask_timeout).await {
            Ok(result) => {
                *self.connection.lock().await = Some(connection);
                report(&result)
            }
            Err(problem) => failed(problem),
        }
    }

    async fn close(&self) {
        if let Some(connection) = self.connection.lock().await.take() {
            connection.close().await;
        }
    }
}
