//! The agent kind of an MCP server, and its agent.

use std::path::PathBuf;

use deskhand_core::{
    agent::{AgentHome, AgentReport},
    session::SubtaskStatus,
};
use tokio::sync::Mutex;

use super::{
    connection::Connection,
    contract::{report, request},
    settings::McpSettings,
};
use crate::agents::{AgentError, AgentKind, AgentSetup, Assignment, DelegateAgent, OpenAgent};

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
        let program = self.settings.command.join(" ");
        let failed = |problem: String| AgentError {
            agent: self.settings.name.clone(),
            problem: format!("could not {problem} (its program is `{program}`)"),
        };
        let (connection, own) = opened.map_err(failed)?;
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
