//! Requests of mock endpoints as the requests that a model gets.

use deskhand_machine::{
    agent::AgentRef,
    model::{ModelMessage, ModelRequest, ReplyKind, Speaker},
};
use deskhand_testkit::endpoint::content_text;
use serde_json::Value;

/// Parses the body of a request, without pictures. The protocol does not name the agent, so it is unnamed, and a
/// scripted model does not check the `agent` of its turns.
pub fn model_request(body: &Value) -> ModelRequest {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let format = body.pointer("/response_format/json_schema");
    ModelRequest {
        agent: AgentRef::Unnamed,
        messages: messages.map(message).collect(),
        reply: format
            .and_then(|f| f.get("name"))
            .and_then(Value::as_str)
            .and_then(|name| ReplyKind::ALL.into_iter().find(|kind| kind.schema_name() == name))
            .unwrap_or(ReplyKind::Probe),
        schema: format.and_then(|f| f.get("schema")).cloned().unwrap_or(Value::Null),
        completion_tokens_max: 0,
        attempts_max: u32::MAX,
        models: Vec::new(),
    }
}

fn message(message: &Value) -> ModelMessage {
    let speaker = match message.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Speaker::System,
        Some("assistant") => Speaker::Assistant,
        _ => Speaker::User,
    };
    ModelMessage::text(speaker, content_text(message))
}
