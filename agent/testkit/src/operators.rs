//! Computer-use models, played by a test: what they are asked and what they reply in each protocol, written from the providers'
//! references and apart from what the product does with them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::wires::Spoken;
use deskhand_testkit::endpoint::Behaviour;

/// A protocol for models that work in pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Played {
    /// OpenAI's `computer_use_preview`: one action a call.
    OpenAi,
    /// The same with all actions in one call.
    OpenAiBatched,
    /// Anthropic's `computer_20250124`.
    Anthropic,
    /// Text of UI-TARS, with places from 0 to 1000.
    UiTars,
    /// The same with pixels.
    UiTarsPixels,
    /// JSON with pixels.
    Json,
}

/// What a model does; places are pixels of the picture.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Clicks with the left button.
    Click(i32, i32),
    /// Drags from the first place to the second.
    Drag((i32, i32), (i32, i32)),
    /// Types.
    Type(String),
    /// Presses keys together: `["ctrl", "s"]`.
    Keys(&'static [&'static str]),
    /// Waits a little.
    Wait,
    /// The sub-task is done.
    Done(String),
}

impl Played {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::OpenAi, Self::OpenAiBatched, Self::Anthropic, Self::UiTars, Self::UiTarsPixels, Self::Json];

    /// The wire format that a model of this protocol is behind.
    pub const fn spoken(self) -> Spoken {
        match self {
            Self::OpenAi | Self::OpenAiBatched => Spoken::Responses,
            Self::Anthropic => Spoken::Messages,
            Self::UiTars | Self::UiTarsPixels | Self::Json => Spoken::Chat,
        }
    }

    /// The size of the screen that a request declares, where it does.
    pub fn declared(self, body: &Value) -> Option<(u64, u64)> {
        let (kind, width, height) = match self {
            Self::OpenAi | Self::OpenAiBatched => ("computer_use_preview", "display_width", "display_height"),
            Self::Anthropic => ("computer_20250124", "display_width_px", "display_height_px"),
            Self::UiTars | Self::UiTarsPixels | Self::Json => return None,
        };
        let tools = body.get("tools")?.as_array()?;
        let tool = tools.iter().find(|tool| tool.get("type").is_some_and(|is| is == kind))?;
        Some((tool.get(width)?.as_u64()?, tool.get(height)?.as_u64()?))
    }

    /// A reply that does these things, shown a picture of this size; streamed or whole.
    pub fn reply(self, thought: &str, moves: &[Move], size: (u32, u32), stream: bool) -> Behaviour {
        let done = moves.iter().find_map(|one| if let Move::Done(text) = one { Some(text) } else { None });
        let thought = match (self, done) {
            (Self::OpenAi | Self::OpenAiBatched | Self::Anthropic, Some(text)) => {
                format!("{thought}\nDONE: {text}")
            }
            (_, _) => thought.to_owned(),
        };
        match self {
            Self::OpenAi | Self::OpenAiBatched => {
                let body = self.response(&thought, moves);
                if stream { streamed_response(&body) } else { Behaviour::status(200, body.to_string()) }
            }
            Self::Anthropic => {
                let parts = message_parts(&thought, moves);
                if stream {
                    streamed_message(&parts)
                } else {
                    Behaviour::status(200, message(&parts).to_string())
                }
            }
            Self::UiTars | Self::UiTarsPixels => {
                let place = |x: i32, y: i32| self.box_of(x, y, size);
                let actions: Vec<String> = moves.iter().map(|one| call(one, place)).collect();
                Spoken::Chat.reply(&format!("Thought: {thought}\nAction: {}", actions.join("\n\n")), stream)
            }
            Self::Json => {
                let actions: Vec<Value> = moves.iter().map(plain).collect();
                Spoken::Chat.reply(&json!({"thought": thought, "action": actions}).to_string(), stream)
            }
        }
    }

    /// A place as UI-TARS writes it.
    fn box_of(self, x: i32, y: i32, (width, height): (u32, u32)) -> String {
        if self == Self::UiTarsPixels {
            return format!("<|box_start|>({x},{y})<|box_end|>");
        }
        // The middle of the pixel, rounded as a model would.
        let share = |at: i32, side: u32| ((f64::from(at) + 0.5) / f64::from(side) * 1000.0).round();
        format!("({},{})", share(x, width), share(y, height))
    }

    fn response(self, thought: &str, moves: &[Move]) -> Value {
        let actions: Vec<Value> = moves.iter().filter_map(computer_action).collect();
        let call = |fields: Value| {
            let mut call = json!({"type": "computer_call", "id": "cu_1", "call_id": "call_1", "status": "completed", "pending_safety_checks": []});
            if let (Value::Object(call), Value::Object(fields)) = (&mut call, fields) {
                call.extend(fields);
            }
            call
        };
        let calls: Vec<Value> = match (self, actions.is_empty()) {
            (_, true) => Vec::new(),
            (Self::OpenAiBatched, false) => vec![call(json!({"actions": actions}))],
            (_, false) => actions.into_iter().map(|action| call(json!({"action": action}))).collect(),
        };
        let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": thought}]});
        let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
        let output = [vec![reasoning, said], calls].concat();
        json!({
            "object": "response", "model": "m-1", "status": "completed", "error": null, "incomplete_details": null,
            "output": output,
            "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 7},
        })
    }
}

fn streamed_response(body: &Value) -> Behaviour {
    let event = |data: Value| format!("data: {data}\n\n");
    let stream = [
        event(json!({"type": "response.created", "response": {"status": "in_progress"}})),
        event(
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}}),
        ),
        event(json!({"type": "response.completed", "response": body})),
    ];
    Spoken::Responses.sends(&stream.concat())
}

/// An action of OpenAI's tool; `None` for what it says in words.
fn computer_action(one: &Move) -> Option<Value> {
    Some(match one {
        Move::Click(x, y) => json!({"type": "click", "x": x, "y": y, "button": "left"}),
        Move::Drag((x, y), (to_x, to_y)) => {
            json!({"type": "drag", "path": [{"x": x, "y": y}, {"x": to_x, "y": to_y}]})
        }
        Move::Type(text) => json!({"type": "type", "text": text}),
        Move::Keys(keys) => {
            let keys: Vec<String> = keys.iter().map(|key| key.to_uppercase()).collect();
            json!({"type": "keypress", "keys": keys})
        }
        Move::Wait => json!({"type": "wait"}),
        Move::Done(_) => return None,
    })
}

/// What a message of Anthropic's model consists of: text, then a call for each action.
fn message_parts(thought: &str, moves: &[Move]) -> Vec<Value> {
    let input = |one: &Move| {
        Some(match one {
            Move::Click(x, y) => json!({"action": "left_click", "coordinate": [x, y]}),
            Move::Drag((x, y), (to_x, to_y)) => {
                json!({"action": "left_click_drag", "start_coordinate": [x, y], "coordinate": [to_x, to_y]})
            }
            Move::Type(text) => json!({"action": "type", "text": text}),
            Move::Keys(keys) => json!({"action": "key", "text": keys.join("+")}),
            Move::Wait => json!({"action": "wait", "duration": 1}),
            Move::Done(_) => return None,
        })
    };
    let calls = moves.iter().filter_map(input);
    let calls =
        calls.map(|input| json!({"type": "tool_use", "id": "toolu_1", "name": "computer", "input": input}));
    std::iter::once(json!({"type": "text", "text": thought})).chain(calls).collect()
}

fn message(parts: &[Value]) -> Value {
    json!({
        "type": "message", "role": "assistant", "model": "m-1", "content": parts,
        "stop_reason": if parts.len() > 1 { "tool_use" } else { "end_turn" },
        "usage": {"input_tokens": 30, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10, "output_tokens": 7},
    })
}

fn streamed_message(parts: &[Value]) -> Behaviour {
    let event = |data: Value| format!("data: {data}\n\n");
    let whole = message(parts);
    let (usage, reason) = (whole.get("usage"), whole.get("stop_reason"));
    let start = json!({"model": "m-1", "content": [], "usage": usage});
    let mut stream = event(json!({"type": "message_start", "message": start}));
    for (index, part) in parts.iter().enumerate() {
        let (empty, delta) = match part.get("input") {
            None => {
                (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": part.get("text")}))
            }
            Some(input) => {
                let empty =
                    json!({"type": "tool_use", "id": part.get("id"), "name": part.get("name"), "input": {}});
                (empty, json!({"type": "input_json_delta", "partial_json": input.to_string()}))
            }
        };
        stream += &event(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        stream += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        stream += &event(json!({"type": "content_block_stop", "index": index}));
    }
    stream += &event(
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}),
    );
    stream += &event(json!({"type": "message_stop"}));
    Spoken::Messages.sends(&stream)
}

/// A line of UI-TARS.
fn call(one: &Move, place: impl Fn(i32, i32) -> String) -> String {
    let escaped = |text: &str| {
        text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\t', "\\t")
    };
    match one {
        Move::Click(x, y) => format!("click(start_box='{}')", place(*x, *y)),
        Move::Drag((x, y), (to_x, to_y)) => {
            format!("drag(start_box='{}', end_box='{}')", place(*x, *y), place(*to_x, *to_y))
        }
        Move::Type(text) => format!("type(content='{}')", escaped(text)),
        Move::Keys(keys) => format!("hotkey(key='{}')", keys.join(" ")),
        Move::Wait => "wait()".to_owned(),
        Move::Done(text) => format!("finished(content='{}')", escaped(text)),
    }
}

/// An action as any model writes it that was told how.
fn plain(one: &Move) -> Value {
    match one {
        Move::Click(x, y) => json!({"do": "click", "x": x, "y": y}),
        Move::Drag((x, y), (to_x, to_y)) => json!({"do": "drag", "x": x, "y": y, "to_x": to_x, "to_y": to_y}),
        Move::Type(text) => json!({"do": "type", "text": text}),
        Move::Keys(keys) => json!({"do": "keys", "keys": keys.join("+")}),
        Move::Wait => json!({"do": "wait"}),
        Move::Done(text) => json!({"do": "done", "text": text}),
    }
}

/// The last picture of a request in any wire format, as a file.
pub fn picture(body: &Value) -> Option<Vec<u8>> {
    let data = last_picture(body)?;
    STANDARD.decode(data).ok()
}

fn last_picture(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => text.strip_prefix("data:image/png;base64,"),
        Value::Array(items) => items.iter().rev().find_map(last_picture),
        Value::Object(members) if members.get("type").is_some_and(|is| is == "base64") => {
            members.get("data")?.as_str()
        }
        Value::Object(members) => members.values().rev().find_map(last_picture),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The width and height of a PNG file.
pub fn png_size(png: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    Some((number(16)?, number(20)?))
}
