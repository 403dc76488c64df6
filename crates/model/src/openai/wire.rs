//! Requests and responses on the wire.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_core::model::{Message, ModelRequest, Part, Usage};
use serde_json::{Map, Value, json};

use super::config::{OpenAiConfig, StructuredOutput, TokenLimitField};
use crate::port::{PictureError, PictureSource};

/// The request features that an endpoint supports, learnt from its refusals and kept for later calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Never `Auto`.
    pub(super) output: StructuredOutput,
    /// Never `Auto`.
    pub(super) token_limit: TokenLimitField,
    /// Whether a temperature is sent.
    pub(super) temperature: bool,
    /// Whether the reply is streamed, so that a model that works can be distinguished from a server that is down.
    pub(super) stream: bool,
}

impl Dialect {
    pub(super) fn new(config: &OpenAiConfig) -> Self {
        Self {
            output: match config.structured_output {
                StructuredOutput::Auto => StructuredOutput::Schema,
                chosen @ (StructuredOutput::Schema | StructuredOutput::Object | StructuredOutput::Off) => {
                    chosen
                }
            },
            token_limit: match config.token_limit_field {
                TokenLimitField::Auto => TokenLimitField::MaxTokens,
                chosen @ (TokenLimitField::MaxTokens | TokenLimitField::MaxCompletionTokens) => chosen,
            },
            temperature: config.temperature.is_some(),
            stream: true,
        }
    }

    /// The dialect to try after a refusal, or `None` if the message is about something else.
    pub(super) fn after_refusal(self, message: &str, config: &OpenAiConfig) -> Option<Self> {
        let text = message.to_ascii_lowercase();
        let unsupported =
            ["support", "unknown", "unrecognized", "unexpected", "instead", "not permitted", "extra"]
                .iter()
                .any(|word| text.contains(word));
        if config.token_limit_field == TokenLimitField::Auto
            && self.token_limit == TokenLimitField::MaxTokens
            && text.contains("max_tokens")
            && unsupported
            && !text.contains("too large")
        {
            return Some(Self { token_limit: TokenLimitField::MaxCompletionTokens, ..self });
        }
        if self.temperature && text.contains("temperature") && unsupported {
            return Some(Self { temperature: false, ..self });
        }
        if self.stream && text.contains("stream") && unsupported {
            return Some(Self { stream: false, ..self });
        }
        let about_form = ["response_format", "json_schema", "json_object", "structured output", "json mode"]
            .iter()
            .any(|word| text.contains(word));
        if !about_form || config.structured_output != StructuredOutput::Auto {
            return None;
        }
        match self.output {
            StructuredOutput::Schema => Some(Self { output: StructuredOutput::Object, ..self }),
            StructuredOutput::Object => Some(Self { output: StructuredOutput::Off, ..self }),
            StructuredOutput::Off | StructuredOutput::Auto => None,
        }
    }
}

/// Converts the messages of a request, with pictures; once for all attempts.
pub(super) fn messages(
    request: &ModelRequest,
    config: &OpenAiConfig,
    pictures: &dyn PictureSource,
) -> Result<Vec<Value>, PictureError> {
    request.messages.iter().map(|message| wire_message(message, config, pictures)).collect()
}

/// The body of a request.
pub(super) fn body(
    request: &ModelRequest,
    messages: &[Value],
    config: &OpenAiConfig,
    dialect: Dialect,
) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(config.model));
    body.insert("messages".to_owned(), json!(messages));
    let limit = match dialect.token_limit {
        TokenLimitField::MaxCompletionTokens => "max_completion_tokens",
        TokenLimitField::MaxTokens | TokenLimitField::Auto => "max_tokens",
    };
    body.insert(limit.to_owned(), json!(request.completion_tokens_max));
    if let Some(temperature) = config.temperature.filter(|_| dialect.temperature) {
        body.insert("temperature".to_owned(), json!((f64::from(temperature) * 1e4).round() / 1e4));
    }
    if dialect.stream {
        body.insert("stream".to_owned(), json!(true));
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    let format = match dialect.output {
        StructuredOutput::Schema | StructuredOutput::Auto => Some(json!({
            "type": "json_schema",
            "json_schema": {
                "name": request.reply.schema_name(),
                "schema": request.schema,
                "strict": allows_strict(&request.schema),
            },
        })),
        StructuredOutput::Object => Some(json!({"type": "json_object"})),
        StructuredOutput::Off => None,
    };
    if let Some(format) = format {
        body.insert("response_format".to_owned(), format);
    }
    Value::Object(body)
}

/// Whether a schema meets strict mode: every object is closed and requires all of its properties.
fn allows_strict(schema: &Value) -> bool {
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

fn wire_message(
    message: &Message,
    config: &OpenAiConfig,
    pictures: &dyn PictureSource,
) -> Result<Value, PictureError> {
    let role = message.speaker.to_string();
    if let [Part::Text { text }] = message.parts.as_slice() {
        return Ok(json!({"role": role, "content": text}));
    }
    let mut parts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text { text } => parts.push(json!({"type": "text", "text": text})),
            Part::Picture { picture } if config.vision => {
                let url = format!(
                    "data:{};base64,{}",
                    picture.media_type,
                    STANDARD.encode(pictures.file(picture)?)
                );
                let image = json!({"url": url, "detail": config.image_detail.word()});
                parts.push(json!({"type": "image_url", "image_url": image}));
            }
            Part::Picture { .. } => {}
        }
    }
    Ok(json!({"role": role, "content": parts}))
}

/// The first choice of a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) text: String,
    pub(super) refusal: Option<String>,
    pub(super) finish_reason: String,
}

/// Returns the first choice, or `None` if the response has none.
pub(super) fn first_choice(answer: &Value) -> Option<Choice> {
    let choice = answer.pointer("/choices/0")?;
    let message = choice.get("message").unwrap_or(&Value::Null);
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    };
    let word = |value: Option<&Value>| {
        value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    Some(Choice {
        text,
        refusal: word(message.get("refusal")),
        finish_reason: word(choice.get("finish_reason")).unwrap_or_default(),
    })
}

/// The token counts of a response.
pub(super) fn usage(answer: &Value) -> Usage {
    let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64);
    Usage {
        prompt_tokens: number("/usage/prompt_tokens"),
        cached_tokens: number("/usage/prompt_tokens_details/cached_tokens")
            // DeepSeek's name for cached tokens.
            .or_else(|| number("/usage/prompt_cache_hit_tokens")),
        completion_tokens: number("/usage/completion_tokens"),
    }
}

/// Sums the token counts of two attempts.
pub(super) fn add_usage(first: Usage, second: Usage) -> Usage {
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (one, None) | (None, one) => one,
    };
    Usage {
        prompt_tokens: add(first.prompt_tokens, second.prompt_tokens),
        cached_tokens: add(first.cached_tokens, second.cached_tokens),
        completion_tokens: add(first.completion_tokens, second.completion_tokens),
    }
}
