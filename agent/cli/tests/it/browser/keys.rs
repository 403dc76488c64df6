//! Keys of WebDriver.

use serde_json::{Value, json};

/// The key of a name, as WebDriver writes it.
fn key(name: &str) -> char {
    match name {
        "Control" => '\u{e009}',
        "Alt" => '\u{e00a}',
        "Shift" => '\u{e008}',
        "Enter" => '\u{e006}',
        "Tab" => '\u{e004}',
        "Escape" => '\u{e00c}',
        "Home" => '\u{e011}',
        "End" => '\u{e010}',
        "Left" => '\u{e012}',
        "Right" => '\u{e014}',
        one => {
            assert_eq!(one.chars().count(), 1, "no key is called {one}");
            one.chars().next().unwrap()
        }
    }
}

/// Presses and releases of a text in which keys are named in braces.
pub(super) fn key_actions(text: &str) -> Vec<Value> {
    let mut actions = Vec::new();
    let mut add = |kind: &str, key: &char| actions.push(json!({"type": kind, "value": key.to_string()}));
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (keys, length): (Vec<char>, usize) =
            match rest.strip_prefix('{').and_then(|named| named.split_once('}')) {
                Some((named, _)) => (named.split('+').map(key).collect(), named.len() + 2),
                None => (vec![first], first.len_utf8()),
            };
        keys.iter().for_each(|key| add("keyDown", key));
        keys.iter().rev().for_each(|key| add("keyUp", key));
        rest = &rest[length..];
    }
    actions
}
