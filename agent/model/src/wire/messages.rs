//! Anthropic's Messages.

use std::collections::BTreeMap;

use deskhand_machine::model::Usage;
use serde_json::{Map, Value, json};

use super::{
    Stop, StructuredOutput, WireMessage, WireMessagePart, WireReply, WireRequest, mark_for_cache, number,
    sum, system_apart, word,
};

/// The fewest tokens that a reply has beside the thoughts.
const TOKENS_MIN: u32 = 1_024;

/// The body of a request. What stays the same from one request to the next comes first and is marked for the cache. The reply is the
/// input of the only tool, so that it matches its schema.
pub(super) fn body(asked: WireRequest<'_>) -> Value {
    let WireRequest { request, said, model, dialect, .. } = asked;
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", json!(model));
    let thinking = asked.reasoning.tokens();
    // Thoughts are part of the reply; a limit that leaves nothing for the rest would be refused.
    let least = if thinking > 0 { thinking.saturating_add(TOKENS_MIN) } else { 0 };
    put("max_tokens", json!(request.completion_tokens_max.max(least)));
    let (system, others) = system_apart(said);
    let mut system: Vec<Value> = system.iter().flat_map(|one| one.parts.iter().map(part)).collect();
    mark_for_cache(&mut system);
    if !system.is_empty() {
        put("system", json!(system));
    }
    let message = |one: &&WireMessage| {
        let parts: Vec<Value> = one.parts.iter().map(part).collect();
        json!({"role": one.speaker.to_string(), "content": parts})
    };
    put("messages", json!(others.iter().map(message).collect::<Vec<_>>()));
    if let Some(temperature) = asked.temperature() {
        put("temperature", json!(temperature));
    }
    if thinking > 0 {
        put("thinking", json!({"type": "enabled", "budget_tokens": thinking}));
    }
    if dialect.stream {
        put("stream", json!(true));
    }
    if let Some(tool) = asked.computer_tool() {
        put("tools", json!([tool]));
    }
    match dialect.output {
        StructuredOutput::Schema | StructuredOutput::Auto => {
            let name = request.reply.schema_name();
            let tool =
                json!({"name": name, "description": "Takes the reply.", "input_schema": request.schema});
            put("tools", json!([tool]));
            // A model that thinks cannot be made to call a tool; what it replies as text is read as well.
            let choice =
                if thinking > 0 { json!({"type": "auto"}) } else { json!({"type": "tool", "name": name}) };
            put("tool_choice", choice);
        }
        // There is nothing between a schema and the prompt.
        StructuredOutput::Object | StructuredOutput::Off => {}
    }
    Value::Object(body)
}

fn part(piece: &WireMessagePart) -> Value {
    match piece {
        WireMessagePart::Text(text) => json!({"type": "text", "text": text}),
        WireMessagePart::Picture { media_type, data } => {
            let source = json!({"type": "base64", "media_type": media_type, "data": data});
            json!({"type": "image", "source": source})
        }
    }
}

/// The message whose events these are, once it has ended.
pub(super) fn gather(events: &[Value]) -> Option<Value> {
    let mut message = Value::Null;
    let mut usage = Map::new();
    let mut stop_reason = None;
    // The kind and the text of each part, by its number.
    let mut parts: BTreeMap<u64, (String, String)> = BTreeMap::new();
    for event in events {
        let index = number(event, "/index").unwrap_or(0);
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => message = event.get("message").cloned().unwrap_or_default(),
            Some("content_block_start") => {
                let kind = word(event, "/content_block/type").unwrap_or_default();
                let text = word(event, "/content_block/text").unwrap_or_default();
                parts.insert(index, (kind, text));
            }
            Some("content_block_delta") => {
                let more = ["/delta/text", "/delta/partial_json", "/delta/thinking"];
                let more = more.into_iter().find_map(|place| word(event, place));
                let (_, text) = parts.entry(index).or_default();
                text.push_str(&more.unwrap_or_default());
            }
            Some("message_delta") => stop_reason = word(event, "/delta/stop_reason").or(stop_reason),
            _ => {}
        }
        for place in ["/message/usage", "/usage"] {
            usage.extend(event.pointer(place).and_then(Value::as_object).cloned().unwrap_or_default());
        }
    }
    let stop_reason = stop_reason?;
    let content = parts.into_values().map(|(kind, text)| match kind.as_str() {
        "tool_use" => {
            json!({"type": kind, "input": serde_json::from_str(&text).unwrap_or(Value::String(text))})
        }
        "thinking" => json!({"type": kind, "thinking": text}),
        _ => json!({"type": kind, "text": text}),
    });
    let content: Vec<Value> = content.collect();
    Some(
        json!({"model": message.get("model"), "content": content, "stop_reason": stop_reason, "usage": usage}),
    )
}

/// Returns the answer in a message: the input of the tool, or its text.
pub(super) fn answer(reply: &Value) -> Option<WireReply> {
    let parts = reply.get("content")?.as_array()?;
    let of =
        |kind: &'static str| parts.iter().filter(move |part| part.get("type").is_some_and(|is| is == kind));
    let text = match of("tool_use").find_map(|part| part.get("input")) {
        // Text that is no JSON, as a reply that is cut off.
        Some(Value::String(text)) => text.clone(),
        Some(input) => input.to_string(),
        None => of("text").filter_map(|part| word(part, "/text")).collect(),
    };
    let reason = word(reply, "/stop_reason").unwrap_or_default();
    let stop = match reason.as_str() {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => {
            let why = if text.trim().is_empty() { "its safety filter stopped it" } else { text.as_str() };
            Stop::Refused(why.to_owned())
        }
        _ => Stop::Done(reason),
    };
    let reasoning: Vec<String> = of("thinking").filter_map(|part| word(part, "/thinking")).collect();
    let reasoning = reasoning.join("\n\n");
    Some(WireReply { text, reasoning, stop, model: word(reply, "/model"), usage: usage(reply) })
}

/// The token counts of a message. The ones that were read from the cache or written to it are counted apart there.
pub(super) fn usage(reply: &Value) -> Usage {
    let of = |name: &str| number(reply, &format!("/usage/{name}"));
    let cached = of("cache_read_input_tokens");
    Usage {
        prompt_tokens: sum([of("input_tokens"), cached, of("cache_creation_input_tokens")]),
        cached_tokens: cached,
        completion_tokens: of("output_tokens"),
    }
}
