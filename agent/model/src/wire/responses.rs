//! OpenAI's Responses.

use deskhand_machine::model::{Speaker, Usage};
use serde_json::{Map, Value, json};

use super::{
    ImageDetail, Stop, StructuredOutput, WireMessage, WireMessagePart, WireReply, WireRequest,
    chat::allows_strict, number, text_or_call, word,
};

/// The body of a request. The endpoint is asked to keep nothing.
pub(super) fn body(asked: WireRequest<'_>) -> Value {
    let WireRequest { request, said, model, dialect, .. } = asked;
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", json!(model));
    let input: Vec<Value> = said.iter().map(|one| message(one, asked.detail)).collect();
    put("input", json!(input));
    put("max_output_tokens", json!(request.completion_tokens_max));
    put("store", json!(false));
    if let Some(temperature) = asked.temperature() {
        put("temperature", json!(temperature));
    }
    if let Some(effort) = asked.reasoning.effort() {
        put("reasoning", json!({"effort": effort, "summary": "auto"}));
    }
    if dialect.stream {
        put("stream", json!(true));
    }
    if let Some(tool) = asked.computer_tool() {
        put("tools", json!([tool]));
        // The endpoint demands it for this tool.
        put("truncation", json!("auto"));
    }
    let format = match dialect.output {
        StructuredOutput::Schema | StructuredOutput::Auto => Some(json!({
            "type": "json_schema",
            "name": request.reply.schema_name(),
            "schema": request.schema,
            "strict": allows_strict(&request.schema),
        })),
        StructuredOutput::Object => Some(json!({"type": "json_object"})),
        StructuredOutput::Off => None,
    };
    if let Some(format) = format {
        put("text", json!({"format": format}));
    }
    Value::Object(body)
}

fn message(said: &WireMessage, detail: ImageDetail) -> Value {
    let text_kind = match said.speaker {
        Speaker::Assistant => "output_text",
        Speaker::System | Speaker::User => "input_text",
    };
    let part = |piece: &WireMessagePart| match piece {
        WireMessagePart::Text(text) => json!({"type": text_kind, "text": text}),
        WireMessagePart::Picture { media_type, data } => json!({
            "type": "input_image",
            "image_url": format!("data:{media_type};base64,{data}"),
            "detail": detail.word(),
        }),
    };
    let parts: Vec<Value> = said.parts.iter().map(part).collect();
    json!({"role": said.speaker.to_string(), "content": parts})
}

/// The last event of a stream has the whole response.
pub(super) fn gather(events: &[Value]) -> Option<Value> {
    let ended = |event: &&Value| {
        let kind = event.get("type").and_then(Value::as_str);
        matches!(kind, Some("response.completed" | "response.incomplete" | "response.failed"))
    };
    events.iter().find(ended).and_then(|event| event.get("response")).cloned()
}

/// Returns the answer in the messages of a response.
pub(super) fn answer(reply: &Value) -> Option<WireReply> {
    let output = reply.get("output")?.as_array()?;
    let of = |kind: &'static str, field: &'static str| {
        let items = output.iter().filter(move |item| item.get("type").is_some_and(|is| is == kind));
        items.filter_map(move |item| item.get(field)).filter_map(Value::as_array).flatten()
    };
    let reasoning: Vec<String> = of("reasoning", "summary").filter_map(|part| word(part, "/text")).collect();
    let parts: Vec<&Value> = of("message", "content").collect();
    let text: String = parts.iter().filter_map(|part| word(part, "/text")).collect();
    let mut calls = output.iter().filter(|item| item.get("type").is_some_and(|is| is == "function_call"));
    let text = text_or_call(text, calls.find_map(|item| word(item, "/arguments")));
    let refusal = parts.iter().find_map(|part| word(part, "/refusal"));
    let incomplete = word(reply, "/incomplete_details/reason").unwrap_or_default();
    let stop = match (refusal, incomplete.as_str()) {
        (Some(refusal), _) => Stop::Refused(refusal),
        (None, "content_filter") => Stop::Refused("its content filter blocked the reply".to_owned()),
        (None, "max_output_tokens") => Stop::Length,
        (None, _) => Stop::Done(word(reply, "/status").unwrap_or_default()),
    };
    let reasoning = reasoning.join("\n\n");
    Some(WireReply { text, reasoning, stop, model: word(reply, "/model"), usage: usage(reply) })
}

/// The token counts of a response.
pub(super) fn usage(reply: &Value) -> Usage {
    Usage {
        prompt_tokens: number(reply, "/usage/input_tokens"),
        cached_tokens: number(reply, "/usage/input_tokens_details/cached_tokens"),
        completion_tokens: number(reply, "/usage/output_tokens"),
    }
}
