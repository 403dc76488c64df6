//! Agents in processes of their own: started by a command, spoken to over the Model Context Protocol on their
//! standard streams.
//!
//! Such a program is an MCP server with one tool, [`WORK`]: arguments `subtask` (text), `message` (list of text) and
//! `request` (text), structured result `{"status": "finished" | "failed" | "rejected", "result": text}`. Anything
//! else that it does, and everything that happens to it, ends in a report too; none of that is a success.

mod connection;
mod contract;
mod kind;

pub use contract::WORK;
pub use kind::{McpKind, McpSettings};
