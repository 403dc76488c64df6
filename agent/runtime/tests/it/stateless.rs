//! Long tasks with a model that remembers nothing: what is needed at the end was read 20 to 60 steps earlier, in another application.
//!
//! The model is a function of the prompt that it is shown and of nothing else. Each task is judged by the text in the field.

use std::sync::atomic::{AtomicU32, Ordering};

use deskhand_desktop::{TreeLimits, UiTree as _};
use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeSheet, FakeWindow};
use deskhand_machine::{
    agent::AgentRef,
    model::{MessagePart, ModelFailure, ModelReply, ModelRequest},
    outcome::OutcomeKind,
    session::{RoundLimits, SessionConfig},
};
use deskhand_model::{Model, ModelSigns, PictureSource};
use deskhand_runtime::StopSwitch;
use deskhand_testkit::shown::{id_of, next_box, past, price_of, reading, section};
use deskhand_ui::{Role, State};
use serde_json::{Value, json};

use crate::support::run_with;

/// How the value is read, and what is done so that it is not forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Read as a table, and noted.
    TableNoted,
    /// Read as a table, and not noted: only the list of readings has it.
    TableRead,
    /// Seen in the window alone, and noted.
    SeenNoted,
    /// Seen in the window alone, and not noted: it has to be searched for.
    Seen,
}

/// A model without a memory.
struct Forgetful {
    way: Way,
    /// How many boxes are ticked between reading the value and needing it, one a step.
    boxes: u32,
    /// How often it looked something up.
    recalled: AtomicU32,
    /// The longest prompt, in characters.
    longest: AtomicU32,
}

/// The text that the model is shown.
fn shown(request: &ModelRequest) -> String {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let text = |part: &MessagePart| match part {
        MessagePart::Text { text } => Some(text.clone()),
        MessagePart::Picture { .. } => None,
    };
    parts.filter_map(text).collect::<Vec<_>>().join("\n")
}

impl Forgetful {
    fn host(&self, prompt: &str) -> Value {
        let ended = section(prompt, "Sub-tasks so far");
        let assign = |target: &str, subtask: String| {
            json!({"thought": "next", "status": "ASSIGN", "current_subtask": subtask,
                   "control_label": id_of(prompt, target)})
        };
        if ended.contains("Fill in the order") {
            return json!({"thought": "done", "status": "FINISH", "result": "ordered"});
        }
        if ended.contains("Look at the prices") {
            let subtask = format!(
                "Fill in the order: tick the boxes Item 1 to Item {}, one after the other, then type the price of the lamp into Total.",
                self.boxes
            );
            return assign("\"Order\"", subtask);
        }
        assign("\"Prices\"", "Look at the prices of all articles.".to_owned())
    }

    fn reads(&self, prompt: &str) -> Value {
        let is_read = prompt.contains("Your steps on this sub-task so far");
        let table = matches!(self.way, Way::TableNoted | Way::TableRead);
        if table && !is_read {
            let action =
                json!([{"function": "read_table", "arguments": {"id": id_of(prompt, "table \"List\"")}}]);
            return json!({"thought": "read them", "status": "CONTINUE", "action": action});
        }
        let mut reply =
            json!({"thought": "they were read", "status": "FINISH", "result": "the prices were read"});
        if matches!(self.way, Way::TableNoted | Way::SeenNoted) {
            reply["notes"] =
                json!([format!("the Lamp costs {}", price_of("Lamp", prompt).unwrap_or_default())]);
        }
        reply
    }

    fn fills_in(&self, prompt: &str) -> Value {
        let act = |function: &str, arguments: Value| json!({"thought": "go on", "status": "CONTINUE", "action": [{"function": function, "arguments": arguments}]});
        let last = format!("Item {}\"", self.boxes);
        if let Some(box_line) = next_box(prompt, self.boxes) {
            return act("set_checked", json!({"id": box_line, "checked": true}));
        }
        assert!(prompt.contains(&last), "the boxes are there: {prompt}");
        match price_of("Lamp", &past(prompt)) {
            Some(price) => json!({"thought": "the price is known", "status": "FINISH", "result": "filled in",
                "action": [{"function": "set_value", "arguments": {"id": id_of(prompt, "entry \"Total\""), "value": price}}]}),
            None => {
                self.recalled.fetch_add(1, Ordering::Relaxed);
                match reading(prompt, "read_table") {
                    Some(id) => act("recall", json!({"id": id})),
                    None => act("recall", json!({"words": "lamp"})),
                }
            }
        }
    }
}

impl Model for Forgetful {
    async fn ask(
        &self,
        request: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let prompt = shown(request);
        self.longest.fetch_max(u32::try_from(prompt.len()).unwrap(), Ordering::Relaxed);
        let reply = match &request.agent {
            AgentRef::HostAgent => self.host(&prompt),
            AgentRef::AppAgent { application, .. } if application == "prices" => self.reads(&prompt),
            AgentRef::AppAgent { .. }
            | AgentRef::Agent { .. }
            | AgentRef::EvaluationAgent
            | AgentRef::Unnamed => self.fills_in(&prompt),
        };
        Ok(ModelReply {
            text: reply.to_string(),
            model: "forgetful".to_owned(),
            attempts: 1,
            ..ModelReply::default()
        })
    }

    fn name(&self) -> &'static str {
        "forgetful"
    }
}

/// A price list and an order form.
fn shop(boxes: u32) -> FakeDesktop {
    let rows = FakeSheet::of(&[&["Chair", "89.90"], &["Lamp", "417.50"], &["Table", "230.00"]]);
    let label = |text: &str| FakeElement::new(Role::LABEL, text);
    let prices = FakeWindow::normal("Prices")
        .elements([label("Lamp costs 417.50 this week"), FakeElement::new(Role::TABLE, "List").sheet(rows)]);
    let box_of = |number: u32| {
        FakeElement::new(Role::CHECK_BOX, &format!("Item {number}")).on_click(Behaviour::Toggle)
    };
    let mut elements: Vec<FakeElement> = (1..=boxes).map(box_of).collect();
    elements.push(FakeElement::new(Role::ENTRY, "Total").key("total").state(State::Editable).text(""));
    let order = FakeWindow::normal("Order").elements(elements);
    FakeDesktop::new(
        [FakeApp::new("Prices", "prices", [prices]), FakeApp::new("Order", "order", [order])],
        [],
    )
}

/// One task; returns how often something was looked up.
async fn check(way: Way, boxes: u32) -> u32 {
    let model = Forgetful { way, boxes, recalled: AtomicU32::new(0), longest: AtomicU32::new(0) };
    let limits = RoundLimits { steps_max: 200, model_calls_max: 400, ..RoundLimits::default() };
    let config = SessionConfig { limits, ..SessionConfig::default() };
    let ran = run_with(&model, config, shop(boxes), &StopSwitch::new(), |_, _| {}).await;
    let outcome = ran.end.outcome.expect("the round ended");
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{way:?}, {boxes} steps: {}", outcome.reason);
    let window = ran.desktop.find_window("Order").unwrap();
    let tree = ran.desktop.tree(window, TreeLimits::default()).await.unwrap();
    let total = tree.find(ran.desktop.find_key("total").unwrap()).unwrap();
    assert_eq!(total.text.as_deref(), Some("417.50"), "{way:?}, {boxes} steps");
    // A prompt does not grow with the session.
    let longest = model.longest.load(Ordering::Relaxed);
    assert!(longest < 60_000, "{longest} characters");
    model.recalled.load(Ordering::Relaxed)
}

#[tokio::test]
async fn what_was_read_long_before_in_another_application_is_not_forgotten() {
    for boxes in [20, 40, 60] {
        assert_eq!(check(Way::TableNoted, boxes).await, 0, "the note is in view");
        assert_eq!(check(Way::SeenNoted, boxes).await, 0, "the note is in view");
        assert!(check(Way::TableRead, boxes).await <= 1);
        assert_eq!(check(Way::Seen, boxes).await, 1, "it was searched for");
    }
}
