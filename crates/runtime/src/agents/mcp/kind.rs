//! The agent kind of an MCP server, and its agent.

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

/// Settings of an MCP agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSettings {
    /// The agent's name.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it does; `None` for the server's own introduction.
    pub introduction: Option<String>,
    /// The working directory; `None` for a private one per session.
    pub folder: Option<PathBuf>,
    /// Additional variables that it inherits.
    pub environment: Vec<String>,
    /// The timeout for its start.
    pub start_timeout: Duration,
    /// The timeout for one sub-task.
    pub subtask_timeout: Duration,
}

impl McpSettings {
    /// Default settings for a name and a command.
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

/// An agent started by a command.
#[derive(Debug, Clone)]
pub struct McpKind {
    settings: McpSettings,
}

impl McpKind {
    /// Creates the kind with these settings.
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
            format!("Started by `{}`; introduces itself when opened.", self.settings.command.join(" "))
        })
    }

    fn home(&self) -> AgentHome {
        AgentHome::Delegate
    }

    async fn open(&self, setup: AgentSetup) -> Result<OpenAgent, AgentError> {
        let opened = Connection::open(&self.settings, &setup.folder).await;
        let (connection, own) =
            opened.map_err(|problem| AgentError { agent: self.settings.name.clone(), problem })?;
        let introduction = self.settings.introduction.clone().unwrap_or(own);
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
    /// Taken out while it works: dropping the work drops the process too, and the next sub-task starts another.
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
