//! Requests to a catalog, its replies, and its changes.

use rmcp::model::{CallToolResult, GetPromptResult, JsonObject, ReadResourceResult};

/// A request whose answer takes work.
#[derive(Debug, Clone, PartialEq)]
pub enum CatalogRequest {
    /// The call of a tool.
    Tool {
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: JsonObject,
    },
    /// A prompt with its arguments filled in.
    Prompt {
        /// The prompt.
        name: String,
        /// Its arguments.
        arguments: JsonObject,
    },
    /// The content of a resource.
    Resource {
        /// Its address.
        uri: String,
    },
}

/// The answer to one.
#[derive(Debug, Clone)]
pub enum CatalogReply {
    /// Of a tool.
    Tool(CallToolResult),
    /// Of a prompt.
    Prompt(GetPromptResult),
    /// Of a resource.
    Resource(ReadResourceResult),
}

/// A change that clients may want to be notified of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogChange {
    /// The list of tools changed.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The list of resources changed.
    Resources,
    /// A resource changed.
    Resource(String),
}
