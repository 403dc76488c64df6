//! Tools on a real application, called through the registry like by a model.

use std::{
    collections::VecDeque,
    sync::Mutex,
    time::{Duration, Instant},
};

use deskhand_desktop::{LaunchRequest, TreeLimits, UiTree as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions, diagnose};
use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand},
    model::{ModelFailure, ModelReply, ModelRequest},
    outcome::OutcomeKind,
    policy::Policy,
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord},
    session::{Effect, SessionConfig, StopReason},
};
use deskhand_model::{Model, ModelSigns, PictureSource};
use deskhand_runtime::{
    SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits, agents::EnabledAgents, people::People, run,
};
use deskhand_testkit::{
    fixture::{Fixture, Screen, Toolkit},
    programs::can_run,
};
use deskhand_ui::{Role, Tree, WindowInfo, action::Verdict, geometry::Size};
use serde_json::{Value, json};

use crate::reference::says;

/// Returns `true` if a virtual desktop with these programs can be started. Tests without them are skipped with a message, or fail
/// if `DESKHAND_ALL_TESTS` is set.
pub(crate) fn has_programs(programs: &[&str]) -> bool {
    let findings = diagnose().into_iter().filter(|finding| finding.required && !finding.ok);
    can_run(findings.map(|finding| finding.name).collect(), programs)
}

struct Stage {
    desktop: LinuxDesktop,
    fixture: Fixture,
    window: WindowInfo,
    tools: Toolbox<LinuxDesktop>,
}

impl Stage {
    async fn start(screen: Screen) -> Option<Self> {
        if !has_programs(&[Toolkit::Gtk3.needs()]) {
            return None;
        }
        let size = Size { width: 1280, height: 900 };
        let options = VirtualOptions { size, ..VirtualOptions::default() };
        let desktop = LinuxDesktop::start_virtual(options).await.unwrap();
        let fixture = Fixture::prepare(Toolkit::Gtk3, screen).await.unwrap();
        let request =
            LaunchRequest { program: fixture.program().to_owned(), arguments: fixture.arguments().to_vec() };
        let launched = act::launch(&desktop, &request, &ActLimits::default()).await.unwrap();
        let window = launched.window.clone().unwrap_or_else(|| panic!("{}", launched.summary()));
        fixture.ready().await.unwrap();
        Some(Self { desktop, fixture, window, tools: Toolbox::standard(ActLimits::default()).unwrap() })
    }

    async fn tree(&self) -> Tree {
        self.desktop.tree(self.window.id, TreeLimits::default()).await.unwrap()
    }

    /// The id of the actionable element with this name.
    async fn id(&self, name: &str) -> String {
        let tree = self.tree().await;
        let mut named = tree.elements.iter().filter(|element| element.name == name);
        let found = named.clone().find(|element| element.role.is_interactive()).or_else(|| named.next());
        found.unwrap_or_else(|| panic!("no {name}")).id.to_string()
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallResult {
        let arguments = arguments.as_object().cloned().unwrap();
        let command = ToolCommand {
            tool: tool.to_owned(),
            arguments,
            window: Some(self.window.id),
            ..ToolCommand::default()
        };
        let policy = Policy { safe_guard: false, ..Policy::default() };
        self.tools.run(&self.desktop, &command, &policy).await
    }

    async fn does(&self, tool: &str, arguments: Value) -> CallResult {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.status, CallStatus::Success, "{tool}: {result:?}");
        result
    }

    async fn says(&self, function: &str, arguments: Value) {
        for result in says(&self.desktop, Some(self.window.id), function, arguments).await {
            assert_eq!(result.effect.unwrap_or(Verdict::Seen), Verdict::Seen, "{function}: {result:?}");
        }
    }

    async fn state(&self, control: &str) -> Value {
        self.fixture.state().await.unwrap()[control].clone()
    }
}

#[tokio::test]
async fn expand_select_paste_and_scroll_take_effect() {
    let Some(stage) = Stage::start(Screen::Form).await else { return };
    let result = stage.does("expand", json!({"id": stage.id("Fruit").await, "name": "Fruit"})).await;
    assert_eq!(result.effect, Some(Verdict::Seen));
    assert!(stage.tree().await.elements.iter().any(|element| element.name == "Apple"));
    stage.does("expand", json!({"id": stage.id("Fruit").await, "expanded": false})).await;
    assert!(!stage.tree().await.elements.iter().any(|element| element.name == "Apple"));
    let result = stage.call("expand", json!({"id": stage.id("Count").await})).await;
    assert_eq!(result.effect, Some(Verdict::Refused), "{result:?}");

    let notes = stage.id("Notes").await;
    stage.does("select_text", json!({"id": notes, "text": "beta"})).await;
    let selected = stage.fixture.ask("selection", json!({"control": "Notes"})).await.unwrap();
    assert_eq!(selected, "beta");
    let result = stage.call("select_text", json!({"id": notes, "text": "omega"})).await;
    assert!(result.summary().contains("does not contain \"omega\""), "{result:?}");

    stage.does("write_clipboard", json!({"text": "kept"})).await;
    let long = "Grüße, 東京 😀\n".repeat(20);
    stage.does("paste_text", json!({"id": notes, "name": "Notes", "text": long})).await;
    assert_eq!(stage.state("Notes").await, long);
    let read = stage.does("read_clipboard", json!({})).await;
    assert_eq!((read.effect, &read.output), (None, &json!({"text": "kept"})), "the clipboard is restored");

    let result = stage.does("scroll_into_view", json!({"id": stage.id("Places").await})).await;
    assert!(result.summary().contains("in view"), "{result:?}");
    let told = stage.does("summary", json!({})).await;
    assert_eq!(told.output["titles"], json!(["Fixture form"]));
    assert!(told.output["roles"]["push button"].as_u64() > Some(0), "{told:?}");
}

#[tokio::test]
async fn reference_tool_names_work_on_a_real_application() {
    let Some(stage) = Stage::start(Screen::Form).await else { return };
    stage.says("click_input", json!({"id": stage.id("Count").await, "name": "Count"})).await;
    assert_eq!(stage.state("Counted").await, "Counted 1");
    let name = stage.id("Name").await;
    let edit = json!({"id": name, "name": "Name", "text": "Ada", "clear_current_text": true});
    stage.says("set_edit_text", edit).await;
    assert_eq!(stage.state("Name").await, "Ada");
    stage.says("keyboard_input", json!({"id": name, "name": "Name", "keys": "{VK_CONTROL}a{VK_BACK}"})).await;
    assert_eq!(stage.state("Name").await, "");
    let keys = json!({"id": name, "name": "Name", "keys": "Bob {&}{x 2}"});
    stage.says("keyboard_input", keys).await;
    assert_eq!(stage.state("Name").await, "Bob &xx");
    let keys = json!({"keys": "{VK_SHIFT}{HOME}{BACKSPACE}", "control_focus": false});
    stage.says("keyboard_input", keys).await;
    assert_eq!(stage.state("Name").await, "", "all of it was selected");
    stage.says("texts", json!({"id": stage.id("Notes").await, "name": "Notes"})).await;
    let (bounds, button) = (stage.window.bounds, stage.id("Count").await.parse().unwrap());
    let button = stage.desktop.element(button).await.unwrap().bounds.unwrap().center();
    let along = |at: i32, from: i32, length: i32| f64::from(at - from) / f64::from(length - 1);
    let x = along(button.x, bounds.x, bounds.width);
    let y = along(button.y, bounds.y, bounds.height);
    stage.says("click_on_coordinates", json!({"x": x, "y": y})).await;
    assert_eq!(stage.state("Counted").await, "Counted 2");
}

#[tokio::test]
async fn wait_ends_when_the_application_settles() {
    let Some(stage) = Stage::start(Screen::Form).await else { return };
    stage.says("wait", json!({"seconds": 0.5})).await;
    let began = Instant::now();
    let waits = stage.call("wait", json!({"seconds": 120}));
    let changes = async {
        // The change is repeated, because the start of the wait is not observable.
        let mut turn = 0;
        loop {
            turn += 1;
            let put = json!({"control": "Name", "value": format!("text {turn}")});
            stage.fixture.ask("put", put).await.unwrap();
            if began.elapsed() > Duration::from_secs(1) {
                break;
            }
        }
    };
    let (result, ()) = tokio::join!(waits, changes);
    assert!(began.elapsed() < Duration::from_secs(60), "{result:?}");
    assert!(result.summary().contains("changed") && result.summary().ends_with("now idle"), "{result:?}");
}

/// A model with canned replies that repeats the last one.
struct Canned(Mutex<VecDeque<Value>>);

impl Model for Canned {
    async fn ask(
        &self,
        _: &ModelRequest,
        _: &dyn PictureSource,
        _: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let mut replies = self.0.lock().unwrap();
        let reply = if replies.len() > 1 { replies.pop_front().unwrap() } else { replies[0].clone() };
        let (text, model) = (reply.to_string(), "canned".to_owned());
        Ok(ModelReply { text, model, attempts: 1, ..ModelReply::default() })
    }

    fn name(&self) -> &'static str {
        "canned"
    }
}

#[tokio::test]
async fn the_first_stop_cancels_a_wait() {
    let Some(stage) = Stage::start(Screen::Form).await else { return };
    let model = Canned(Mutex::new(VecDeque::from([
        json!({"thought": "t", "status": "ASSIGN", "current_subtask": "wait", "control_label": stage.window.id.to_string()}),
        json!({"thought": "t", "status": "CONTINUE", "action": {"function": "wait", "arguments": {"seconds": 300}}}),
    ])));
    let folder = tempfile::tempdir().unwrap();
    let (store, stop) =
        (SessionStore::at(folder.path().join("sessions"), folder.path().join("seals")), StopSwitch::new());
    let options = SessionRunOptions {
        id: None,
        store: &store,
        desktop: &stage.desktop,
        desktop_name: "test".to_owned(),
        model: &model,
        tools: &stage.tools,
        agents: EnabledAgents::default(),
        config: SessionConfig::default(),
        prompts: PromptSet::default(),
        requests: vec!["wait".into()],
        people: People::nobody(),
        stop: stop.clone(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test".to_owned(),
        setup: Value::Null,
    };
    let waiting = tokio::sync::Notify::new();
    let mut observer = |line: &JournalEntry| {
        if let JournalRecord::Effect(record) = &line.record
            && matches!(&record.effect, Effect::Call { command } if command.tool == "wait")
        {
            waiting.notify_one();
        }
    };
    let began = Instant::now();
    // The call is running by then: both futures belong to one task.
    let stops = async {
        waiting.notified().await;
        stop.cancel(StopReason::User);
    };
    let (end, ()) = tokio::join!(run(options, &mut observer), stops);
    assert_eq!(end.unwrap().outcome.unwrap().kind, OutcomeKind::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(60), "the wait was cancelled");
}

#[tokio::test]
async fn clicks_a_position_without_an_element() {
    let Some(stage) = Stage::start(Screen::Canvas).await else { return };
    let tree = stage.tree().await;
    let canvas = tree.elements.iter().find(|element| element.role == Role::new("drawing area"));
    // The canvas exposes no elements; its container may or may not have one.
    let bounds = stage.window.bounds;
    let corner = canvas.and_then(|canvas| canvas.bounds).map_or_else(
        || {
            let label = tree.elements.iter().find(|element| element.name == "Counted 0").unwrap();
            let label = label.bounds.unwrap();
            (bounds.x, label.bottom())
        },
        |canvas| (canvas.x, canvas.y),
    );
    let mark = stage.fixture.mark();
    let x = f64::from(corner.0 - bounds.x + 320) / f64::from(bounds.width - 1);
    let y = f64::from(corner.1 - bounds.y + 75) / f64::from(bounds.height - 1);
    let result = stage.call("click_on_coordinates", json!({"x": x, "y": y})).await;
    let clicked = stage.fixture.happens(mark, |entry| entry.control == "Open").await;
    assert!(clicked.is_ok(), "{result:?}");
    // Nothing readable changed, so the verdict must not be `seen`.
    assert_ne!(result.effect, Some(Verdict::Seen), "{result:?}");
}
