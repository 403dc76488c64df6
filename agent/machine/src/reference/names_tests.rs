//! Tests of the conversion of typical reference calls.

use serde_json::{Value, json};

use super::{REFERENCE_NAMES, refusal, to_own_tools};
use crate::{command::ToolCommand, reply::ProposedAction};
use deskhand_ui::ids::WindowId;

fn proposed(function: &str, arguments: &Value) -> ProposedAction {
    ProposedAction {
        function: function.to_owned(),
        arguments: arguments.as_object().cloned().unwrap(),
        expect: Some("done".to_owned()),
        carries: Vec::new(),
    }
}

#[test]
fn converts_reference_tools_to_own_tools() {
    let check = |function: &str, arguments: Value, expected: &[(&str, Value)]| {
        let own = to_own_tools(vec![proposed(function, &arguments)]);
        let converted: Vec<(&str, Value)> = own
            .iter()
            .map(|action| (action.function.as_str(), Value::Object(action.arguments.clone())))
            .collect();
        assert_eq!(converted, expected, "{function}({arguments})");
        let expects: Vec<bool> = own.iter().map(|action| action.expect.is_some()).collect();
        assert!(expects.iter().rposition(|expects| *expects) == Some(expects.len() - 1), "{function}");
        assert_eq!(expects.iter().filter(|expects| **expects).count(), 1, "{function}");
    };
    let click = "click_element";
    check("click_input", json!({"id": "17", "name": "OK"}), &[(click, json!({"id": "17", "name": "OK"}))]);
    check(
        "click_input",
        json!({"id": 17, "name": "", "button": "right", "double": true}),
        &[(click, json!({"id": 17, "button": "right", "count": 2}))],
    );
    check(
        "click_input",
        json!({"id": "e17", "name": "OK", "button": "left", "double": "False"}),
        &[(click, json!({"id": "e17", "name": "OK"}))],
    );
    check(
        "set_edit_text",
        json!({"id": "3", "name": "Name", "text": "Ada", "clear_current_text": true}),
        &[("type_text", json!({"id": "3", "name": "Name", "text": "Ada", "clear": true}))],
    );
    check(
        "keyboard_input",
        json!({"id": "3", "name": "Name", "keys": "{VK_CONTROL}c"}),
        &[("focus_element", json!({"id": "3", "name": "Name"})), ("press_keys", json!({"keys": "ctrl+c"}))],
    );
    check(
        "keyboard_input",
        json!({"id": "3", "name": "Name", "keys": "Ada{TAB 2}{ENTER}", "control_focus": true}),
        &[
            ("type_text", json!({"id": "3", "name": "Name", "text": "Ada"})),
            ("press_keys", json!({"keys": "Tab Tab Return"})),
        ],
    );
    check(
        "keyboard_input",
        json!({"id": "3", "name": "Name", "keys": "Ada", "control_focus": false}),
        &[("type_text", json!({"text": "Ada"}))],
    );
    check("keyboard_input", json!({"keys": "{F5}"}), &[("press_keys", json!({"keys": "F5"}))]);
    check(
        "wheel_mouse_input",
        json!({"id": "3", "name": "List", "wheel_dist": -5}),
        &[("scroll", json!({"id": "3", "name": "List", "down": 5}))],
    );
    check("texts", json!({"id": "3", "name": "Text"}), &[("read_text", json!({"id": "3", "name": "Text"}))]);
    check("click_element", json!({"id": "e1"}), &[(click, json!({"id": "e1"}))]);
}

#[test]
fn invalid_arguments_are_kept_and_refused() {
    let check = |function: &str, arguments: Value, expected: &str| {
        let action = proposed(function, &arguments);
        assert_eq!(to_own_tools(vec![action.clone()]), vec![action.clone()]);
        let command = ToolCommand {
            tool: action.function,
            arguments: action.arguments,
            window: Some(WindowId(1)),
            ..ToolCommand::default()
        };
        let summary = refusal(&command).unwrap().summary();
        assert!(summary.contains(expected) && summary.ends_with("; nothing was done"), "{summary}");
    };
    check("click_input", json!({"name": "OK"}), "click_input: `id` is missing; give the id");
    check(
        "click_input",
        json!({"id": "1", "button": "x"}),
        "must be one of left, right, middle, not `\"x\"`",
    );
    check("click_input", json!({"id": "1", "double": 2}), "click_input: `double` must be true or false");
    check(
        "click_input",
        json!({"id": "1", "x": 2}),
        "has no argument `x`; it takes id, name, button, double",
    );
    check("click_input", json!({"id": [1]}), "must be the id of an element");
    check("set_edit_text", json!({"id": "1"}), "set_edit_text: `text` is missing");
    check("keyboard_input", json!({"keys": "{NOPE}"}), "keyboard_input: `keys`: `{NOPE}` is not a key");
    check("wheel_mouse_input", json!({"id": "1"}), "wheel_mouse_input: `wheel_dist` is 0");
    check("wheel_mouse_input", json!({"id": "1", "wheel_dist": 1.5}), "must be an integer");
    check("texts", json!({"id": "1", "name": {}}), "texts: `name` must be a string");
    check("annotation", json!({"control_labels": ["1"]}), "annotation only takes a screenshot");
    for (name, _) in REFERENCE_NAMES {
        check(name, json!({"colour": 1}), "missing");
    }
}
