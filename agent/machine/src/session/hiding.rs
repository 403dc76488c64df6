//! Texts with dots in place of what must not be recorded.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::secret::AFTER;
use deskhand_ui::secret::DOTS;

/// The values of passwords, with the dots that stand for them.
pub(super) type Values = Vec<(String, String)>;

/// The fields of a reply that name a tool, a state or an element: no text that is typed stands there.
const NAMES: &[&str] = &["function", "status", "id", "name", "role", "control_label", "control_text"];

/// A reply with dots in place of passwords: for each text that is one, and in every text for those that are hidden everywhere.
pub(super) fn concealed_text(text: &str, values: &Values, hidden: &dyn Fn(&String) -> bool) -> String {
    let everywhere: Values = values.iter().filter(|(dots, _)| hidden(dots)).cloned().collect();
    if let Ok(mut json) = serde_json::from_str::<Value>(text.trim()) {
        conceal_in(&mut json, values, &everywhere);
        return json.to_string();
    }
    // Not strict JSON: as it would be written there.
    let mut text = text.to_owned();
    for (dots, value) in values {
        let written = Value::String(value.clone()).to_string();
        let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        for (open, close) in [("\"", "\""), ("\"", "\\n\""), ("\"", "\\t\""), ("'", "'")] {
            text = text.replace(&format!("{open}{inner}{close}"), &format!("{open}{dots}{close}"));
        }
        if hidden(dots) {
            text = replaced(&text, &[(dots.clone(), inner.to_owned())]).unwrap_or(text);
        }
    }
    text
}

fn conceal_in(json: &mut Value, values: &Values, everywhere: &Values) {
    match json {
        Value::String(text) => {
            if let Some(hidden) = in_parts(text, values).or_else(|| replaced(text, everywhere)) {
                *text = hidden;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| conceal_in(item, values, everywhere)),
        Value::Object(fields) => {
            let texts = fields.iter_mut().filter(|(key, _)| !NAMES.contains(&key.as_str()));
            texts.for_each(|(_, field)| conceal_in(field, values, everywhere));
        }
        // A password of digits that was given as a number.
        Value::Number(number) => {
            let number = number.to_string();
            if let Some((dots, _)) = values.iter().find(|(_, value)| *value == number) {
                *json = Value::String(dots.clone());
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// A text with dots for each part of it that is a password as a whole, between the keys that lead to the next field; `None` if there is
/// none.
fn in_parts(text: &str, values: &Values) -> Option<String> {
    let mut found = false;
    let parts = text.split_inclusive(AFTER).map(|part| {
        let plain = part.trim_end_matches(AFTER);
        let Some((dots, _)) = values.iter().find(|(_, value)| value == plain) else { return part.to_owned() };
        found = true;
        format!("{dots}{}", part.get(plain.len()..).unwrap_or_default())
    });
    let hidden: String = parts.collect();
    found.then_some(hidden)
}

/// A reply with values in place of the dots that stand for them; `None` if it has none of them.
pub(super) fn disclosed_reply(text: &str, values: &Values) -> Option<String> {
    if values.is_empty() {
        return None;
    }
    if let Ok(mut json) = serde_json::from_str::<Value>(text.trim()) {
        return change_in(&mut json, &|text| disclosed(text, values)).then(|| json.to_string());
    }
    // Not strict JSON: as it would be written there.
    let written = values.iter().map(|(dots, value)| {
        let written = Value::String(value.clone()).to_string();
        let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        (dots.clone(), inner.to_owned())
    });
    disclosed(text, &written.collect())
}

/// A text with values in place of the dots that stand for them; `None` if it has none of them.
pub(super) fn disclosed(text: &str, values: &Values) -> Option<String> {
    let (mut rest, mut all, mut found) = (text, String::new(), false);
    while let Some(at) = rest.find(DOTS) {
        let behind = rest.get(at.saturating_add(DOTS.len())..).unwrap_or_default();
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let (dots, next) = rest.split_at(at.saturating_add(DOTS.len()).saturating_add(digits));
        let mark = dots.get(at..).unwrap_or_default();
        all.push_str(dots.get(..at).unwrap_or_default());
        let value = values.iter().find(|(dots, _)| dots == mark);
        found |= value.is_some();
        all.push_str(value.map_or(mark, |(_, value)| value));
        rest = next;
    }
    all.push_str(rest);
    found.then_some(all)
}

/// Puts values in place of their dots in all texts of some data.
pub(super) fn disclose<T: Serialize + DeserializeOwned>(data: &mut T, values: &Values) {
    change(data, &|text| disclosed(text, values));
}

/// Hides passwords in all texts of some data.
pub(super) fn hide<T: Serialize + DeserializeOwned>(data: &mut T, values: &Values) {
    change(data, &|text| replaced(text, values));
}

/// Changes all texts of some data for which `changed` has another one.
fn change<T: Serialize + DeserializeOwned>(data: &mut T, changed: &dyn Fn(&str) -> Option<String>) {
    let Ok(mut json) = serde_json::to_value(&*data) else { return };
    if change_in(&mut json, changed)
        && let Ok(now) = serde_json::from_value(json)
    {
        *data = now;
    }
}

fn change_in(json: &mut Value, changed: &dyn Fn(&str) -> Option<String>) -> bool {
    match json {
        Value::String(text) => {
            let now = changed(text);
            let is_changed = now.is_some();
            *text = now.unwrap_or_else(|| std::mem::take(text));
            is_changed
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| change_in(item, changed) | any),
        Value::Object(fields) => {
            fields.values_mut().fold(false, |any, field| change_in(field, changed) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The text with dots in place of passwords; `None` if there is none in it.
fn replaced(text: &str, values: &[(String, String)]) -> Option<String> {
    let mut hidden: Option<String> = None;
    for (dots, value) in values {
        let now = hidden.as_deref().unwrap_or(text);
        let mut next = String::new();
        let mut from = 0;
        for at in places(now, value) {
            next.push_str(now.get(from..at).unwrap_or_default());
            next.push_str(dots);
            from = at.saturating_add(value.len());
        }
        if from > 0 {
            next.push_str(now.get(from..).unwrap_or_default());
            hidden = Some(next);
        }
    }
    hidden
}

/// The byte offsets of a password in a text. A password of letters alone matches whole words only; a very short one matches nothing, because
/// it would hide other text.
pub(super) fn places<'a>(text: &'a str, value: &'a str) -> impl Iterator<Item = usize> + 'a {
    const CHARACTERS_MIN: usize = 4;
    let is_long = value.chars().filter(|c| !c.is_whitespace()).count() >= CHARACTERS_MIN;
    let is_word = value.chars().all(char::is_alphabetic);
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let fits = move |at: &usize| {
        let before = text.get(..*at).and_then(|head| head.chars().next_back());
        let after = text.get(at.saturating_add(value.len())..).and_then(|tail| tail.chars().next());
        !is_word || (is_apart(before) && is_apart(after))
    };
    text.match_indices(value).map(|(at, _)| at).filter(move |_| is_long).filter(fits)
}
