//! Agents in separate processes, started by a command and connected over the Model Context Protocol on stdio.
//!
//! Such a program is an MCP server with one tool, [`WORK`]: arguments `subtask` (text), `message` (list of text) and
//! `request` (text), structured result `{"status": "finished" | "failed" | "rejected", "result": text}`. Any other
//! result, and any failure, is reported as a failed sub-task.

mod contract;
mod kind;
mod settings;

pub use contract::WORK;
pub use kind::McpKind;
pub use settings::McpSettings;
