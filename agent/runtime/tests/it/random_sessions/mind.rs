//! A random model: mostly sensible replies, sometimes not.

use std::sync::{Arc, Mutex};

use deskhand_machine::{
    agent::AgentRef,
    model::{MessagePart, ModelFailure, ModelFailureKind, ModelReply, ModelRequest, Usage},
};
use deskhand_model::{Model, ModelSigns, PictureSource};
use serde_json::{Value, json};

use super::{Counts, chance::Chance};

/// The model. Clones share the state.
#[derive(Clone)]
pub(super) struct RandomModel(Arc<Mutex<Mind>>);

struct Mind {
    chance: Chance,
    counts: Counts,
    /// Unusable replies per 1000.
    confused: usize,
    /// Failures per 1000.
    failing: usize,
    /// Missing replies per 1000; 0 without a timeout.
    silent: usize,
}

/// The controls that a safe guard asks about.
const GUARDED: [&str; 3] = ["Delete", "Send", "Discard"];

/// Listed things: ids and names.
type Listed = Vec<(String, String)>;

impl RandomModel {
    pub(super) fn new(mut chance: Chance, may_be_silent: bool) -> Self {
        let confused = chance.pick(&[0, 20, 20, 50, 500]);
        let failing = chance.pick(&[0, 0, 5, 10, 80]);
        let silent = if may_be_silent { 20 } else { 0 };
        Self(Arc::new(Mutex::new(Mind { chance, counts: Counts::default(), confused, failing, silent })))
    }

    /// What it replied, by kind.
    pub(super) fn counts(&self) -> Counts {
        self.0.lock().unwrap().counts.clone()
    }
}

impl Model for RandomModel {
    async fn ask(
        &self,
        request: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let answer = self.0.lock().unwrap().answer(request);
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    fn name(&self) -> &'static str {
        "random"
    }
}

impl Mind {
    fn answer(&mut self, request: &ModelRequest) -> Option<Result<ModelReply, ModelFailure>> {
        let more = self.chance.pick(&[0, 0, 0, 0, 1, 2]);
        let attempts = 1 + more.min(request.attempts_max - 1);
        let tokens = 100 + self.chance.below(900) as u64;
        let usage = Usage { prompt_tokens: Some(tokens), cached_tokens: None, completion_tokens: Some(50) };
        if self.chance.per_mille(self.silent) {
            self.counts.note("model", "silence");
            return None;
        }
        if self.chance.per_mille(self.failing) {
            self.counts.note("model", "failure");
            let kind = self.chance.pick(&[
                ModelFailureKind::RateLimited,
                ModelFailureKind::Server,
                ModelFailureKind::TimedOut,
                ModelFailureKind::Unreachable,
                ModelFailureKind::Malformed,
            ]);
            let message = format!("{kind:?}: random failure");
            return Some(Err(ModelFailure {
                attempts,
                usage,
                elapsed_ms: 5,
                ..ModelFailure::new(kind, message)
            }));
        }
        let text = if self.chance.per_mille(self.confused) {
            self.counts.note("model", "nonsense");
            self.nonsense()
        } else if request.agent == AgentRef::HostAgent {
            self.host(&listed(request, 'w'))
        } else {
            self.app(&listed(request, 'e'))
        };
        Some(Ok(ModelReply {
            text,
            model: "random".to_owned(),
            usage,
            attempts,
            elapsed_ms: 5,
            ..ModelReply::default()
        }))
    }

    fn nonsense(&mut self) -> String {
        let texts = [
            "",
            "I would rather not.",
            "{\"status\": ",
            "{\"thought\": \"t\", \"status\": \"DANCE\"}",
            "{\"thought\": \"t\", \"status\": \"CONTINUE\"}",
            "[1, 2, 3]",
            "{\"thought\": 7, \"status\": [\"FINISH\"], \"action\": {\"function\": {}}}",
        ];
        self.chance.pick(&texts).to_owned()
    }

    fn target(&mut self, windows: &Listed) -> String {
        if windows.is_empty() || self.chance.percent(5) {
            return self.chance.pick(&["w999", "a7", "Notes", ""]).to_owned();
        }
        self.chance.pick(windows).0
    }

    fn host(&mut self, windows: &Listed) -> String {
        let program = self.chance.pick(&["Paint", "Paint", "Notes", "Photoshop"]);
        let mut reply = json!({"observation": "a desktop", "thought": "chance"});
        let said = match self.chance.below(100) {
            0..60 => {
                reply["current_subtask"] = json!("do something");
                reply["control_label"] = json!(self.target(windows));
                if self.chance.percent(15) {
                    let target = self.target(windows);
                    reply["next"] = json!([
                        {"current_subtask": "do more", "control_label": target},
                        {"current_subtask": "paint", "launch": "Paint"}]);
                }
                "ASSIGN"
            }
            60..70 => {
                reply["current_subtask"] = json!("paint");
                reply["function"] = json!("launch_application");
                reply["arguments"] = json!({"name": program});
                "ASSIGN"
            }
            word @ 70..80 => {
                reply["function"] = json!("launch_application");
                reply["arguments"] = json!({"name": program});
                if word < 75 { "CONTINUE" } else { "CONFIRM" }
            }
            80..84 => {
                reply["questions"] = self.questions();
                "PENDING"
            }
            84..96 => "FINISH",
            _ => "FAIL",
        };
        self.counts.note("host says", said);
        reply["status"] = json!(said);
        reply["result"] = json!("as it is");
        reply.to_string()
    }

    fn questions(&mut self) -> Value {
        if self.chance.percent(50) {
            json!([{"question": "Which one?", "required": true}])
        } else {
            json!([{"question": "Which colour?", "required": false, "default": "blue"}])
        }
    }

    fn app(&mut self, elements: &Listed) -> String {
        let mut reply = json!({"observation": "a window", "thought": "chance", "result": "as it is"});
        let said = match self.chance.below(100) {
            0..55 => "CONTINUE",
            55..75 => "FINISH",
            75..87 => "CONFIRM",
            87..92 => "SCREENSHOT",
            92..96 => "PENDING",
            _ => "FAIL",
        };
        self.counts.note("app says", said);
        reply["status"] = json!(said);
        match said {
            "CONTINUE" | "CONFIRM" => reply["action"] = self.actions(elements),
            "FINISH" if self.chance.percent(60) => reply["action"] = self.actions(elements),
            "PENDING" => reply["questions"] = self.questions(),
            _ => {}
        }
        reply.to_string()
    }

    fn actions(&mut self, elements: &Listed) -> Value {
        // Pressing a key activates the focused control, which the command does not name.
        if self.chance.percent(12) && !elements.is_empty() {
            let guarded: Listed =
                elements.iter().filter(|(_, name)| GUARDED.contains(&name.as_str())).cloned().collect();
            let (id, _) = self.chance.pick(if guarded.is_empty() { elements } else { &guarded });
            let keys = self.chance.pick(&["space", "Return"]);
            return json!([
                {"function": "focus_element", "arguments": {"id": id}},
                {"function": "press_keys", "arguments": {"keys": keys}}]);
        }
        let count = 1 + self.chance.below(3);
        (0..count).map(|_| self.action(elements)).collect()
    }

    fn action(&mut self, elements: &Listed) -> Value {
        let telling = ["Delete", "Send", "Discard", "Save", "Options…", "Rename", "OK", "Draft", "Subject"];
        let known: Listed =
            elements.iter().filter(|(_, name)| telling.contains(&name.as_str())).cloned().collect();
        let among = if known.is_empty() || self.chance.percent(30) { elements } else { &known };
        let (mut id, name) = match among.as_slice() {
            [] => ("e1".to_owned(), "Save".to_owned()),
            among => self.chance.pick(among),
        };
        if self.chance.percent(4) {
            id = "e999".to_owned();
        }
        let name = if self.chance.percent(8) { "Something else".to_owned() } else { name };
        let keys = self.chance.pick(&[
            "ctrl+s",
            "Return",
            "space",
            "Tab",
            "Escape",
            "shift+delete",
            "Tab space",
            "no+key",
        ]);
        let named = if self.chance.percent(85) { json!({"id": id, "name": name}) } else { json!({"id": id}) };
        let (function, arguments) = match self.chance.below(100) {
            0..38 => ("click_element", named),
            38..44 => ("invoke_action", named),
            44..54 => ("set_value", json!({"id": id, "value": "hello"})),
            54..62 => ("type_text", json!({"text": self.chance.pick(&["hello", "hello\n"])})),
            62..67 => ("focus_element", json!({"id": id})),
            67..72 => ("set_checked", json!({"id": id, "checked": self.chance.percent(50)})),
            72..82 => ("press_keys", json!({"keys": keys})),
            82..86 => ("select", json!({"id": id, "item": self.chance.pick(&["Inbox", "Work", "Attic"])})),
            86..90 => ("read_text", json!({"id": id})),
            90..93 => ("read_table", json!({"name": "Figures"})),
            93..96 => ("write_table", json!({"start": "A1", "rows": [["x", "y"]]})),
            96..98 => ("click_element", json!({"name": 7})),
            _ => ("fly_away", json!({})),
        };
        json!({"function": function, "arguments": arguments})
    }
}

/// The ids with a prefix that a request lists, with the names after them.
fn listed(request: &ModelRequest, letter: char) -> Listed {
    let texts =
        request.messages.iter().skip(1).flat_map(|message| &message.parts).filter_map(|part| match part {
            MessagePart::Text { text } => Some(text.as_str()),
            MessagePart::Picture { .. } => None,
        });
    let mut found = Listed::new();
    for entry in texts.flat_map(|text| text.split('[').skip(1)) {
        let Some((id, rest)) = entry.split_once(']') else { continue };
        let is_id = id.strip_prefix(letter).is_some_and(|number| number.parse::<u64>().is_ok());
        if is_id && !found.iter().any(|(known, _)| known == id) {
            let name = rest.lines().next().and_then(|line| line.split('"').nth(1)).unwrap_or_default();
            found.push((id.to_owned(), name.to_owned()));
        }
    }
    found
}
