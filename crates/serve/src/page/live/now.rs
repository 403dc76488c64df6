//! What a session does at the moment, and what it asks: what its process says over its control socket.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What a session asks its user.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Prompt {
    /// The id that an answer carries; `None` for the next request.
    pub(crate) id: Option<Value>,
    /// `questions`, `approval` or `request`.
    pub(crate) kind: &'static str,
    /// The line of the protocol.
    pub(crate) line: Value,
}

/// The state of a session beside its journal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Now {
    /// Whether its process runs, and listens.
    pub(crate) running: bool,
    /// Whether it is paused.
    pub(crate) paused: bool,
    /// Whether a person has taken over.
    pub(crate) taken_over: bool,
    /// What it waits for: the line of the protocol.
    pub(crate) waiting: Option<Value>,
    /// What it asks.
    pub(crate) prompt: Option<Prompt>,
    /// What it refused of what was sent to it last.
    pub(crate) problem: Option<String>,
    /// The place on the screen that is acted on: x, y, width, height in pixels.
    pub(crate) mark: Option<[i32; 4]>,
}

/// What a line of the control socket asks of who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// There are records to read.
    Records,
    /// Something is otherwise than before.
    State,
    /// Nothing.
    Nothing,
}

impl Now {
    /// Takes in a line of the protocol.
    pub(super) fn read(&mut self, line: Value) -> Told {
        let kind = line.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = line.get("id").cloned();
        match kind.as_str() {
            "attached" => {
                self.running = true;
                self.paused = line.get("paused").and_then(Value::as_bool).unwrap_or_default();
                return Told::Records;
            }
            "recorded" => {
                self.waiting = None;
                return Told::Records;
            }
            "waiting" => self.waiting = Some(line),
            "questions" => self.prompt = Some(Prompt { id, kind: "questions", line }),
            "approval" => self.prompt = Some(Prompt { id, kind: "approval", line }),
            "awaiting_request" => self.prompt = Some(Prompt { id: None, kind: "request", line }),
            "withdrawn" if self.prompt.as_ref().is_some_and(|prompt| prompt.id == id) => self.prompt = None,
            "paused" => self.paused = true,
            "resumed" => (self.paused, self.taken_over) = (false, false),
            "taken_over" => (self.paused, self.taken_over) = (true, true),
            "handed_back" => (self.paused, self.taken_over) = (false, false),
            "error" => {
                let message = line.get("message").and_then(Value::as_str).unwrap_or_default();
                self.problem = Some(message.to_owned());
            }
            _ => return Told::Nothing,
        }
        Told::State
    }
}
