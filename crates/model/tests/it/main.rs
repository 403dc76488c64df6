#![cfg(test)]
//! Models against a mock endpoint on the loopback interface, and scripts against prompts.

mod chat;
mod endpoint_failures;
mod script;
mod script_reference;
mod wires;

use deskhand_core::{
    agent::AgentRef,
    model::{Message, ModelRequest, ReplyKind, Speaker},
};
use serde_json::json;

/// A request from an AppAgent.
fn request(prompt: &str) -> ModelRequest {
    ModelRequest {
        agent: AgentRef::from_name("AppAgent/libreoffice"),
        messages: vec![
            Message::text(Speaker::System, "Answer in JSON. Example: [e999] push button \"Finish\""),
            Message::text(Speaker::User, prompt),
        ],
        reply: ReplyKind::AppAgent,
        schema: json!({
            "type": "object",
            "properties": {"status": {"type": "string"}},
            "required": ["status"],
            "additionalProperties": false,
        }),
        completion_tokens_max: 500,
        attempts_max: u32::MAX,
    }
}
