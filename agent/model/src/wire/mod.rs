//! Wire formats: how a request and its reply look to one kind of endpoint.
//!
//! A format is pure: it makes the path, the headers and the body of a request, puts the parts of a stream together, and reads a
//! reply. What is sent when, and what a failure means, is the endpoint's.
//!
//! - `chat`: OpenAI's chat completions, which most other services and local servers speak as well.
//! - `responses`: OpenAI's Responses.
//! - `messages`: Anthropic's Messages.
//! - `gemini`: Google's `generateContent`.
//! - `ollama`: Ollama's own `/api/chat`.

mod chat;
mod computer;
mod gemini;
mod listing;
mod messages;
mod ollama;
mod options;
mod responses;
mod streamed;

use std::convert::Infallible;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deskhand_machine::model::{MessagePart, ModelMessage, ModelRequest, Speaker, Usage};
use deskhand_ui::PictureRef;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use computer::Computer;
pub use computer::ComputerUse;
pub use listing::EndpointModel;
pub(crate) use listing::{DETAILS, detailed, listed};

pub(crate) use options::Dialect;
pub use options::{ImageDetail, ReasoningEffort, StructuredOutput, TokenLimitField};
pub(crate) use streamed::StreamedReply;

use crate::port::{PictureError, PictureSource};

/// The data of the last event of a streamed chat completion.
const DONE: &str = "[DONE]";

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

/// A message with its pictures as text, once for all attempts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WireMessage {
    pub(crate) speaker: Speaker,
    pub(crate) parts: Vec<WireMessagePart>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WireMessagePart {
    Text(String),
    /// A picture in Base64.
    Picture {
        media_type: String,
        data: String,
    },
}

impl WireMessage {
    /// Its text alone, if it is nothing but one.
    fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WireMessagePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Its texts, one after the other.
    fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            WireMessagePart::Text(text) => Some(text.as_str()),
            WireMessagePart::Picture { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

/// The messages of a request with their pictures, or without them for a model that takes none.
pub(crate) fn said(
    request: &ModelRequest,
    vision: bool,
    pictures: &dyn PictureSource,
) -> Result<Vec<WireMessage>, PictureError> {
    said_with(request, vision, |picture| pictures.file(picture).map(|file| STANDARD.encode(file)))
}

/// The same with the hashes of pictures in place of the pictures, for cassettes.
pub(crate) fn said_with_hashes(request: &ModelRequest, vision: bool) -> Vec<WireMessage> {
    let hash = |picture: &PictureRef| Ok::<_, Infallible>(format!("sha256:{}", picture.sha256));
    said_with(request, vision, hash).unwrap_or_else(|never| match never {})
}

fn said_with<E>(
    request: &ModelRequest,
    vision: bool,
    data: impl Fn(&PictureRef) -> Result<String, E>,
) -> Result<Vec<WireMessage>, E> {
    let piece = |part: &MessagePart| -> Option<Result<WireMessagePart, E>> {
        match part {
            MessagePart::Text { text } => Some(Ok(WireMessagePart::Text(text.clone()))),
            MessagePart::Picture { picture } if vision => Some(
                data(picture)
                    .map(|data| WireMessagePart::Picture { media_type: picture.media_type.clone(), data }),
            ),
            MessagePart::Picture { .. } => None,
        }
    };
    let said = |message: &ModelMessage| {
        let parts = message.parts.iter().filter_map(piece).collect::<Result<_, E>>()?;
        Ok(WireMessage { speaker: message.speaker, parts })
    };
    request.messages.iter().map(said).collect()
}

/// Marks the end of what an endpoint shall keep in its cache, in the last of some parts.
fn mark_for_cache(parts: &mut [Value]) {
    if let Some(Value::Object(last)) = parts.last_mut() {
        last.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// The messages of the system, and the others.
fn system_apart(said: &[WireMessage]) -> (Vec<&WireMessage>, Vec<&WireMessage>) {
    said.iter().partition(|one| one.speaker == Speaker::System)
}

/// Request to a model.
#[derive(Clone, Copy)]
pub(crate) struct WireRequest<'a> {
    pub(crate) request: &'a ModelRequest,
    pub(crate) said: &'a [WireMessage],
    /// The name of the model at the endpoint.
    pub(crate) model: &'a str,
    pub(crate) detail: ImageDetail,
    /// Set if the end of the part that stays the same is marked for a cache, where the format leaves it to the
    /// provider.
    pub(crate) cache_marks: bool,
    /// The sampling temperature, if one is sent.
    pub(crate) temperature: Option<f32>,
    /// Requested amount of reasoning.
    pub(crate) reasoning: ReasoningEffort,
    pub(crate) dialect: Dialect,
    /// Protocol for an operator; `None` for other agents.
    pub(crate) computer: Option<Computer>,
}

impl WireRequest<'_> {
    /// The tool that an operator works with, to be declared.
    fn computer_tool(&self) -> Option<Value> {
        self.computer.and_then(Computer::tool)
    }

    /// The sampling temperature, without the digits that its binary form adds.
    fn temperature(&self) -> Option<f64> {
        self.temperature.map(|temperature| (f64::from(temperature) * 1e4).round() / 1e4)
    }
}

/// A reply, as its format tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WireReply {
    pub(crate) text: String,
    /// Reasoning of the model before the answer, or a summary of it, where the endpoint provides it.
    pub(crate) reasoning: String,
    pub(crate) stop: Stop,
    /// The model, as it calls itself.
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
}

/// Why a reply ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The model is done; or something that its format does not name.
    Done(String),
    /// The limit of tokens was reached.
    Length,
    /// The model, or a filter, does not answer; with the reason.
    Refused(String),
}

/// A stream that cannot be put together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamError {
    /// The stream ended before the reply did.
    CutShort,
    /// The data of an event is something else.
    NotJson(String),
}

impl Wire {
    /// The address that requests are sent to.
    pub(crate) fn url(self, base_url: &str, model: &str, stream: bool) -> String {
        match self {
            Self::Chat => format!("{base_url}/chat/completions"),
            Self::Responses => format!("{base_url}/responses"),
            Self::Messages => format!("{base_url}/messages"),
            Self::Gemini => gemini::url(base_url, model, stream),
            Self::Ollama => format!("{base_url}/api/chat"),
        }
    }

    /// The ends of addresses that [`Wire::url`] adds, so that a whole address counts as a base URL as well.
    pub(crate) const fn tails(self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["/chat/completions", "/completions"],
            Self::Responses => &["/responses"],
            Self::Messages => &["/messages"],
            Self::Gemini => &["/models"],
            Self::Ollama => &["/api/chat", "/api", "/v1"],
        }
    }

    /// Headers besides the key.
    pub(crate) const fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Messages => &[("anthropic-version", "2023-06-01")],
            Self::Chat | Self::Responses | Self::Gemini | Self::Ollama => &[],
        }
    }

    /// Returns the name of the format in messages: `a chat-completions endpoint`.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Chat => "a chat-completions endpoint",
            Self::Responses => "a Responses endpoint",
            Self::Messages => "a Messages endpoint",
            Self::Gemini => "a Gemini endpoint",
            Self::Ollama => "an Ollama server",
        }
    }

    /// Returns the usual end of the base URL, and the path of the list of models.
    pub(crate) const fn usual(self) -> (&'static str, &'static str) {
        match self {
            Self::Chat | Self::Responses | Self::Messages => ("/v1", "/models"),
            Self::Gemini => ("/v1beta", "/models"),
            Self::Ollama => (":11434", "/api/tags"),
        }
    }

    /// Returns the field that every reply has: `choices`.
    pub(crate) const fn reply_field(self) -> &'static str {
        match self {
            Self::Chat => "choices",
            Self::Responses => "output",
            Self::Messages => "content",
            Self::Gemini => "candidates",
            Self::Ollama => "message",
        }
    }

    /// The body of a request.
    pub(crate) fn body(self, asked: WireRequest<'_>) -> Value {
        match self {
            Self::Chat => chat::body(asked),
            Self::Responses => responses::body(asked),
            Self::Messages => messages::body(asked),
            Self::Gemini => gemini::body(asked),
            Self::Ollama => ollama::body(asked),
        }
    }

    /// Returns `true` if the last part of a stream has arrived; some servers keep the connection open after it.
    pub(crate) fn is_whole(self, body: &[u8]) -> bool {
        let end = body.trim_ascii_end();
        match self {
            Self::Chat => {
                ["data: ", "data:"].iter().any(|start| end.ends_with(format!("{start}{DONE}").as_bytes()))
            }
            Self::Messages => end.ends_with(br#"{"type":"message_stop"}"#),
            // These servers close the connection.
            Self::Responses | Self::Gemini | Self::Ollama => false,
        }
    }

    /// The reply that these parts of a stream make up. An error among them is returned as it came. `None` if the reply has not ended.
    fn gather(self, parts: &[Value], is_done: bool) -> Option<Value> {
        match self {
            Self::Chat => chat::gather(parts, is_done),
            Self::Responses => responses::gather(parts),
            Self::Messages => messages::gather(parts),
            Self::Gemini => gemini::gather(parts),
            Self::Ollama => ollama::gather(parts),
        }
    }

    /// The reply in a body, whole or streamed. An error in it is returned as it came.
    ///
    /// # Errors
    /// A stream is cut short; the body or a part is not JSON.
    pub(crate) fn reply(self, media_type: Option<&str>, body: &str) -> Result<Value, StreamError> {
        let named = |kind: &str| media_type.is_some_and(|named| named.trim_start().starts_with(kind));
        let (parts, is_cut) = if named("text/event-stream") || body.trim_start().starts_with("data:") {
            (events(body), !body.ends_with("\n\n") && !body.ends_with("\n\r\n"))
        } else if named("application/x-ndjson") {
            let lines = body.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned);
            (lines.collect(), !body.ends_with('\n'))
        } else {
            return serde_json::from_str(body).map_err(|_| StreamError::NotJson(body.to_owned()));
        };
        let end = parts.iter().position(|part| part.trim() == DONE);
        let mut values = Vec::new();
        for part in parts.into_iter().take(end.unwrap_or(usize::MAX)) {
            let Ok(value) = serde_json::from_str::<Value>(&part) else {
                return Err(if is_cut { StreamError::CutShort } else { StreamError::NotJson(part) });
            };
            if value.get("error").is_some_and(|error| !error.is_null()) {
                return Ok(value);
            }
            values.push(value);
        }
        self.gather(&values, end.is_some()).ok_or(StreamError::CutShort)
    }

    /// Returns the answer in a reply; `None` if it is no reply.
    pub(crate) fn answer(self, reply: &Value) -> Option<WireReply> {
        match self {
            Self::Chat => chat::answer(reply),
            Self::Responses => responses::answer(reply),
            Self::Messages => messages::answer(reply),
            Self::Gemini => gemini::answer(reply),
            Self::Ollama => ollama::answer(reply),
        }
    }

    /// The tokens that a reply cost, whatever it is otherwise.
    pub(crate) fn usage(self, reply: &Value) -> Usage {
        match self {
            Self::Chat => chat::usage(reply),
            Self::Responses => responses::usage(reply),
            Self::Messages => messages::usage(reply),
            Self::Gemini => gemini::usage(reply),
            Self::Ollama => ollama::usage(reply),
        }
    }
}

/// The data of server-sent events (WHATWG HTML, section 9.2), in order.
fn events(body: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    // Some servers leave out the blank line after the last event.
    for line in body.lines().chain([""]) {
        if line.is_empty() && !lines.is_empty() {
            events.push(lines.join("\n"));
            lines.clear();
        } else if let Some(data) = line.strip_prefix("data:") {
            lines.push(data.strip_prefix(' ').unwrap_or(data));
        }
    }
    events
}

/// A text of a JSON value, if it is not empty.
fn word(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The arguments of the first tool that a message calls, in chat completions and Ollama's format.
const CALL: &str = "/tool_calls/0/function/arguments";

/// The text of a reply, or else the arguments of the tool that it calls. No tool was offered: they are the reply, or something that the
/// model is asked to repair.
fn text_or_call(text: String, call: Option<String>) -> String {
    call.filter(|_| text.trim().is_empty()).unwrap_or(text)
}

/// A number of a JSON value.
fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// The sum of what is known; `None` if nothing is.
fn sum(numbers: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    numbers.into_iter().flatten().reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn streamed(body: &str) -> Result<Value, StreamError> {
        Wire::Chat.reply(Some("text/event-stream; charset=utf-8"), body)
    }

    #[test]
    fn chunks_become_one_completion() {
        let body = ": keep-alive\n\n\
            data: {\"model\": \"big\", \"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\"}}]}\r\n\r\n\
            event: message\ndata: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"{\\\"a\\\"\"}},\ndata: {\"index\": 1, \"delta\": {\"content\": \"no\"}}]}\n\n\
            data: {\"choices\": [{\"delta\": {\"content\": \": 1}\"}, \"finish_reason\": \"stop\"}], \"usage\": null}\n\n\
            data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 7}}\n\n\
            data: [DONE]\n\n";
        let whole = streamed(body).unwrap();
        assert_eq!(whole["choices"][0]["message"]["content"], "{\"a\": 1}");
        assert_eq!(whole["choices"][0]["finish_reason"], "stop");
        assert_eq!((&whole["model"], &whole["usage"]["prompt_tokens"]), (&json!("big"), &json!(7)));
    }

    #[test]
    fn a_stream_is_one_by_its_type_or_its_beginning() {
        let last = "data: {\"choices\": [{\"delta\": {\"content\": \"{}\"}, \"finish_reason\": \"stop\"}]}";
        for media_type in [None, Some("application/json"), Some("text/event-stream")] {
            let whole = Wire::Chat.reply(media_type, last).unwrap();
            assert_eq!(whole["choices"][0]["message"]["content"], "{}", "{media_type:?}");
        }
        assert_eq!(Wire::Chat.reply(Some("application/json"), "{}"), Ok(json!({})));
        assert_eq!(Wire::Chat.reply(None, ""), Err(StreamError::NotJson(String::new())));
    }

    #[test]
    fn the_end_of_a_stream_is_known() {
        let is_whole = |body: &[u8]| Wire::Chat.is_whole(body);
        assert!(is_whole(b"data: {}\n\ndata: [DONE]\n\n") && is_whole(b"data:[DONE]"));
        assert!(!is_whole(b"data: {}\n\n") && !is_whole(b""));
        let part = "data: {\"choices\": [{\"delta\": {\"content\": \"{\"}}]}\n\n";
        assert_eq!(streamed(part), Err(StreamError::CutShort));
        let done = streamed(&format!("{part}data:[DONE]\n\n")).unwrap();
        assert_eq!(done["choices"][0]["message"]["content"], "{", "no reason to finish is needed");
        assert_eq!(streamed(""), Err(StreamError::CutShort));
        assert_eq!(streamed("data: {\"choi"), Err(StreamError::CutShort));
        assert_eq!(streamed("data: soon\n\n"), Err(StreamError::NotJson("soon".to_owned())));
        let error = streamed("data: {\"error\": {\"code\": 502, \"message\": \"upstream\"}}\n\n").unwrap();
        assert_eq!(error["error"]["message"], "upstream");
    }
}
