#![cfg(test)]
//! Models against a mock endpoint on the loopback interface, and scripts against prompts.

mod cassettes;
mod chat;
mod endpoint_failures;
mod operators;
mod script;
mod script_reference;
mod team;
mod waiting;
mod wires;

use deskhand_machine::{
    agent::AgentRef,
    model::{MessagePart, ModelMessage, ModelRequest, ReplyKind, Speaker},
};
use deskhand_model::{PictureError, PictureSource};
use deskhand_ui::{PictureRef, geometry::Rect};
use serde_json::json;

/// A request from an AppAgent.
fn request(prompt: &str) -> ModelRequest {
    ModelRequest {
        agent: AgentRef::from_name("AppAgent/libreoffice"),
        messages: vec![
            ModelMessage::text(Speaker::System, "Answer in JSON. Example: [e999] push button \"Finish\""),
            ModelMessage::text(Speaker::User, prompt),
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
        models: Vec::new(),
    }
}

/// The file of the only picture.
struct OnePicture;

impl PictureSource for OnePicture {
    fn file(&self, picture: &PictureRef) -> Result<Vec<u8>, PictureError> {
        assert_eq!(picture.sha256, "abc");
        Ok(vec![1, 2, 3])
    }
}

/// A message of the user with that picture.
fn looking() -> ModelMessage {
    let picture = PictureRef {
        sha256: "abc".to_owned(),
        media_type: "image/png".to_owned(),
        width: 1,
        height: 1,
        region: Rect::new(0, 0, 1, 1),
    };
    ModelMessage {
        speaker: Speaker::User,
        parts: vec![MessagePart::Text { text: "look".to_owned() }, MessagePart::Picture { picture }],
    }
}
