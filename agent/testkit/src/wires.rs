//! What requests and replies look like in each wire format, written from the providers' references and apart from what the product
//! does with them.

use deskhand_machine::{
    agent::AgentRef,
    model::{ModelMessage, ModelRequest, ReplyKind, Speaker},
};
use serde_json::{Value, json};

use crate::request::model_request;
use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's `/api/chat`.
    Ollama,
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The model is done.
    Done,
    /// The limit of tokens is reached.
    Length,
    /// The model refuses.
    Refused,
    /// A filter stops the reply.
    Filtered,
}

/// The tokens of a reply: 100 read, 60 of them from the cache, and 7 written.
pub const TOKENS: (u64, u64, u64) = (100, 60, 7);

/// What a model thinks before each reply.
pub const THOUGHT: &str = "let me think";

impl Spoken {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Chat, Self::Responses, Self::Messages, Self::Gemini, Self::Ollama];

    /// The path that requests for the model `m` are sent to, below an address without a path.
    pub const fn path(self, stream: bool) -> &'static str {
        match (self, stream) {
            (Self::Chat, _) => "/v1/chat/completions",
            (Self::Responses, _) => "/v1/responses",
            (Self::Messages, _) => "/v1/messages",
            (Self::Gemini, true) => "/v1/models/m:streamGenerateContent?alt=sse",
            (Self::Gemini, false) => "/v1/models/m:generateContent",
            (Self::Ollama, _) => "/api/chat",
        }
    }

    /// The base URL of an endpoint for a client that speaks this format.
    pub fn base_url(self, endpoint: &MockEndpoint) -> String {
        if self == Self::Ollama { endpoint.root_url() } else { endpoint.base_url() }
    }

    /// A reply in one piece.
    pub fn whole(self, text: &str, ending: Ending) -> Value {
        match self {
            Self::Chat => chat(text, ending),
            Self::Responses => responses(text, ending),
            Self::Messages => messages(text, ending),
            Self::Gemini => {
                gemini(&[json!({"text": THOUGHT, "thought": true}), json!({"text": text})], ending)
            }
            Self::Ollama => ollama(text, THOUGHT, ending),
        }
    }

    /// The parts of a streamed reply that is done, as they are sent.
    pub fn streamed(self, text: &str) -> Vec<String> {
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        let (first, second) = text.split_at(middle);
        let (read, cached, written) = TOKENS;
        let event = |data: Value| format!("data: {data}\n\n");
        match self {
            Self::Chat => {
                let chunk = |delta: Value, finish: Value| json!({"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
                let usage = json!({"choices": [], "usage": {
                    "prompt_tokens": read, "completion_tokens": written,
                    "prompt_tokens_details": {"cached_tokens": cached},
                }});
                vec![
                    event(chunk(json!({"role": "assistant", "reasoning_content": THOUGHT}), Value::Null)),
                    event(chunk(json!({"content": first}), Value::Null)),
                    event(chunk(json!({"content": second}), Value::Null)),
                    event(chunk(json!({}), json!("stop"))),
                    event(usage),
                    "data: [DONE]\n\n".to_owned(),
                ]
            }
            Self::Responses => {
                let delta = |text: &str| {
                    format!(
                        "event: response.output_text.delta\n{}",
                        event(json!({"type": "response.output_text.delta", "delta": text}))
                    )
                };
                let whole = self.whole(text, Ending::Done);
                vec![
                    event(json!({"type": "response.created", "response": {"status": "in_progress"}})),
                    delta(first),
                    delta(second),
                    event(json!({"type": "response.completed", "response": whole})),
                ]
            }
            Self::Messages => message_events(first, second),
            Self::Gemini => {
                let part = |text: &str| {
                    event(
                        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}], "modelVersion": "m-1"}),
                    )
                };
                let thought =
                    json!({"candidates": [{"content": {"parts": [{"text": THOUGHT, "thought": true}]}}]});
                vec![event(thought), part(first), event(gemini(&[json!({"text": second})], Ending::Done))]
            }
            Self::Ollama => {
                let part = |text: &str| {
                    format!(
                        "{}\n",
                        json!({"model": "m-1", "done": false, "message": {"role": "assistant", "content": text}})
                    )
                };
                let thought = json!({"done": false, "message": {"role": "assistant", "thinking": THOUGHT, "content": ""}});
                let end = ollama("", "", Ending::Done);
                vec![format!("{thought}\n"), part(first), part(second), format!("{end}\n")]
            }
        }
    }

    /// Responds with a reply, streamed or whole.
    pub fn reply(self, text: &str, stream: bool) -> Behaviour {
        if stream {
            self.sends(&self.streamed(text).concat())
        } else {
            Behaviour::status(200, self.whole(text, Ending::Done).to_string())
        }
    }

    /// The media type of streams.
    const fn stream_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            Self::Chat | Self::Responses | Self::Messages | Self::Gemini => "text/event-stream",
        }
    }

    /// Responds with this as a stream.
    pub fn sends(self, stream: &str) -> Behaviour {
        Behaviour::status(200, stream).with_header("content-type", self.stream_type())
    }

    /// Responds with a streamed reply, one byte at a time.
    pub fn drips(self, text: &str) -> Behaviour {
        Behaviour::Drip { media_type: self.stream_type().to_owned(), body: self.streamed(text).concat() }
    }

    /// A reply in one piece that is no text but the call of a tool with these arguments, in JSON.
    pub fn tool_call(self, name: &str, arguments: &str) -> Value {
        let input: Value = serde_json::from_str(arguments).unwrap_or_default();
        let mut reply = self.whole("", Ending::Done);
        let (place, value) = match self {
            Self::Chat => (
                "/choices/0/message",
                json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}},
                ]}),
            ),
            Self::Responses => (
                "/output",
                json!([{"type": "function_call", "call_id": "c1", "name": name, "arguments": arguments}]),
            ),
            Self::Messages => {
                ("/content", json!([{"type": "tool_use", "id": "c1", "name": name, "input": input}]))
            }
            Self::Gemini => {
                ("/candidates/0/content/parts", json!([{"functionCall": {"name": name, "args": input}}]))
            }
            Self::Ollama => (
                "/message",
                json!({"role": "assistant", "content": "", "tool_calls": [
                    {"function": {"name": name, "arguments": input}},
                ]}),
            ),
        };
        if let Some(found) = reply.pointer_mut(place) {
            *found = value;
        }
        reply
    }

    /// The body of an error, as the provider writes it.
    pub fn error(self, code: u16, kind: &str, message: &str) -> Behaviour {
        let body = match self {
            Self::Chat | Self::Responses => return Behaviour::error(code, kind, message),
            Self::Messages => json!({"type": "error", "error": {"type": kind, "message": message}}),
            Self::Gemini => json!({"error": {"code": code, "message": message, "status": kind}}),
            Self::Ollama => json!({"error": message}),
        };
        Behaviour::status(code, body.to_string())
    }

    /// Returns `true` if a request asks for a stream.
    pub fn wants_stream(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.contains("streamGenerateContent"),
            Self::Chat | Self::Responses | Self::Messages | Self::Ollama => {
                body.get("stream") == Some(&Value::Bool(true))
            }
        }
    }

    /// What a request asks, without pictures. No format names the agent.
    pub fn request(self, body: &Value) -> ModelRequest {
        let (system, messages, name) = match self {
            Self::Chat => return model_request(body),
            Self::Responses => ("", "/input", "/text/format/name"),
            Self::Messages => ("/system", "/messages", "/tools/0/name"),
            Self::Gemini => ("/systemInstruction/parts", "/contents", ""),
            Self::Ollama => ("", "/messages", ""),
        };
        let name = body.pointer(name).and_then(Value::as_str);
        let speaker = |message: &Value| match message.get("role").and_then(Value::as_str) {
            Some("system" | "developer") => Speaker::System,
            Some("assistant" | "model") => Speaker::Assistant,
            _ => Speaker::User,
        };
        let system = body.pointer(system).filter(|system| system.is_array());
        let system = system.map(|system| ModelMessage::text(Speaker::System, texts(system)));
        let others = body.pointer(messages).and_then(Value::as_array).into_iter().flatten().map(|message| {
            let content = message.get("content").or_else(|| message.get("parts")).unwrap_or(&Value::Null);
            ModelMessage::text(speaker(message), texts(content))
        });
        ModelRequest {
            agent: AgentRef::Unnamed,
            messages: system.into_iter().chain(others).collect(),
            reply: ReplyKind::ALL
                .into_iter()
                .find(|kind| name == Some(kind.schema_name()))
                .unwrap_or(ReplyKind::Probe),
            schema: Value::Null,
            completion_tokens_max: 0,
            attempts_max: u32::MAX,
            models: Vec::new(),
        }
    }
}

fn chat(text: &str, ending: Ending) -> Value {
    let (read, cached, written) = TOKENS;
    let refusal = (ending == Ending::Refused).then_some(text);
    let finish = match ending {
        Ending::Done | Ending::Refused => "stop",
        Ending::Length => "length",
        Ending::Filtered => "content_filter",
    };
    json!({
        "object": "chat.completion", "model": "m-1",
        "choices": [{
            "index": 0, "finish_reason": finish,
            "message": {"role": "assistant", "content": text, "refusal": refusal, "reasoning_content": THOUGHT},
        }],
        "usage": {
            "prompt_tokens": read, "completion_tokens": written, "prompt_tokens_details": {"cached_tokens": cached},
        },
    })
}

fn responses(text: &str, ending: Ending) -> Value {
    let (read, cached, written) = TOKENS;
    let part = match ending {
        Ending::Refused => json!({"type": "refusal", "refusal": text}),
        Ending::Done | Ending::Length | Ending::Filtered => json!({"type": "output_text", "text": text}),
    };
    let (status, details) = match ending {
        Ending::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
        Ending::Filtered => ("incomplete", json!({"reason": "content_filter"})),
        Ending::Done | Ending::Refused => ("completed", Value::Null),
    };
    json!({
        "object": "response", "model": "m-1", "status": status, "error": null, "incomplete_details": details,
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]},
            {"type": "message", "role": "assistant", "content": [part]},
        ],
        "usage": {
            "input_tokens": read, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": written,
        },
    })
}

fn messages(text: &str, ending: Ending) -> Value {
    let (read, cached, written) = TOKENS;
    let reason = match ending {
        Ending::Done => "end_turn",
        Ending::Length => "max_tokens",
        Ending::Refused | Ending::Filtered => "refusal",
    };
    json!({
        "type": "message", "role": "assistant", "model": "m-1", "stop_reason": reason,
        "content": [{"type": "thinking", "thinking": THOUGHT, "signature": "s"}, {"type": "text", "text": text}],
        "usage": {
            "input_tokens": read - cached - 10, "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 10, "output_tokens": written,
        },
    })
}

/// The events of a message whose tool gets a text in two parts.
fn message_events(first: &str, second: &str) -> Vec<String> {
    let (read, cached, written) = TOKENS;
    let event = |data: Value| format!("data: {data}\n\n");
    let delta = |text: &str| {
        event(
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": text}}),
        )
    };
    let usage = json!({
        "input_tokens": read - cached - 10, "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 10, "output_tokens": 1,
    });
    let start = json!({"type": "message_start", "message": {"model": "m-1", "content": [], "usage": usage}});
    let tool = json!({"type": "tool_use", "id": "t1", "name": "app_agent_reply", "input": {}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": written}});
    vec![
        event(start),
        event(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        ),
        event(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": THOUGHT}}),
        ),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "content_block_start", "index": 1, "content_block": tool})),
        event(json!({"type": "ping"})),
        delta(first),
        delta(second),
        event(json!({"type": "content_block_stop", "index": 1})),
        event(end),
        event(json!({"type": "message_stop"})),
    ]
}

fn gemini(parts: &[Value], ending: Ending) -> Value {
    let (read, cached, written) = TOKENS;
    let reason = match ending {
        Ending::Done => "STOP",
        Ending::Length => "MAX_TOKENS",
        Ending::Refused => "PROHIBITED_CONTENT",
        Ending::Filtered => "SAFETY",
    };
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}],
        "usageMetadata": {
            "promptTokenCount": read, "cachedContentTokenCount": cached, "candidatesTokenCount": written - 2,
            "thoughtsTokenCount": 2,
        },
        "modelVersion": "m-1",
    })
}

fn ollama(text: &str, thinking: &str, ending: Ending) -> Value {
    let (read, _, written) = TOKENS;
    json!({
        "model": "m-1", "done": true, "done_reason": if ending == Ending::Length { "length" } else { "stop" },
        "message": {"role": "assistant", "content": text, "thinking": thinking}, "prompt_eval_count": read, "eval_count": written,
    })
}

/// The texts of a message.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
