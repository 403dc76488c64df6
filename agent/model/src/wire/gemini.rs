//! Google's `generateContent`.

use deskhand_machine::model::{Speaker, Usage};
use serde_json::{Map, Value, json};

use super::{
    ReasoningEffort, Stop, StructuredOutput, WireMessage, WireMessagePart, WireReply, WireRequest, number,
    sum, system_apart, text_or_call, word,
};

/// The address of a model.
pub(super) fn url(base_url: &str, model: &str, stream: bool) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    format!("{base_url}/models/{model}:{method}")
}

/// The most tokens of thoughts that every thinking model accepts.
const BUDGET_MAX: u32 = 24_576;

/// The body of a request.
pub(super) fn body(asked: WireRequest<'_>) -> Value {
    let WireRequest { request, said, dialect, .. } = asked;
    let mut settings = Map::new();
    settings.insert("maxOutputTokens".to_owned(), json!(request.completion_tokens_max));
    if let Some(temperature) = asked.temperature() {
        settings.insert("temperature".to_owned(), json!(temperature));
    }
    if dialect.output != StructuredOutput::Off {
        settings.insert("responseMimeType".to_owned(), json!("application/json"));
    }
    if matches!(dialect.output, StructuredOutput::Schema | StructuredOutput::Auto) {
        settings.insert("responseJsonSchema".to_owned(), request.schema.clone());
    }
    match asked.reasoning {
        ReasoningEffort::Auto => {}
        ReasoningEffort::Off => {
            drop(settings.insert("thinkingConfig".to_owned(), json!({"thinkingBudget": 0})));
        }
        level @ (ReasoningEffort::Low | ReasoningEffort::Medium | ReasoningEffort::High) => {
            let config = json!({"thinkingBudget": level.tokens().min(BUDGET_MAX), "includeThoughts": true});
            settings.insert("thinkingConfig".to_owned(), config);
        }
    }
    let (system, others) = system_apart(said);
    let content = |one: &&WireMessage| {
        let role = match one.speaker {
            Speaker::Assistant => "model",
            Speaker::System | Speaker::User => "user",
        };
        json!({"role": role, "parts": one.parts.iter().map(part).collect::<Vec<_>>()})
    };
    let mut body = json!({
        "contents": others.iter().map(content).collect::<Vec<_>>(),
        "generationConfig": settings,
    });
    if let (Some(body), false) = (body.as_object_mut(), system.is_empty()) {
        let parts: Vec<Value> = system.iter().flat_map(|one| one.parts.iter().map(part)).collect();
        body.insert("systemInstruction".to_owned(), json!({"parts": parts}));
    }
    body
}

fn part(piece: &WireMessagePart) -> Value {
    match piece {
        WireMessagePart::Text(text) => json!({"text": text}),
        WireMessagePart::Picture { media_type, data } => {
            json!({"inlineData": {"mimeType": media_type, "data": data}})
        }
    }
}

/// The reply whose parts these are, once it has ended or was blocked.
pub(super) fn gather(chunks: &[Value]) -> Option<Value> {
    let last = chunks.iter().rev();
    let find = |pointer: &str| last.clone().find_map(|chunk| chunk.pointer(pointer)).cloned();
    let blocked = find("/promptFeedback");
    let reason = find("/candidates/0/finishReason");
    if reason.is_none() && blocked.is_none() {
        return None;
    }
    let parts = chunks.iter().filter_map(|chunk| chunk.pointer("/candidates/0/content/parts"));
    let parts: Vec<&Value> = parts.filter_map(Value::as_array).flatten().collect();
    Some(json!({
        "candidates": [{"content": {"parts": parts}, "finishReason": reason}],
        "promptFeedback": blocked,
        "modelVersion": find("/modelVersion"),
        "usageMetadata": find("/usageMetadata"),
    }))
}

/// Returns the answer in the first candidate, without thoughts.
pub(super) fn answer(reply: &Value) -> Option<WireReply> {
    let blocked = word(reply, "/promptFeedback/blockReason");
    if reply.pointer("/candidates/0").is_none() && blocked.is_none() {
        return None;
    }
    let parts = reply.pointer("/candidates/0/content/parts").and_then(Value::as_array).into_iter().flatten();
    let is_thought = |part: &&Value| part.get("thought") == Some(&Value::Bool(true));
    let (thoughts, said): (Vec<&Value>, Vec<&Value>) = parts.partition(is_thought);
    let texts = |parts: &[&Value]| parts.iter().filter_map(|part| word(part, "/text")).collect();
    let (reasoning, text): (String, String) = (texts(&thoughts), texts(&said));
    let call = said.iter().find_map(|part| part.pointer("/functionCall/args")).map(Value::to_string);
    let text = text_or_call(text, call);
    let reason = word(reply, "/candidates/0/finishReason").unwrap_or_default();
    let stop = match (blocked, reason.as_str()) {
        (Some(blocked), _) => Stop::Refused(format!("the prompt was blocked ({blocked})")),
        (None, "MAX_TOKENS") => Stop::Length,
        (None, "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE") => {
            Stop::Refused(format!("its content filter blocked the reply ({reason})"))
        }
        (None, _) => Stop::Done(reason),
    };
    Some(WireReply { text, reasoning, stop, model: word(reply, "/modelVersion"), usage: usage(reply) })
}

/// The token counts of a reply. Thoughts are paid for as what is said.
pub(super) fn usage(reply: &Value) -> Usage {
    let of = |name: &str| number(reply, &format!("/usageMetadata/{name}"));
    Usage {
        prompt_tokens: of("promptTokenCount"),
        cached_tokens: of("cachedContentTokenCount"),
        completion_tokens: sum([of("candidatesTokenCount"), of("thoughtsTokenCount")]),
    }
}
