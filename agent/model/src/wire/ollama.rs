//! Ollama's own `/api/chat`. Unlike its imitation of OpenAI's, it takes a schema and the size of the context.

use deskhand_machine::model::Usage;
use serde_json::{Map, Value, json};

use super::{
    CALL, ReasoningEffort, Stop, StructuredOutput, WireMessage, WireMessagePart, WireReply, WireRequest,
    number, text_or_call, word,
};

/// The smallest context that is asked for, in tokens.
const CONTEXT_MIN: usize = 8_192;
/// Tokens of a picture; models differ, and few need more.
const PICTURE_TOKENS: usize = 1_500;

/// The body of a request.
pub(super) fn body(asked: WireRequest<'_>) -> Value {
    let WireRequest { request, said, model, dialect, .. } = asked;
    let mut options = Map::new();
    options.insert("num_predict".to_owned(), json!(request.completion_tokens_max));
    options.insert("num_ctx".to_owned(), json!(context(said, request.completion_tokens_max)));
    if let Some(temperature) = asked.temperature() {
        options.insert("temperature".to_owned(), json!(temperature));
    }
    let messages: Vec<Value> = said.iter().map(message).collect();
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", json!(model));
    put("messages", json!(messages));
    put("stream", json!(dialect.stream));
    put("options", json!(options));
    match asked.reasoning {
        ReasoningEffort::Auto => {}
        ReasoningEffort::Off => put("think", json!(false)),
        ReasoningEffort::Low | ReasoningEffort::Medium | ReasoningEffort::High => put("think", json!(true)),
    }
    match dialect.output {
        StructuredOutput::Schema | StructuredOutput::Auto => put("format", request.schema.clone()),
        StructuredOutput::Object => put("format", json!("json")),
        StructuredOutput::Off => {}
    }
    Value::Object(body)
}

/// The context that a request needs, in tokens: a server cuts off the beginning of what exceeds its own, without a word. A power of
/// two, because it loads the model again for another one.
fn context(said: &[WireMessage], reply_tokens: u32) -> usize {
    let tokens = |piece: &WireMessagePart| match piece {
        WireMessagePart::Text(text) => text.len() / 3,
        WireMessagePart::Picture { .. } => PICTURE_TOKENS,
    };
    let prompt: usize = said.iter().flat_map(|one| &one.parts).map(tokens).sum();
    let needed = prompt.saturating_add(usize::try_from(reply_tokens).unwrap_or(usize::MAX));
    needed.checked_next_power_of_two().unwrap_or(needed).max(CONTEXT_MIN)
}

fn message(said: &WireMessage) -> Value {
    let pictures: Vec<&str> = said
        .parts
        .iter()
        .filter_map(|piece| match piece {
            WireMessagePart::Text(_) => None,
            WireMessagePart::Picture { data, .. } => Some(data.as_str()),
        })
        .collect();
    let mut message = json!({"role": said.speaker.to_string(), "content": said.text()});
    if let (Some(message), false) = (message.as_object_mut(), pictures.is_empty()) {
        message.insert("images".to_owned(), json!(pictures));
    }
    message
}

/// The reply whose parts these are, once it is done.
pub(super) fn gather(parts: &[Value]) -> Option<Value> {
    let last = parts.iter().find(|part| part.get("done") == Some(&Value::Bool(true)))?;
    let of = |field: &str| parts.iter().filter_map(|part| word(part, field)).collect::<String>();
    let calls = parts.iter().find_map(|part| part.pointer("/message/tool_calls"));
    let mut whole = last.clone();
    if let Some(whole) = whole.as_object_mut() {
        whole.insert(
            "message".to_owned(),
            json!({"content": of("/message/content"), "thinking": of("/message/thinking"), "tool_calls": calls}),
        );
    }
    Some(whole)
}

/// Returns the answer in a reply.
pub(super) fn answer(reply: &Value) -> Option<WireReply> {
    let message = reply.get("message")?;
    let [text, reasoning] = ["/content", "/thinking"].map(|field| word(message, field).unwrap_or_default());
    let text = text_or_call(text, message.pointer(CALL).map(Value::to_string));
    let reason = word(reply, "/done_reason").unwrap_or_default();
    let stop = if reason == "length" { Stop::Length } else { Stop::Done(reason) };
    Some(WireReply { text, reasoning, stop, model: word(reply, "/model"), usage: usage(reply) })
}

/// The token counts of a reply.
pub(super) fn usage(reply: &Value) -> Usage {
    Usage {
        prompt_tokens: number(reply, "/prompt_eval_count"),
        cached_tokens: None,
        completion_tokens: number(reply, "/eval_count"),
    }
}
