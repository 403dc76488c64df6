//! Connections to MCP servers: programs on stdio, and servers over streamable HTTP.
//!
//! A server is not trusted. What it sends is bounded in bytes, tools and time, and each failure is one [`McpError`]. Types of the
//! protocol library stay in this folder.
//!
//! - [`settings`]: what a server is started or reached with.
//! - `process`: a server that is a program, from start to exit; `bounded` limits what it may send.
//! - `client`: the session with a server: its tools, calls and resources; `answer` is what comes back.

mod answer;
mod bounded;
mod client;
mod error;
mod http;
mod process;
pub mod settings;

pub use answer::{McpPicture, McpReply};
pub use client::{McpClient, ServerTool};
pub use error::McpError;
pub use settings::{HttpSettings, McpServerSettings, McpTransport, ProgramSettings};
