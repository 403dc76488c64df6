//! OpenAI's chat completions.

use deskhand_machine::model::{Speaker, Usage};
use serde_json::{Map, Value, json};

use super::{
    CALL, ImageDetail, Stop, StructuredOutput, TokenLimitField, WireMessage, WireMessagePart, WireReply,
    WireRequest, mark_for_cache, number, text_or_call, word,
};

/// The body of a request.
pub(super) fn body(asked: WireRequest<'_>) -> Value {
    let WireRequest { request, said, model, dialect, .. } = asked;
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", json!(model));
    let last_of_system = said.iter().rposition(|one| one.speaker == Speaker::System);
    let marked = last_of_system.filter(|_| asked.cache_marks);
    let message = |(at, one)| message(one, asked.detail, marked == Some(at));
    let messages: Vec<Value> = said.iter().enumerate().map(message).collect();
    put("messages", json!(messages));
    let limit = match dialect.token_limit {
        TokenLimitField::MaxCompletionTokens => "max_completion_tokens",
        TokenLimitField::MaxTokens | TokenLimitField::Auto => "max_tokens",
    };
    put(limit, json!(request.completion_tokens_max));
    if let Some(temperature) = asked.temperature() {
        put("temperature", json!(temperature));
    }
    if let Some(effort) = asked.reasoning.effort() {
        put("reasoning_effort", json!(effort));
    }
    if dialect.stream {
        put("stream", json!(true));
        put("stream_options", json!({"include_usage": true}));
    }
    match dialect.output {
        StructuredOutput::Schema | StructuredOutput::Auto => put(
            "response_format",
            json!({
                "type": "json_schema",
                "json_schema": {
                    "name": request.reply.schema_name(),
                    "schema": request.schema,
                    "strict": allows_strict(&request.schema),
                },
            }),
        ),
        StructuredOutput::Object => put("response_format", json!({"type": "json_object"})),
        StructuredOutput::Off => {}
    }
    Value::Object(body)
}

/// Returns `true` if a schema meets strict mode: every object is closed and requires all of its properties.
pub(super) fn allows_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let closed = members.get("properties").and_then(Value::as_object).is_none_or(|properties| {
                let required: Vec<&str> = members
                    .get("required")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                members.get("additionalProperties") == Some(&Value::Bool(false))
                    && properties.keys().all(|name| required.contains(&name.as_str()))
            });
            let open_object = members.get("type").and_then(Value::as_str) == Some("object")
                && !members.contains_key("properties");
            closed && !open_object && members.values().all(allows_strict)
        }
        Value::Array(items) => items.iter().all(allows_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn message(said: &WireMessage, detail: ImageDetail, is_marked: bool) -> Value {
    let role = said.speaker.to_string();
    if let Some(text) = said.plain().filter(|_| !is_marked) {
        return json!({"role": role, "content": text});
    }
    let part = |piece: &WireMessagePart| match piece {
        WireMessagePart::Text(text) => json!({"type": "text", "text": text}),
        WireMessagePart::Picture { media_type, data } => {
            let image = json!({"url": format!("data:{media_type};base64,{data}"), "detail": detail.word()});
            json!({"type": "image_url", "image_url": image})
        }
    };
    let mut parts: Vec<Value> = said.parts.iter().map(part).collect();
    if is_marked {
        mark_for_cache(&mut parts);
    }
    json!({"role": role, "content": parts})
}

/// The completion whose chunks these are, once it has ended: by a last event, or, since some servers send none, by its reason to finish.
pub(super) fn gather(chunks: &[Value], is_done: bool) -> Option<Value> {
    let [mut text, mut refusal, mut thoughts, mut call] = [(); 4].map(|()| String::new());
    let (mut finish_reason, mut model, mut usage) = (None, None, &Value::Null);
    for chunk in chunks {
        model = word(chunk, "/model").or(model);
        usage = chunk.get("usage").filter(|usage| usage.is_object()).unwrap_or(usage);
        let choices = chunk.get("choices").and_then(Value::as_array).into_iter().flatten();
        // The first choice is the reply.
        for choice in choices.filter(|choice| number(choice, "/index").unwrap_or(0) == 0) {
            let part = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
            text.push_str(&word(part, "/content").unwrap_or_default());
            refusal.push_str(&word(part, "/refusal").unwrap_or_default());
            call.push_str(&word(part, CALL).unwrap_or_default());
            thoughts.push_str(&reasoning(part));
            finish_reason = word(choice, "/finish_reason").or(finish_reason);
        }
    }
    let call = json!([{"function": {"arguments": call}}]);
    let message =
        json!({"content": text, "refusal": refusal, "reasoning_content": thoughts, "tool_calls": call});
    let choice = json!({"message": message, "finish_reason": finish_reason});
    let has_ended = is_done || finish_reason.is_some();
    has_ended.then(|| json!({"model": model, "choices": [choice], "usage": usage}))
}

/// The thoughts in a message, or in a part of one: DeepSeek, Qwen and vLLM have one name for them, OpenRouter and Groq another.
fn reasoning(message: &Value) -> String {
    word(message, "/reasoning_content").or_else(|| word(message, "/reasoning")).unwrap_or_default()
}

/// Returns the answer in the first choice of a completion.
pub(super) fn answer(reply: &Value) -> Option<WireReply> {
    let choice = reply.pointer("/choices/0")?;
    let text = match choice.pointer("/message/content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    };
    let call = choice.get("message").and_then(|message| word(message, CALL));
    let text = text_or_call(text, call);
    let finish = word(choice, "/finish_reason").unwrap_or_default();
    let stop = match (word(choice, "/message/refusal"), finish.as_str()) {
        (Some(refusal), _) => Stop::Refused(refusal),
        (None, "content_filter") => Stop::Refused("its content filter blocked the reply".to_owned()),
        (None, "length") => Stop::Length,
        (None, _) => Stop::Done(finish),
    };
    let reasoning = choice.get("message").map(reasoning).unwrap_or_default();
    Some(WireReply { text, reasoning, stop, model: word(reply, "/model"), usage: usage(reply) })
}

/// The token counts of a completion.
pub(super) fn usage(reply: &Value) -> Usage {
    Usage {
        prompt_tokens: number(reply, "/usage/prompt_tokens"),
        cached_tokens: number(reply, "/usage/prompt_tokens_details/cached_tokens")
            // DeepSeek's name for cached tokens.
            .or_else(|| number(reply, "/usage/prompt_cache_hit_tokens")),
        completion_tokens: number(reply, "/usage/completion_tokens"),
    }
}
