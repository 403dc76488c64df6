//! The agent kind of an MCP server, and its agent.

use std::path::{Path, PathBuf};

use deskhand_machine::{
    agent::{AgentHome, AgentReport},
    session::SubtaskStatus,
};
use tokio::sync::Mutex;

use super::{
    contract::{WORK, arguments, report},
    settings::McpSettings,
};
use crate::{
    agents::{AgentError, AgentKind, AgentSetup, Assignment, DelegateAgent, DelegateProgress, OpenAgent},
    mcp::{McpClient, McpError},
};

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
        let opened = open(&self.settings, &setup.folder).await;
        let program = self.settings.command.join(" ");
        let failed = |problem: McpError| AgentError {
            agent: self.settings.name.clone(),
            problem: format!("could not {problem} (its program is `{program}`)"),
        };
        let (client, own) = opened.map_err(failed)?;
        let introduction = self.settings.introduction.clone().unwrap_or(own);
        let agent = McpAgent {
            settings: self.settings.clone(),
            folder: setup.folder,
            client: Mutex::new(Some(client)),
        };
        Ok(OpenAgent::delegate(agent).introduced(introduction))
    }
}

/// Starts the server and checks that it offers the tool; returns its introduction.
async fn open(settings: &McpSettings, folder: &Path) -> Result<(McpClient, String), McpError> {
    let client = McpClient::open(&settings.server(), folder).await?;
    let (tools, _) = client.tools(settings.start_timeout).await?;
    let Some(tool) = tools.iter().find(|tool| tool.name == WORK) else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let offered = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(McpError::Start(format!("find its tool `{WORK}`; it offers: {offered}")));
    };
    let introduction = client.instructions().unwrap_or_else(|| tool.description.clone());
    Ok((client, introduction))
}

struct McpAgent {
    settings: McpSettings,
    folder: PathBuf,
    /// Taken out while it works: dropping the work drops the process too, and the next sub-task starts another.
    client: Mutex<Option<McpClient>>,
}

impl DelegateAgent for McpAgent {
    async fn work(&self, assignment: Assignment, _: DelegateProgress) -> AgentReport {
        let failed = |result: String| AgentReport { status: SubtaskStatus::Failed, result };
        let kept = self.client.lock().await.take();
        let alive = kept.and_then(|mut client| client.is_alive().then_some(client));
        let mut client = match alive {
            Some(client) => client,
            None => match open(&self.settings, &self.folder).await {
                Ok((client, _)) => client,
                Err(problem) => return failed(format!("failed to {problem}; nothing was done")),
            },
        };
        match client.call(WORK, arguments(&assignment), self.settings.subtask_timeout).await {
            Ok(answer) => {
                *self.client.lock().await = Some(client);
                report(&answer)
            }
            // Dropping the client ends the process.
            Err(problem) => failed(format!("the agent failed to {problem}")),
        }
    }

    async fn close(&self) {
        if let Some(client) = self.client.lock().await.take() {
            client.close().await;
        }
    }
}
