//! What servers do wrong, in each wire format.

use serde_json::json;

use crate::wires::{Ending, Spoken};
use deskhand_testkit::endpoint::Behaviour;

/// Something that a server or its model does wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What it is, in words; the same for every format.
    pub what: &'static str,
    /// The response.
    pub behaviour: Behaviour,
}

/// All that a server of this format does wrong. `text` is the right reply.
pub fn faults(spoken: Spoken, text: &str) -> Vec<Fault> {
    let fault = |(what, behaviour)| Fault { what, behaviour };
    let all = statuses(spoken).into_iter().chain(bodies(spoken, text)).chain(replies(spoken, text));
    all.map(fault).collect()
}

fn statuses(spoken: Spoken) -> Vec<(&'static str, Behaviour)> {
    let error = |code, kind, message| spoken.error(code, kind, message);
    vec![
        ("401, the key is wrong", error(401, "authentication_error", "bad key")),
        ("404, no such model", error(404, "not_found_error", "no m")),
        ("400, the prompt is too long", error(400, "invalid_request", "too long")),
        ("429, too many requests", error(429, "rate_limit_error", "slow down")),
        ("500", error(500, "api_error", "boom")),
        ("529, overloaded", error(529, "overloaded_error", "Overloaded")),
        ("301, moved", Behaviour::status(301, "").with_header("location", "https://elsewhere/v1")),
    ]
}

fn bodies(spoken: Spoken, text: &str) -> Vec<(&'static str, Behaviour)> {
    let parts = spoken.streamed(text);
    let half = parts.iter().take(parts.len() / 2).cloned().collect::<String>();
    let broken_off = half.get(..half.len().saturating_sub(9)).unwrap_or_default();
    let first: String = parts.iter().take(1).cloned().collect();
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded", "code": 529}});
    let event = |data: &str| {
        if spoken == Spoken::Ollama { format!("{data}\n") } else { format!("data: {data}\n\n") }
    };
    let page = Behaviour::status(200, "<html>Sign in").with_header("content-type", "text/html");
    vec![
        ("a web page", page),
        ("nothing", Behaviour::status(200, "")),
        ("JSON that is no reply", Behaviour::status(200, r#"{"ok": true}"#)),
        ("9 MiB", Behaviour::status(200, " ".repeat(9 * 1024 * 1024))),
        ("a body that is cut off", Behaviour::CutBody),
        ("no response", Behaviour::Close),
        ("a stream without its end", spoken.sends(&half)),
        ("a stream that breaks off", spoken.sends(broken_off)),
        ("a stream with a part that is not JSON", spoken.sends(&format!("{first}{}", event("soon")))),
        ("an error in a stream", spoken.sends(&format!("{first}{}", event(&error.to_string())))),
        ("a stream of single bytes", spoken.drips(text)),
    ]
}

fn replies(spoken: Spoken, text: &str) -> Vec<(&'static str, Behaviour)> {
    let whole = |text: &str, ending| Behaviour::status(200, spoken.whole(text, ending).to_string());
    let done = |text: &str| whole(text, Ending::Done);
    let call = |arguments: &str| Behaviour::status(200, spoken.tool_call("reply", arguments).to_string());
    let mut replies = vec![
        ("a reply that reaches the limit of tokens", whole("{", Ending::Length)),
        ("an empty reply", done("  ")),
        ("prose in place of JSON", done("I will look into that for you.")),
        ("JSON of another form", done(r#"{"answer": 42}"#)),
        ("two JSON objects", done(&format!("{text}\n{text}"))),
        (
            "two different JSON objects",
            done(&format!("{{\"status\": \"FAIL\", \"thought\": \"no\"}}\n{text}")),
        ),
        ("a tool call where text was asked", call(r#"{"query": "weather"}"#)),
        ("the reply in a tool call", call(text)),
    ];
    // Ollama has no word for these.
    if spoken != Spoken::Ollama {
        replies.push(("a refusal", whole("I will not", Ending::Refused)));
        replies.push(("a content filter", whole("", Ending::Filtered)));
    }
    replies
}
