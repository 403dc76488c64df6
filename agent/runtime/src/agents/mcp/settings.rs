//! Settings of an agent over MCP.

use std::{path::PathBuf, time::Duration};

use crate::{
    mcp::{McpServerSettings, McpTransport, ProgramSettings},
    programs::sandbox::SandboxSettings,
};

/// Settings of an MCP agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSettings {
    /// The agent's name.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Description of the agent; `None` for the server's own introduction.
    pub introduction: Option<String>,
    /// The working directory; `None` for a private one per session.
    pub folder: Option<PathBuf>,
    /// Confinement of the agent.
    pub sandbox: SandboxSettings,
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
            sandbox: SandboxSettings::default(),
            environment: Vec::new(),
            start_timeout: Duration::from_secs(20),
            subtask_timeout: Duration::from_secs(600),
        }
    }
}

impl McpSettings {
    /// Returns the settings by which its server is started.
    pub(super) fn server(&self) -> McpServerSettings {
        McpServerSettings {
            name: self.name.clone(),
            transport: McpTransport::Program(ProgramSettings {
                command: self.command.clone(),
                folder: self.folder.clone(),
                sandbox: self.sandbox.clone(),
                environment: self.environment.clone(),
                variables: Vec::new(),
            }),
            start_timeout: self.start_timeout,
        }
    }
}
