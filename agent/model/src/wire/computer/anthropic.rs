//! The tool `computer_20250124` of Anthropic's Messages.

use serde_json::{Value, json};

use super::{action, held};
use crate::wire::word;

/// The declaration of the tool.
pub(super) fn tool(width: u32, height: u32) -> Value {
    json!({
        "type": "computer_20250124",
        "name": "computer",
        "display_width_px": width,
        "display_height_px": height,
    })
}

fn parts<'a>(reply: &'a Value, kind: &'static str) -> impl Iterator<Item = &'a Value> {
    let content = reply.get("content").and_then(Value::as_array).into_iter().flatten();
    content.filter(move |part| part.get("type").is_some_and(|is| is == kind))
}

/// Returns the text of the message.
pub(super) fn words(reply: &Value) -> String {
    parts(reply, "text").filter_map(|part| word(part, "/text")).collect()
}

/// The actions of all calls.
pub(super) fn actions(reply: &Value) -> Vec<Value> {
    parts(reply, "tool_use").filter_map(|call| call.get("input")).map(converted).collect()
}

fn converted(said: &Value) -> Value {
    let name = word(said, "/action").unwrap_or_default();
    let at = [("x", said.pointer("/coordinate/0")), ("y", said.pointer("/coordinate/1"))];
    let text = said.get("text");
    let clicks = match name.as_str() {
        "left_click" => Some("click"),
        "right_click" | "middle_click" | "double_click" | "triple_click" => Some(name.as_str()),
        _ => None,
    };
    let holds = text.and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    match (clicks, name.as_str()) {
        (Some(_), _) | (None, "scroll" | "left_click_drag") if holds => held(&name),
        (Some(click), _) => action(click, at),
        (None, "left_click_drag") => {
            let [(_, to_x), (_, to_y)] = at;
            let (x, y) = (said.pointer("/start_coordinate/0"), said.pointer("/start_coordinate/1"));
            action("drag", [("x", x), ("y", y), ("to_x", to_x), ("to_y", to_y)])
        }
        (None, "scroll") => {
            let amount = said.get("scroll_amount").and_then(Value::as_f64).unwrap_or(1.0).abs();
            let (right, down) = match word(said, "/scroll_direction").as_deref() {
                Some("up") => (0.0, -amount),
                Some("down") => (0.0, amount),
                Some("left") => (-amount, 0.0),
                Some("right") => (amount, 0.0),
                _ => (0.0, 0.0),
            };
            let [x, y] = at;
            action("scroll", [x, y, ("right", Some(&json!(right))), ("down", Some(&json!(down)))])
        }
        (None, "key") => action("keys", [("keys", text)]),
        (None, "type") => action("type", [("text", text)]),
        (None, "wait") => action("wait", [("seconds", said.get("duration"))]),
        // Also what is refused by whoever reads it, by its name.
        (None, other) => action(other, []),
    }
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
        check(json!({"action": "left_click", "coordinate": [4, 5]}), json!({"do": "click", "x": 4, "y": 5}));
        check(
            json!({"action": "triple_click", "coordinate": [4, 5]}),
            json!({"do": "triple_click", "x": 4, "y": 5}),
        );
        check(
            json!({"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]}),
            json!({"do": "drag", "x": 1, "y": 2, "to_x": 3, "to_y": 4}),
        );
        check(
            json!({"action": "scroll", "coordinate": [1, 2], "scroll_direction": "up", "scroll_amount": 3}),
            json!({"do": "scroll", "x": 1, "y": 2, "right": 0.0, "down": -3.0}),
        );
        check(json!({"action": "key", "text": "ctrl+s"}), json!({"do": "keys", "keys": "ctrl+s"}));
        check(json!({"action": "type", "text": "a\n"}), json!({"do": "type", "text": "a\n"}));
        check(json!({"action": "wait", "duration": 2}), json!({"do": "wait", "seconds": 2}));
        check(json!({"action": "screenshot"}), json!({"do": "screenshot"}));
    }

    #[test]
    fn what_cannot_be_done_keeps_its_name() {
        check(json!({"action": "zoom", "region": [0, 0, 1, 1]}), json!({"do": "zoom"}));
        check(json!({"action": "mouse_move", "coordinate": [1, 1]}), json!({"do": "mouse_move"}));
        check(
            json!({"action": "left_click", "coordinate": [1, 1], "text": "shift"}),
            json!({"do": "left_click with keys held"}),
        );
        check(json!({"action": "left_click"}), json!({"do": "click"}));
        check(json!("cut o"), json!({"do": ""}));
    }

    #[test]
    fn words_and_calls_are_told_apart() {
        let reply = json!({"content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I wait."},
            {"type": "tool_use", "name": "computer", "input": {"action": "wait", "duration": 1}},
            {"type": "tool_use", "name": "computer", "input": {"action": "screenshot"}},
        ]});
        assert_eq!(words(&reply), "I wait.");
        assert_eq!(actions(&reply), [json!({"do": "wait", "seconds": 1}), json!({"do": "screenshot"})]);
    }
}
