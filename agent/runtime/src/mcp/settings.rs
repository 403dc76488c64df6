//! Settings of MCP servers.

use std::{path::PathBuf, time::Duration};

use deskhand_http::HttpCredential;
use reqwest::Url;

use crate::programs::sandbox::SandboxSettings;

/// Connection settings of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerSettings {
    /// Its name, for messages.
    pub name: String,
    /// The way to it.
    pub transport: McpTransport,
    /// Maximum time for the server to start and to list its tools and resources.
    pub start_timeout: Duration,
}

/// The way to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that is started and speaks on stdio.
    Program(ProgramSettings),
    /// A server that runs elsewhere.
    Http(HttpSettings),
}

/// A server that is a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The working directory; `None` for a private one per session.
    pub folder: Option<PathBuf>,
    /// The sandbox of the program.
    pub sandbox: SandboxSettings,
    /// Additional variables that it inherits.
    pub environment: Vec<String>,
    /// Variables that it gets, with their values: tokens of services. Their values are shown nowhere.
    pub variables: Vec<(String, HttpCredential)>,
}

/// A server over streamable HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// Its address.
    pub url: Url,
    /// The bearer token that every request carries.
    pub token: Option<HttpCredential>,
    /// More headers of every request.
    pub headers: Vec<(String, HttpCredential)>,
}

impl McpTransport {
    /// The program or the address, for messages.
    pub fn described(&self) -> String {
        match self {
            Self::Program(program) => format!("`{}`", program.command.join(" ")),
            Self::Http(http) => http.url.to_string(),
        }
    }
}
