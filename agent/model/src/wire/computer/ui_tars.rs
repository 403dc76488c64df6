//! Replies in text, as UI-TARS writes them: `Thought: …`, then `Action: click(start_box='(x,y)')`.
//!
//! Places come as `(x,y)`, between `<|box_start|>` and `<|box_end|>`, as `<point>x y</point>`, or as a box of four numbers, whose
//! middle is meant.

use std::{iter::Peekable, str::Chars};

use serde_json::{Map, Value, json};

/// Prefixes of the actions and the thoughts.
const ACTION: &str = "Action:";
const THOUGHT: &str = "Thought:";
/// Distance of one scroll, in notches.
const NOTCHES: i32 = 5;
/// The most actions that are read.
const ACTIONS_MAX: usize = 50;

/// A call of a function with arguments by name.
#[derive(Debug, PartialEq, Eq)]
struct UiTarsCall {
    name: String,
    arguments: Vec<(String, String)>,
}

/// The thought and the actions of a reply; `pixel` converts a place.
pub(super) fn read(text: &str, pixel: impl Fn(f64, f64) -> (f64, f64)) -> (String, Vec<Value>) {
    let (thought, rest) = text.split_once(ACTION).unwrap_or((text, ""));
    let thought = thought.trim();
    let thought = thought.strip_prefix(THOUGHT).unwrap_or(thought).trim().to_owned();
    let calls = calls(rest);
    let actions = calls.iter().map(|call| converted(call, &thought, &pixel)).collect();
    (thought, actions)
}

/// The calls in a text: one after the other, each maybe behind another `Action:`. What is no call becomes one without arguments, which
/// nobody knows.
fn calls(text: &str) -> Vec<UiTarsCall> {
    let mut calls = Vec::new();
    let mut rest = text.chars().peekable();
    while calls.len() < ACTIONS_MAX {
        let Some(call) = call(&mut rest) else { break };
        calls.push(call);
    }
    calls
}

fn call(rest: &mut Peekable<Chars<'_>>) -> Option<UiTarsCall> {
    let mut name = String::new();
    while let Some(c) = rest.next() {
        match c {
            '(' => return Some(UiTarsCall { name: plain(&name), arguments: arguments(rest) }),
            _ => name.push(c),
        }
    }
    let name = plain(&name);
    (!name.is_empty()).then_some(UiTarsCall { name, arguments: Vec::new() })
}

/// A name without what models put around it.
fn plain(name: &str) -> String {
    let name = name.rsplit_once(ACTION).map_or(name, |(_, name)| name);
    name.trim_matches(|c: char| c.is_whitespace() || "`;*#)".contains(c)).to_owned()
}

/// Arguments up to the closing parenthesis.
fn arguments(rest: &mut Peekable<Chars<'_>>) -> Vec<(String, String)> {
    let mut arguments = Vec::new();
    let mut name = String::new();
    while let Some(c) = rest.next() {
        match c {
            ')' => break,
            '=' => {
                while rest.next_if(|c| c.is_whitespace()).is_some() {}
                let value = match rest.next_if(|c| matches!(c, '\'' | '"')) {
                    Some(quote) => quoted(rest, quote),
                    None => bare(rest),
                };
                let name = std::mem::take(&mut name);
                arguments
                    .push((name.trim_matches(|c: char| c == ',' || c.is_whitespace()).to_owned(), value));
            }
            _ => name.push(c),
        }
    }
    arguments
}

/// A value up to its closing quote.
fn quoted(rest: &mut Peekable<Chars<'_>>, quote: char) -> String {
    let mut value = String::new();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(escaped @ ('\'' | '"' | '\\')) => value.push(escaped),
                Some(other) => value.extend(['\\', other]),
                None => value.push('\\'),
            },
            _ if c == quote => break,
            _ => value.push(c),
        }
    }
    value
}

/// A value without quotes: up to the comma or parenthesis that is not inside of parentheses.
fn bare(rest: &mut Peekable<Chars<'_>>) -> String {
    let (mut value, mut depth) = (String::new(), 0_u32);
    while let Some(c) = rest.next_if(|c| depth > 0 || !matches!(c, ',' | ')')) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        value.push(c);
    }
    value.trim().to_owned()
}

fn converted(call: &UiTarsCall, thought: &str, pixel: impl Fn(f64, f64) -> (f64, f64)) -> Value {
    let argument = |names: &[&str]| {
        let found = call.arguments.iter().find(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, value)| value.as_str())
    };
    let at = |names: &[&str]| argument(names).and_then(place).map(|(x, y)| pixel(x, y));
    let start = at(&["start_box", "point", "start_point"]);
    let content = argument(&["content", "text"]);
    let mut action = Map::new();
    let mut put = |name: &str, value: Value| drop(action.insert(name.to_owned(), value));
    let word = match call.name.as_str() {
        "click" | "left_single" => "click",
        "left_double" => "double_click",
        "right_single" => "right_click",
        "drag" | "select" => {
            if let Some((x, y)) = at(&["end_box", "end_point"]) {
                put("to_x", json!(x));
                put("to_y", json!(y));
            }
            "drag"
        }
        "scroll" => {
            let (name, by) = match argument(&["direction"]).map(str::to_lowercase).as_deref() {
                Some("up") => ("down", -NOTCHES),
                Some("down") => ("down", NOTCHES),
                Some("left") => ("right", -NOTCHES),
                Some("right") => ("right", NOTCHES),
                _ => ("down", 0),
            };
            put(name, json!(by));
            "scroll"
        }
        "type" => {
            put("text", json!(content));
            "type"
        }
        "hotkey" | "press" => {
            let keys: Vec<&str> =
                argument(&["key", "hotkey"]).unwrap_or_default().split_whitespace().collect();
            put("keys", json!(keys.join("+")));
            "keys"
        }
        "finished" => {
            put("text", json!(content.unwrap_or(thought)));
            "done"
        }
        "call_user" => {
            put("text", json!(content.unwrap_or(thought)));
            "ask"
        }
        // Also what is refused by whoever reads it, by its name.
        other => other,
    };
    put("do", json!(word));
    if let Some((x, y)) = start {
        put("x", json!(x));
        put("y", json!(y));
    }
    Value::Object(action)
}

/// The place in a text of two numbers, or the middle of the box in one of four.
fn place(text: &str) -> Option<(f64, f64)> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    let numbers = text.split(|c| !is_number(c)).filter(|word| !word.is_empty());
    let numbers: Vec<f64> = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
    match numbers.as_slice() {
        [x, y] => Some((*x, *y)),
        [left, top, right, bottom] => Some((f64::midpoint(*left, *right), f64::midpoint(*top, *bottom))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(text: &str) -> Vec<Value> {
        read(text, |x, y| (x, y)).1
    }

    fn check(text: &str, expected: Value) {
        assert_eq!(actions(&format!("Thought: t\nAction: {text}")), [expected], "{text}");
    }

    #[test]
    fn each_action_is_converted() {
        let click = json!({"do": "click", "x": 12.0, "y": 34.0});
        check("click(start_box='(12,34)')", click.clone());
        check("click(start_box='<|box_start|>(12,34)<|box_end|>')", click.clone());
        check("click(start_box=\"(12, 34)\")", click.clone());
        check("click(point='<point>12 34</point>')", click.clone());
        check("click(start_box=(12,34))", click.clone());
        check("click(start_box='[10, 30, 14, 38]')", click);
        check("left_double(start_box='(1,2)')", json!({"do": "double_click", "x": 1.0, "y": 2.0}));
        check("right_single(start_box='(1,2)')", json!({"do": "right_click", "x": 1.0, "y": 2.0}));
        check(
            "drag(start_box='(1,2)', end_box='(3,4)')",
            json!({"to_x": 3.0, "to_y": 4.0, "do": "drag", "x": 1.0, "y": 2.0}),
        );
        check(
            "scroll(start_box='(1,2)', direction='up')",
            json!({"down": -5, "do": "scroll", "x": 1.0, "y": 2.0}),
        );
        check(r"type(content='it\'s (1), ok\n')", json!({"text": "it's (1), ok\n", "do": "type"}));
        check("hotkey(key='ctrl shift s')", json!({"keys": "ctrl+shift+s", "do": "keys"}));
        check("wait()", json!({"do": "wait"}));
        check("finished(content='saved')", json!({"text": "saved", "do": "done"}));
        check("finished()", json!({"text": "t", "do": "done"}));
        check("call_user()", json!({"text": "t", "do": "ask"}));
    }

    #[test]
    fn several_actions_and_what_stands_around_them() {
        let text = "Thought: First this.\nThen that.\nAction: click(start_box='(1,2)')\n\ntype(content=\"a\")\nAction: `wait()`";
        let (thought, actions) = read(text, |x, y| (x, y));
        assert_eq!(thought, "First this.\nThen that.");
        let names: Vec<&Value> = actions.iter().map(|action| &action["do"]).collect();
        assert_eq!(names, ["click", "type", "wait"]);
        assert_eq!(read("DONE: saved", |x, y| (x, y)), ("DONE: saved".to_owned(), Vec::new()));
    }

    #[test]
    fn what_is_malformed_is_passed_on_to_be_refused() {
        check("click(start_box='here')", json!({"do": "click"}));
        check("click(start_box='(nan,1)')", json!({"do": "click"}));
        check("click(start_box='(1-2,1)')", json!({"do": "click"}));
        check("click(start_box='(1,2", json!({"do": "click", "x": 1.0, "y": 2.0}));
        check("press the button", json!({"do": "press the button"}));
        check("keydown(key='ctrl')", json!({"do": "keydown"}));
        let many = "wait()\n".repeat(1_000);
        assert_eq!(actions(&format!("Action: {many}")).len(), ACTIONS_MAX);
    }
}
