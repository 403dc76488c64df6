//! Streamed replies: Server-Sent Events (WHATWG HTML, section 9.2) whose data are chunks of a chat completion.

use serde_json::{Value, json};

/// The data of the event after the last chunk.
const DONE: &str = "[DONE]";

/// A stream that cannot be put together.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamError {
    /// It ended before the reply did.
    CutShort,
    /// The data of an event is something else.
    NotJson(String),
}

/// Whether a response is a stream, by its media type or by how it starts.
pub(super) fn is_stream(media_type: Option<&str>, body: &str) -> bool {
    let named = media_type.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
    named || body.trim_start().starts_with("data:")
}

/// Whether the last event has arrived; some servers keep the connection open after it.
pub(super) fn is_whole(body: &[u8]) -> bool {
    let end = body.trim_ascii_end();
    ["data: ", "data:"].iter().any(|start| end.ends_with(format!("{start}{DONE}").as_bytes()))
}

/// The completion whose chunks a stream contains. An error among them is returned as it came.
///
/// # Errors
/// The stream is cut short, or the data of an event is not JSON.
pub(super) fn assemble(body: &str) -> Result<Value, StreamError> {
    let mut reply = Assembled::default();
    for data in events(body) {
        if data.trim() == DONE {
            return Ok(reply.completion());
        }
        let Ok(chunk) = serde_json::from_str::<Value>(&data) else {
            let is_cut = !body.ends_with("\n\n") && !body.ends_with("\n\r\n");
            return Err(if is_cut { StreamError::CutShort } else { StreamError::NotJson(data) });
        };
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Ok(chunk);
        }
        reply.take(&chunk);
    }
    // Some servers send no last event.
    if reply.finish_reason.is_some() { Ok(reply.completion()) } else { Err(StreamError::CutShort) }
}

/// The data of each event, in order.
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

/// The chunks so far.
#[derive(Debug, Default)]
struct Assembled {
    text: String,
    refusal: String,
    finish_reason: Option<String>,
    model: Option<String>,
    usage: Value,
}

impl Assembled {
    fn take(&mut self, chunk: &Value) {
        let word = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        if let Some(model) = word(chunk.get("model")) {
            self.model = Some(model);
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = usage.clone();
        }
        let choices = chunk.get("choices").and_then(Value::as_array).into_iter().flatten();
        // The first choice is the reply.
        for choice in choices.filter(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0) {
            let part = choice.get("delta").or_else(|| choice.get("message"));
            let part = |name: &str| part.and_then(|part| part.get(name)).and_then(Value::as_str);
            self.text.push_str(part("content").unwrap_or_default());
            self.refusal.push_str(part("refusal").unwrap_or_default());
            if let Some(reason) = word(choice.get("finish_reason")) {
                self.finish_reason = Some(reason);
            }
        }
    }

    fn completion(self) -> Value {
        let refusal = Some(self.refusal).filter(|refusal| !refusal.is_empty());
        let message = json!({"content": self.text, "refusal": refusal});
        let choice = json!({"message": message, "finish_reason": self.finish_reason});
        let mut whole = json!({"choices": [choice], "usage": self.usage});
        if let (Some(model), Some(members)) = (self.model, whole.as_object_mut()) {
            members.insert("model".to_owned(), json!(model));
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_become_one_completion() {
        let body = ": keep-alive\n\n\
            data: {\"model\": \"big\", \"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\"}}]}\r\n\r\n\
            event: message\ndata: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"{\\\"a\\\"\"}},\ndata: {\"index\": 1, \"delta\": {\"content\": \"no\"}}]}\n\n\
            data: {\"choices\": [{\"delta\": {\"content\": \": 1}\"}, \"finish_reason\": \"stop\"}], \"usage\": null}\n\n\
            data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 7}}\n\n\
            data: [DONE]\n\n";
        assert!(is_stream(None, "data: {}") && is_stream(Some("text/event-stream; charset=utf-8"), body));
        assert!(!is_stream(Some("application/json"), "{}") && !is_stream(None, ""));
        let whole = assemble(body).unwrap();
        assert_eq!(whole["choices"][0]["message"]["content"], "{\"a\": 1}");
        assert_eq!(whole["choices"][0]["finish_reason"], "stop");
        assert_eq!((&whole["model"], &whole["usage"]["prompt_tokens"]), (&json!("big"), &json!(7)));
    }

    #[test]
    fn the_end_of_a_stream_is_known() {
        assert!(is_whole(b"data: {}\n\ndata: [DONE]\n\n") && is_whole(b"data:[DONE]"));
        assert!(!is_whole(b"data: {}\n\n") && !is_whole(b""));
        let part = "data: {\"choices\": [{\"delta\": {\"content\": \"{\"}}]}\n\n";
        assert_eq!(assemble(part), Err(StreamError::CutShort));
        assert_eq!(assemble(""), Err(StreamError::CutShort));
        assert_eq!(assemble("data: {\"choi"), Err(StreamError::CutShort));
        assert_eq!(assemble("data: soon\n\n"), Err(StreamError::NotJson("soon".to_owned())));
        let last = "data: {\"choices\": [{\"delta\": {\"content\": \"{}\"}, \"finish_reason\": \"stop\"}]}";
        assert_eq!(assemble(last).unwrap()["choices"][0]["message"]["content"], "{}");
        let error = assemble("data: {\"error\": {\"code\": 502, \"message\": \"upstream\"}}\n\n").unwrap();
        assert_eq!(error["error"]["message"], "upstream");
    }
}
