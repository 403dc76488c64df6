//! Drives a session step by step with events given by a test.

use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand, ToolSpec},
    intent::{Does, Takes},
    model::{ModelFailure, ModelFailureKind, ModelReply, Usage},
    observation::{AgentView, DesktopView, Observation, ObservationTarget, ObserveFailure},
    outcome::Outcome,
    prompt::PromptSet,
    session::{Effect, EventRecord, FollowerPlan, Session, SessionConfig, SessionEvent},
};
use deskhand_ui::{
    AppInfo, Element, Role, State, States, Surface, Tree, WindowInfo, WindowKind, WindowState, WindowView,
    action::{CallReport, Verdict},
    geometry::Rect,
    ids::{ElementId, WindowId},
};
use serde_json::{Value, json};

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("The tool {name}."),
        parameters: json!({"type": "object", "properties": {"id": {"type": "string", "description": "An id."}}}),
        acts: true,
        does: declared(name).0,
        takes: declared(name).1.iter().map(|(name, takes)| ((*name).to_owned(), *takes)).collect(),
        ..ToolSpec::default()
    }
}

/// What the tools of these tests declare.
fn declared(name: &str) -> (Does, &'static [(&'static str, Takes)]) {
    const ELEMENT: &[(&str, Takes)] = &[("id", Takes::Element), ("name", Takes::Name)];
    match name {
        "launch_application" => (Does::Open, &[("name", Takes::Program), ("files", Takes::Files)]),
        "select_application_window" => (Does::Switch, &[("id", Takes::Window)]),
        "click_element" | "select" => (Does::Press, ELEMENT),
        "type_text" | "paste_text" => (Does::Type, &[("text", Takes::Text), ("id", Takes::Element)]),
        "write_clipboard" => (Does::Type, &[]),
        "click_on_coordinates" => (Does::Press, &[("x", Takes::Across), ("y", Takes::Down)]),
        "drag" => (Does::Drag, &[("from", Takes::Element), ("to", Takes::Element)]),
        "drag_on_coordinates" => (
            Does::Drag,
            &[
                ("start_x", Takes::Across),
                ("start_y", Takes::Down),
                ("end_x", Takes::Across),
                ("end_y", Takes::Down),
            ],
        ),
        "read_table" | "read_text" | "read_clipboard" => (Does::Read, ELEMENT),
        "scroll" => (Does::Point, ELEMENT),
        "press_keys" => (Does::Press, &[("keys", Takes::Keys)]),
        "save_as" => (Does::Save, &[("path", Takes::File), ("overwrite", Takes::Replaces)]),
        "save" => (Does::Save, &[]),
        "set_value" => (Does::Set, &[("id", Takes::Element), ("name", Takes::Name), ("value", Takes::Value)]),
        "read_file" => (Does::Read, &[("path", Takes::File)]),
        "visit" => (Does::Press, &[("path", Takes::Path)]),
        "run_command" => (Does::Run, &[("program", Takes::Program), ("arguments", Takes::Files)]),
        _ => (Does::Other, &[]),
    }
}

pub(crate) fn config() -> SessionConfig {
    SessionConfig {
        host_tools: vec![tool("launch_application"), tool("select_application_window")],
        app_tools: vec![tool("click_element"), tool("read_table")],
        ..SessionConfig::default()
    }
}

pub(crate) fn window(id: u32, title: &str, app: &str) -> WindowInfo {
    WindowInfo {
        id: WindowId(id),
        title: title.to_owned(),
        app: AppInfo { name: app.to_owned(), root: app.to_lowercase().replace(' ', "-"), pid: Some(1) },
        bounds: Rect::new(0, 0, 800, 600),
        kind: WindowKind::Normal,
        owner: None,
        active: id == 1,
        accessible: true,
        document: None,
        state: WindowState::default(),
        monitor: None,
    }
}

pub(crate) fn element(id: u32, depth: u16, role: Role, name: &str) -> Element {
    Element {
        depth,
        states: States::EMPTY.with(State::Enabled).with(State::Sensitive).with(State::Showing),
        bounds: Some(Rect::new(10, 10, 80, 20)),
        ..Element::new(ElementId(id), role, name)
    }
}

/// The same with a field that has the focus and this text.
pub(crate) fn focused(mut seen: WindowView, id: u32, text: &str) -> WindowView {
    let found = seen.surfaces[0].tree.elements.iter_mut().find(|one| one.id == ElementId(id)).unwrap();
    found.states = found.states.with(State::Focused).with(State::Editable);
    found.text = Some(text.to_owned());
    seen
}

pub(crate) fn view(window: WindowInfo, button: &str) -> WindowView {
    let elements = vec![
        element(1, 0, Role::FRAME, &window.title),
        element(2, 1, Role::FILLER, ""),
        element(3, 2, Role::PUSH_BUTTON, button),
    ];
    WindowView {
        surfaces: vec![Surface { window, tree: Tree { elements, partial: None } }],
        picture: None,
        notices: Vec::new(),
    }
}

/// A session, its clock, and what it was asked.
#[derive(Clone)]
pub(crate) struct Harness {
    pub(crate) session: Session,
    pub(crate) windows: Vec<WindowInfo>,
    /// The name of the button e3 in each window.
    pub(crate) button: String,
    /// Every event so far, with the effect that was pending before it.
    pub(crate) history: Vec<(String, EventRecord)>,
    clock_ms: u64,
}

impl Harness {
    /// An `AppAgent` that sees this, after a request of the user, and has replied with these actions.
    pub(crate) fn acting(config: SessionConfig, request: &str, seen: WindowView, actions: &Value) -> Self {
        let mut h = Self::looking(config, request, seen);
        h.reply(&json!({"thought": "t", "status": "CONTINUE", "action": actions}).to_string());
        h
    }

    /// An `AppAgent` that sees this, after a request of the user, and is asked what to do.
    pub(crate) fn looking(config: SessionConfig, request: &str, seen: WindowView) -> Self {
        let mut h = Self::asked(config, request, None);
        h.assign();
        h.answer(SessionEvent::Observed { observation: Observation::Window(seen) });
        h
    }

    /// What a person is asked by the safe guard; `None` if nobody is, and the first command runs.
    pub(crate) fn guarded(&self) -> Option<String> {
        if let Effect::AwaitApproval { approval, .. } = self.effect() {
            return Some(approval.reason.replace("safe guard: ", ""));
        }
        self.command();
        None
    }

    /// A session that has just been given a request, on a desktop with Writer.
    pub(crate) fn started(config: SessionConfig) -> Self {
        Self::asked(config, "Read the table.", None)
    }

    /// A session that has just been given this request.
    pub(crate) fn asked(config: SessionConfig, text: &str, plan: Option<FollowerPlan>) -> Self {
        let mut harness = Self {
            session: Session::new(config, PromptSet::default()),
            windows: vec![window(1, "sales.odt", "LibreOffice Writer")],
            button: "Finish".to_owned(),
            history: Vec::new(),
            clock_ms: 1_000,
        };
        harness.answer(SessionEvent::Requested { text: text.to_owned(), plan });
        harness
    }

    pub(crate) fn effect(&self) -> Effect {
        self.session.next().expect("the session goes on").effect.clone()
    }

    /// Advances the clock.
    pub(crate) fn wait_ms(&mut self, ms: u64) {
        self.clock_ms += ms;
    }

    pub(crate) fn answer(&mut self, event: SessionEvent) {
        self.clock_ms += 10;
        let effect = self.session.next().map(|record| record.id);
        let effect = if event.is_unsolicited() { None } else { effect };
        let record = EventRecord { effect, at_ms: self.clock_ms, event };
        self.history.push((serde_json::to_string(&self.session.next()).unwrap(), record.clone()));
        self.session.apply(&record).expect("the event fits");
    }

    /// Answers the pending observation.
    pub(crate) fn look(&mut self) {
        let Effect::Observe { look } = self.effect() else {
            panic!("a look is wanted, not {:?}", self.effect())
        };
        let event = self.seen(&look);
        self.answer(event);
    }

    /// The observation.
    pub(crate) fn seen(&self, look: &ObservationTarget) -> SessionEvent {
        match look {
            ObservationTarget::Desktop { .. } => SessionEvent::Observed {
                observation: Observation::Desktop(DesktopView {
                    windows: self.windows.clone(),
                    ..DesktopView::default()
                }),
            },
            ObservationTarget::Agent { agent, .. } => SessionEvent::Observed {
                observation: Observation::Agent(AgentView {
                    text: format!("the device of {agent} is idle"),
                    picture: None,
                }),
            },
            ObservationTarget::Window { window, .. } => {
                match self.windows.iter().find(|known| known.id == *window) {
                    Some(window) => SessionEvent::Observed {
                        observation: Observation::Window(view(window.clone(), &self.button)),
                    },
                    None => SessionEvent::ObserveFailed {
                        failure: ObserveFailure {
                            window_gone: true,
                            desktop_gone: false,
                            message: format!("window {window} was closed"),
                        },
                    },
                }
            }
        }
    }

    /// Observes, then gives the model's reply.
    pub(crate) fn step(&mut self, reply: &Value) {
        self.look();
        self.reply(&reply.to_string());
    }

    pub(crate) fn reply(&mut self, text: &str) {
        let Effect::Ask { .. } = self.effect() else {
            panic!("a question is wanted, not {:?}", self.effect())
        };
        let usage = Usage { prompt_tokens: Some(100), cached_tokens: None, completion_tokens: Some(10) };
        let event = self.replied(text, usage);
        self.answer(event);
    }

    /// A reply of the model.
    pub(crate) fn replied(&self, text: &str, usage: Usage) -> SessionEvent {
        let reply = ModelReply {
            text: text.to_owned(),
            model: "test".to_owned(),
            usage,
            attempts: 1,
            elapsed_ms: 5,
            ..ModelReply::default()
        };
        SessionEvent::replied(reply)
    }

    /// A reply of the model with this reported usage.
    pub(crate) fn reply_taking(&mut self, reply: &Value, usage: Usage) {
        let event = self.replied(&reply.to_string(), usage);
        self.answer(event);
    }

    pub(crate) fn model_fails(&mut self) {
        self.model_fails_with(ModelFailureKind::Unreachable);
    }

    /// The model call fails, up to three times.
    pub(crate) fn model_fails_with(&mut self, kind: ModelFailureKind) {
        let event = self.no_reply(kind);
        self.answer(event);
    }

    /// The failure of a model call.
    pub(crate) fn no_reply(&self, kind: ModelFailureKind) -> SessionEvent {
        let Effect::Ask { request } = self.effect() else {
            panic!("a question is wanted, not {:?}", self.effect())
        };
        let failure = ModelFailure {
            attempts: request.attempts_max.min(3),
            elapsed_ms: 5,
            ..ModelFailure::new(kind, "no connection to http://127.0.0.1:9")
        };
        SessionEvent::ModelFailed { failure }
    }

    /// The pending command.
    pub(crate) fn command(&self) -> ToolCommand {
        let Effect::Call { command } = self.effect() else {
            panic!("a call is wanted, not {:?}", self.effect())
        };
        command
    }

    pub(crate) fn succeeds(&mut self, window: Option<WindowInfo>, output: Value) {
        let _ = self.command();
        self.answer(SessionEvent::Returned {
            result: CallResult {
                status: CallStatus::Success,
                effect: Some(Verdict::Seen),
                route: None,
                report: CallReport::text("done"),
                output,
                picture: None,
                window,
                elapsed_ms: 3,
            },
        });
    }

    pub(crate) fn fails(&mut self, why: &str) {
        let _ = self.command();
        self.answer(SessionEvent::Returned { result: CallResult::failure(Some(Verdict::NotSeen), why) });
    }

    /// The host assigns a sub-task to window 1, which gets selected.
    pub(crate) fn assign(&mut self) {
        self.step(&assign_reply("w1"));
        let selected = self.windows[0].clone();
        self.succeeds(Some(selected), Value::Null);
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let Effect::Finish { outcome } = self.effect() else { panic!("no outcome but {:?}", self.effect()) };
        outcome
    }

    /// The text of the pending model request.
    pub(crate) fn prompt(&self) -> String {
        let Effect::Ask { request } = self.effect() else {
            panic!("a question is wanted, not {:?}", self.effect())
        };
        let mut text = String::new();
        for message in &request.messages {
            for part in &message.parts {
                if let deskhand_machine::model::MessagePart::Text { text: part } = part {
                    text.push_str(&format!("<<{}>>\n{part}\n", message.speaker));
                }
            }
        }
        text
    }
}

pub(crate) fn assign_reply(target: &str) -> Value {
    json!({
        "observation": "Writer is open", "thought": "the table is there", "status": "ASSIGN",
        "current_subtask": "read the sales table", "control_label": target, "plan": ["chart it"],
    })
}

pub(crate) fn host(status: &str) -> Value {
    json!({"observation": "o", "thought": "because", "status": status, "result": "the result"})
}

pub(crate) fn app(status: &str, actions: &[&str]) -> Value {
    let actions: Vec<Value> = actions
        .iter()
        .map(|name| json!({"function": name, "arguments": {"id": "e3", "name": "Finish"}}))
        .collect();
    json!({"observation": "o", "thought": "because", "status": status, "action": actions, "result": "what I found"})
}
