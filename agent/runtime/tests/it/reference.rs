//! Tool names of the reference implementation, from the reply to the effect.

use deskhand_desktop::{Desktop, UiTree as _};
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_machine::{
    command::{CallResult, ToolCommand},
    policy::Policy,
    reference::{REFERENCE_NAMES, to_own_tools},
    reply::ProposedAction,
};
use deskhand_runtime::Toolbox;
use deskhand_ui::{Role, action::Verdict, ids::WindowId};
use serde_json::{Value, json};

/// Runs the actions in a reply that uses reference names.
pub(crate) async fn says<D: Desktop>(
    desktop: &D,
    window: Option<WindowId>,
    function: &str,
    arguments: Value,
) -> Vec<CallResult> {
    let tools = Toolbox::<D>::standard(ActLimits::default()).unwrap();
    let arguments = arguments.as_object().cloned().unwrap();
    let said = ProposedAction { function: function.to_owned(), arguments, expect: None, carries: Vec::new() };
    let own = if window.is_some() { to_own_tools(vec![said]) } else { vec![said] };
    let mut results = Vec::new();
    for ProposedAction { function: tool, arguments, .. } in own {
        let command = ToolCommand { tool, arguments, window, ..ToolCommand::default() };
        results.push(tools.run(desktop, &command, &Policy::default()).await);
    }
    results
}

fn form() -> (FakeDesktop, WindowId) {
    let renames = |to: &str| Behaviour::Rename { key: Some("told".into()), name: to.into() };
    let window = FakeWindow::normal("Main")
        .elements([
            FakeElement::new(Role::PUSH_BUTTON, "OK")
                .key("ok")
                .on_click(renames("clicked"))
                .at(100, 100, 200, 40),
            FakeElement::new(Role::ENTRY, "Name").key("name").text("").on_enter(renames("entered")),
            FakeElement::new(Role::SLIDER, "Volume").key("volume").value(5.0, 0.0, 10.0),
            FakeElement::new(Role::LABEL, "nothing yet").key("told"),
        ])
        .at(0, 0, 800, 600)
        .chord("ctrl+s", renames("saved"));
    let desktop = FakeDesktop::new([FakeApp::new("App", "app", [window])], []);
    let window = desktop.find_window("Main").unwrap();
    (desktop, window)
}

#[tokio::test]
async fn every_reference_name_has_its_effect() {
    let mut used: Vec<&str> = Vec::new();
    let mut check = async |function: &'static str, arguments: Value, key: &str, expected: &str| {
        used.push(function);
        let (desktop, window) = form();
        let text = arguments.to_string();
        let id = |key: &str| desktop.find_key(key).unwrap().to_string();
        let text =
            text.replace("@ok", &id("ok")).replace("@name", &id("name")).replace("@volume", &id("volume"));
        let arguments: Value = serde_json::from_str(&text).unwrap();
        let results = says(&desktop, Some(window), function, arguments).await;
        for result in &results {
            assert!(result.is_success(), "{function}: {result:?}");
        }
        let element = desktop.element(desktop.find_key(key).unwrap()).await.unwrap();
        let value = element.value.map(|value| value.current.to_string());
        let shows =
            [Some(element.name), element.text, value, results.last().map(|last| last.output.to_string())];
        assert!(
            shows.iter().flatten().any(|shown| shown.contains(expected)),
            "{function}: {shows:?}, {results:?}"
        );
    };
    check("click_input", json!({"id": "@ok", "name": "OK"}), "told", "clicked").await;
    check(
        "click_input",
        json!({"id": "@ok", "name": "OK", "button": "left", "double": true}),
        "told",
        "clicked",
    )
    .await;
    check("set_edit_text", json!({"id": "@name", "name": "Name", "text": "Ada"}), "name", "Ada").await;
    check(
        "set_edit_text",
        json!({"id": "@name", "name": "Name", "text": "Bob", "clear_current_text": true}),
        "name",
        "Bob",
    )
    .await;
    check("keyboard_input", json!({"id": "@name", "name": "Name", "keys": "Ada{ENTER}"}), "told", "entered")
        .await;
    check("keyboard_input", json!({"keys": "{VK_CONTROL}s", "control_focus": false}), "told", "saved").await;
    check("wheel_mouse_input", json!({"id": "@volume", "name": "Volume", "wheel_dist": 2}), "volume", "7")
        .await;
    check("texts", json!({"id": "@ok", "name": "OK"}), "told", "OK").await;
    // Tools of the same name.
    check(
        "click_on_coordinates",
        json!({"x": 0.25, "y": 0.2, "button": "left", "double": false}),
        "told",
        "clicked",
    )
    .await;
    for (name, _) in REFERENCE_NAMES {
        assert!(used.contains(name), "{name} is not tested");
    }
}

#[tokio::test]
async fn read_only_and_waiting_tools_report_their_result() {
    let (desktop, window) = form();
    let told = async |function: &str, arguments: Value| {
        let results = says(&desktop, Some(window), function, arguments).await;
        (results[0].is_success(), results[0].summary())
    };
    assert_eq!(
        told("wait", json!({"seconds": 2})).await,
        (true, "nothing happened within 2000 ms".to_owned())
    );
    let summary = told("summary", json!({"text": "three rows are in the table"})).await;
    assert_eq!(summary, (true, "three rows are in the table".to_owned()));
    let drag = json!({"start_x": 0.2, "start_y": 0.2, "end_x": 0.5, "end_y": 0.5, "duration": 1.0,
        "button": "right", "key_hold": "shift"});
    let (_, summary) = told("drag_on_coordinates", drag).await;
    assert!(summary.starts_with("drag from (160, 120) to (400, 300)"), "{summary}");
}

#[tokio::test]
async fn invalid_arguments_are_named_and_nothing_is_done() {
    let (desktop, window) = form();
    let check = async |function: &str, arguments: Value, expected: &str| {
        let before = desktop.inputs();
        let results = says(&desktop, Some(window), function, arguments).await;
        let summary = &results[0].summary();
        assert!(!results[0].is_success() && summary.contains(expected), "{function}: {summary}");
        assert_eq!(desktop.inputs(), before, "nothing was sent");
    };
    check("click_on_coordinates", json!({"x": 640, "y": 0.5}), "`x` must be a fraction of the window").await;
    check("click_on_coordinates", json!({"x": 0.5}), "missing field `y`").await;
    check("click_on_coordinates", json!({"x": 0.5, "y": 0.5, "button": "x"}), "at `button`").await;
    let drag = |key: &str, value: Value| {
        let mut arguments = json!({"start_x": 0.2, "start_y": 0.2, "end_x": 0.5, "end_y": 0.5});
        arguments[key] = value;
        arguments
    };
    check("drag_on_coordinates", drag("end_y", json!(-1)), "`end_y` must be a fraction").await;
    check("drag_on_coordinates", drag("button", json!("x")), "at `button`").await;
    check("drag_on_coordinates", drag("key_hold", json!("a")), "`key_hold`: unknown modifier key `a`").await;
    check("wait", json!({"seconds": 301}), "`seconds` must be more than 0 and at most 300").await;
    check("wait", json!({"seconds": "long"}), "at `seconds`").await;
    check("summary", json!({"words": 3}), "unknown field `words`").await;
}

#[tokio::test]
async fn a_window_is_selected_by_id_and_title() {
    let (desktop, window) = form();
    let select = async |name: &str| {
        let arguments = json!({"id": window.to_string(), "name": name});
        says(&desktop, None, "select_application_window", arguments).await.remove(0)
    };
    assert_eq!(select("Main").await.effect, Some(Verdict::Seen));
    let wrong = select("Writer").await;
    assert!(wrong.summary().contains("has the title \"Main\", not \"Writer\""), "{}", wrong.summary());
}
