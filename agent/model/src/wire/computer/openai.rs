//! The tool `computer_use_preview` of OpenAI's Responses.

use serde_json::{Value, json};

use super::{action, held};
use crate::wire::word;

/// Pixels of scrolling per notch of the wheel.
const NOTCH: f64 = 100.0;

/// The declaration of the tool.
pub(super) fn tool(width: u32, height: u32) -> Value {
    json!({
        "type": "computer_use_preview",
        "display_width": width,
        "display_height": height,
        "environment": "linux",
    })
}

fn calls(reply: &Value) -> impl Iterator<Item = &Value> {
    let output = reply.get("output").and_then(Value::as_array).into_iter().flatten();
    output.filter(|item| item.get("type").is_some_and(|is| is == "computer_call"))
}

/// The actions of all calls: each has one, or a list of them.
pub(super) fn actions(reply: &Value) -> Vec<Value> {
    let of = |call: &Value| match (call.get("actions"), call.get("action")) {
        (Some(Value::Array(several)), _) => several.iter().map(converted).collect(),
        (_, Some(one)) => vec![converted(one)],
        (_, None) => Vec::new(),
    };
    calls(reply).flat_map(of).collect()
}

/// Returns the provider's warning to a person before the actions are carried out.
pub(super) fn warning(reply: &Value) -> Option<String> {
    let checks = calls(reply).filter_map(|call| call.get("pending_safety_checks")?.as_array()).flatten();
    let told = checks.map(|check| {
        word(check, "/message")
            .or_else(|| word(check, "/code"))
            .unwrap_or_else(|| "without a reason".to_owned())
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("The provider warns: {}", told.join("; ")))
}

fn converted(said: &Value) -> Value {
    let name = word(said, "/type").unwrap_or_default();
    let at = [("x", said.get("x")), ("y", said.get("y"))];
    let keys = said.get("keys").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    match name.as_str() {
        "keypress" => action("keys", [("keys", Some(&json!(chords(keys))))]),
        _ if !keys.is_empty() => held(&name),
        "click" => match word(said, "/button").as_deref() {
            None | Some("left") => action("click", at),
            Some("right") => action("right_click", at),
            Some("wheel" | "middle") => action("middle_click", at),
            Some(other) => action(&format!("{other} click"), []),
        },
        "double_click" | "triple_click" => action(&name, at),
        "drag" => {
            let path = said.get("path").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let part = |end: Option<&Value>, name: &str, place: usize| {
                end.and_then(|end| end.get(name).or_else(|| end.get(place))).cloned()
            };
            let (from, to) = (path.first(), path.last());
            let (x, y) = (part(from, "x", 0), part(from, "y", 1));
            let (to_x, to_y) = (part(to, "x", 0), part(to, "y", 1));
            action(
                "drag",
                [("x", x.as_ref()), ("y", y.as_ref()), ("to_x", to_x.as_ref()), ("to_y", to_y.as_ref())],
            )
        }
        "scroll" => {
            let [x, y] = at;
            let (right, down) = (notches(said, "/scroll_x"), notches(said, "/scroll_y"));
            action("scroll", [x, y, ("right", Some(&right)), ("down", Some(&down))])
        }
        "type" => action("type", [("text", said.get("text"))]),
        "wait" | "screenshot" => action(&name, []),
        // Refused by whoever reads it, by its name.
        other => action(other, []),
    }
}

/// A distance in pixels as notches; the smallest one is one.
fn notches(said: &Value, pointer: &str) -> Value {
    let pixels = said.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
    json!((pixels.abs() / NOTCH).round().max(if pixels == 0.0 { 0.0 } else { 1.0 }).copysign(pixels))
}

/// Keys pressed together as chords: the modifiers among them with each of the others.
fn chords(keys: &[Value]) -> String {
    const MODIFIERS: [&str; 9] = ["ctrl", "control", "shift", "alt", "option", "meta", "cmd", "super", "win"];
    let names: Vec<&str> = keys.iter().filter_map(Value::as_str).map(str::trim).collect();
    let (held, pressed): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| MODIFIERS.contains(&name.to_lowercase().as_str()));
    if pressed.is_empty() {
        return held.join("+");
    }
    // A space is the key as well as what separates chords.
    let named = |key: &&str| if key.is_empty() { "space" } else { *key }.to_owned();
    let with = |key: &&str| {
        held.iter().map(|one| (*one).to_owned()).chain([named(key)]).collect::<Vec<_>>().join("+")
    };
    pressed.iter().map(with).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "the cases are written in place")]
    fn check(said: Value, expected: Value) {
        assert_eq!(converted(&said), expected, "{said}");
    }

    #[test]
    fn each_action_is_converted() {
        check(
            json!({"type": "click", "x": 4, "y": 5, "button": "left"}),
            json!({"do": "click", "x": 4, "y": 5}),
        );
        check(
            json!({"type": "click", "x": 4, "y": 5, "button": "right"}),
            json!({"do": "right_click", "x": 4, "y": 5}),
        );
        check(json!({"type": "click", "x": 4, "y": 5, "button": "back"}), json!({"do": "back click"}));
        check(json!({"type": "double_click", "x": 4, "y": 5}), json!({"do": "double_click", "x": 4, "y": 5}));
        let path = json!([{"x": 1, "y": 2}, {"x": 9, "y": 9}, {"x": 3, "y": 4}]);
        check(
            json!({"type": "drag", "path": path}),
            json!({"do": "drag", "x": 1, "y": 2, "to_x": 3, "to_y": 4}),
        );
        check(
            json!({"type": "drag", "path": [[1, 2], [3, 4]]}),
            json!({"do": "drag", "x": 1, "y": 2, "to_x": 3, "to_y": 4}),
        );
        check(
            json!({"type": "keypress", "keys": ["CTRL", "SHIFT", "s"]}),
            json!({"do": "keys", "keys": "CTRL+SHIFT+s"}),
        );
        check(
            json!({"type": "keypress", "keys": ["TAB", "ENTER"]}),
            json!({"do": "keys", "keys": "TAB ENTER"}),
        );
        check(
            json!({"type": "keypress", "keys": ["CTRL", " "]}),
            json!({"do": "keys", "keys": "CTRL+space"}),
        );
        check(
            json!({"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": -340}),
            json!({"do": "scroll", "x": 1, "y": 2, "right": 0.0, "down": -3.0}),
        );
        check(json!({"type": "type", "text": "42"}), json!({"do": "type", "text": "42"}));
        check(json!({"type": "wait"}), json!({"do": "wait"}));
        check(json!({"type": "screenshot"}), json!({"do": "screenshot"}));
    }

    #[test]
    fn what_cannot_be_done_keeps_its_name() {
        check(json!({"type": "move", "x": 1, "y": 1}), json!({"do": "move"}));
        check(
            json!({"type": "click", "x": 1, "y": 1, "keys": ["CTRL"]}),
            json!({"do": "click with keys held"}),
        );
        check(json!({"type": "click", "button": "left"}), json!({"do": "click"}));
        check(json!(7), json!({"do": ""}));
    }

    #[test]
    fn calls_have_one_action_or_several_and_may_carry_a_warning() {
        let reply = json!({"output": [
            {"type": "reasoning", "summary": []},
            {"type": "computer_call", "action": {"type": "wait"},
             "pending_safety_checks": [{"id": "1", "code": "malicious_instructions", "message": "look out"}]},
            {"type": "computer_call", "actions": [{"type": "screenshot"}, {"type": "type", "text": "x"}]},
        ]});
        assert_eq!(
            actions(&reply),
            [json!({"do": "wait"}), json!({"do": "screenshot"}), json!({"do": "type", "text": "x"})]
        );
        assert_eq!(warning(&reply).as_deref(), Some("The provider warns: look out"));
        assert_eq!(warning(&json!({"output": []})), None);
    }
}
