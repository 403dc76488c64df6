//! Tool descriptions as models see them, and errors for invalid arguments.

use deskhand_core::{
    command::{CallStatus, Command, Verdict},
    ids::WindowId,
    known_tools::{self, Caller},
    policy::Policy,
    prompt::tools_text,
    reference::REFERENCE_NAMES,
};
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::{FakeDesktop, office};
use deskhand_runtime::Toolbox;
use serde_json::{Value, json};

fn toolbox() -> Toolbox<FakeDesktop> {
    Toolbox::standard(ActLimits::default()).unwrap()
}

#[test]
fn tool_descriptions() {
    let tools = toolbox();
    insta::assert_snapshot!("host_tools", tools_text(&tools.host_specs()));
    insta::assert_snapshot!("app_tools", tools_text(&tools.app_specs()));
}

#[tokio::test]
async fn invalid_arguments_are_refused_with_their_path() {
    let (tools, desktop) = (toolbox(), office());
    let window = desktop.find_window("Writer");
    let check = async |window: Option<WindowId>, tool: &str, arguments: Value, expected: &str| {
        let command = Command {
            tool: tool.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            window,
            agent: None,
        };
        let inputs = desktop.inputs();
        let result = tools.run(&desktop, &command).await;
        assert_eq!(result.status, CallStatus::Failure);
        assert!(result.summary().contains(expected), "{}", result.summary());
        assert_eq!(desktop.inputs(), inputs, "nothing was sent");
        result
    };
    let result =
        check(window, "click_element", json!({"id": "w1"}), "at `id`: `ew1` is not an element id").await;
    assert_eq!(result.effect, Some(Verdict::Refused));
    check(window, "click_element", json!({}), "missing field `id`").await;
    check(window, "click_element", json!({"id": "e1", "colour": 1}), "unknown field `colour`").await;
    check(window, "click_element", json!({"id": "e99999"}), "e99999").await;
    check(window, "press_keys", json!({"keys": "ctrl+hyper+x"}), "is not a key chord").await;
    check(window, "read_table", json!({"range": "C5:A1"}), "`C5:A1` is not a cell").await;
    check(window, "write_table", json!({"rows": [[{"a": 1}]]}), "at `rows[0][0]`").await;
    check(window, "wait_for", json!({"title": "a", "name": "b"}), "pass either a title").await;
    check(None, "select_application_window", json!({"id": "w77"}), "w77").await;
    check(None, "launch_application", json!({"name": "LibreOfice Calc"}), "LibreOffice Calc").await;
}

/// Acting tools that are not judged by the name of their target: they change only the view, the selection, or content that
/// can be restored.
const NOT_JUDGED_BY_NAME: [&str; 11] = [
    "set_value",
    "set_checked",
    "expand",
    "select_text",
    "write_table",
    "select_cells",
    "scroll",
    "drag",
    "focus_element",
    "scroll_into_view",
    "write_clipboard",
];

#[test]
fn tools_known_to_core_exist_and_match_its_assumptions() {
    let tools = toolbox();
    let (host, app) = (tools.host_specs(), tools.app_specs());
    for known in known_tools::ALL {
        let specs = match known.caller {
            Caller::Host => &host,
            Caller::App => &app,
            Caller::Shell => continue,
        };
        let spec = specs.iter().find(|spec| spec.name == known.name);
        let spec = spec.unwrap_or_else(|| panic!("unknown tool `{}`", known.name));
        assert_eq!(spec.acts, known.acts, "{}", known.name);
        for argument in known.arguments {
            assert!(!spec.parameters["properties"][argument].is_null(), "{} has no `{argument}`", known.name);
        }
    }
}

#[test]
fn every_tool_is_judged_by_names_or_listed_as_harmless() {
    let guard = Policy::default();
    for spec in toolbox().app_specs() {
        let places = [known_tools::CLICK_PLACE, known_tools::DRAG_PLACES].contains(&spec.name.as_str());
        let judged = guard.depends_on_names(&spec.name) || places || !spec.acts;
        let listed = NOT_JUDGED_BY_NAME.contains(&spec.name.as_str());
        assert!(judged != listed, "{}: judge it by names, or list it as harmless", spec.name);
    }
}

/// The page documents every tool and every reference name.
#[test]
fn the_tools_page_is_complete() {
    let page = include_str!("../../../../docs/reference/tools.md");
    let tools = toolbox();
    for spec in tools.host_specs().into_iter().chain(tools.app_specs()) {
        assert!(
            page.contains(&format!("`{}`", spec.name)),
            "docs/reference/tools.md does not document {}",
            spec.name
        );
    }
    for (name, own) in REFERENCE_NAMES {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}(")));
        assert!(
            row.is_some_and(|row| row.contains(&format!("`{own}"))),
            "docs/reference/tools.md: {name} is {own}"
        );
    }
}
