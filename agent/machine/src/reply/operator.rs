//! The operator's reply: gestures at places of a picture.
//!
//! ```json
//! {"thought": "…", "action": [{"do": "click", "x": 40, "y": 17}, {"do": "type", "text": "42"}]}
//! ```
//!
//! The `model` crate writes what a provider's own protocol says in this form, so the journal holds one form. A reply without an
//! action may also say `DONE:`, `FAIL:` or `ASK:` at the beginning of a line. `confirm` says why the user has to approve the actions.

use super::{ReplyError, app::ACTIONS_MAX, extract_json, fields::ReplyFields};
use crate::{
    operator::{OperatorGesture, OperatorReply, chords},
    states::AppStatus,
};
use deskhand_ui::{
    action::Button,
    geometry::{Image, Point},
};

/// The longest text that is typed at once, in characters.
const TEXT_CHARS_MAX: usize = 10_000;
/// The most notches of the mouse wheel at once.
const NOTCHES_MAX: f64 = 50.0;
/// The longest wait, in seconds, and the usual one.
const SECONDS_MAX: f64 = 300.0;
const SECONDS: f64 = 5.0;

/// The words of replies without an action.
const WORDS: [(&str, AppStatus); 3] =
    [("DONE", AppStatus::Finish), ("FAIL", AppStatus::Fail), ("ASK", AppStatus::Pending)];

/// One entry of `action`.
enum OperatorActionEntry {
    Does(OperatorGesture),
    Looks,
    Ends(AppStatus, String),
}

/// Parses the reply of an operator. Whether its places are in the picture is not checked: [`refine`](crate::operator::refine) does.
///
/// # Errors
/// If there is no action, or one is unknown or cannot be read.
pub fn parse_operator_reply(text: &str) -> Result<OperatorReply, ReplyError> {
    let mut fields = ReplyFields::of(extract_json(text)?.value, "")?;
    let thought = fields.text("thought")?;
    let items = match fields.take("action") {
        Some(serde_json::Value::Array(items)) => items,
        Some(single) => vec![single],
        None => Vec::new(),
    };
    if items.len() > ACTIONS_MAX {
        let problem = format!("{} are too many; the limit is {ACTIONS_MAX} per reply", items.len());
        return Err(ReplyError::field("action", problem));
    }
    let mut reply =
        OperatorReply { thought, gestures: Vec::new(), status: AppStatus::Continue, text: String::new() };
    let mut looks = false;
    for (index, item) in items.into_iter().enumerate() {
        match said(&mut ReplyFields::of(item, &format!("action[{index}]"))?)? {
            OperatorActionEntry::Does(gesture) => reply.gestures.push(gesture),
            OperatorActionEntry::Looks => looks = true,
            OperatorActionEntry::Ends(status, text) => (reply.status, reply.text) = (status, text),
        }
    }
    if reply.gestures.is_empty() && reply.status == AppStatus::Continue {
        (reply.status, reply.text) = match (looks, ended(&reply.thought)) {
            (true, _) => (AppStatus::Screenshot, String::new()),
            (false, Some(end)) => end,
            (false, None) => return Err(ReplyError::field("action", NO_ACTION)),
        };
    }
    let confirm = fields.text("confirm")?;
    if !confirm.is_empty() && !reply.gestures.is_empty() {
        reply.status = AppStatus::Confirm;
        reply.thought = [confirm.as_str(), &reply.thought].join("\n").trim().to_owned();
    }
    if reply.status == AppStatus::Pending && reply.text.trim().is_empty() {
        return Err(ReplyError::field("action", "`ask` needs the question as its `text`"));
    }
    Ok(reply)
}

const NO_ACTION: &str =
    "missing; act, or begin a line with DONE: and the result, FAIL: and the reason, or ASK: and the question";

/// Finds the end of the step in a reply in words: the first line that begins with one of the words.
fn ended(text: &str) -> Option<(AppStatus, String)> {
    let mut rest = text;
    loop {
        let line = rest.trim_start_matches(|c: char| c.is_whitespace() || "*#`>".contains(c));
        for (word, status) in WORDS {
            let after = line.strip_prefix(word).map(|after| after.trim_start_matches('*'));
            if let Some(said) = after.and_then(|after| after.strip_prefix(':')) {
                return Some((status, said.trim_start_matches('*').trim().to_owned()));
            }
            if after.is_some_and(|after| after.lines().next().is_none_or(|line| line.trim().is_empty())) {
                return Some((status, after.unwrap_or_default().trim().to_owned()));
            }
        }
        rest = line.split_once('\n')?.1;
    }
}

fn said(fields: &mut ReplyFields) -> Result<OperatorActionEntry, ReplyError> {
    let word = fields.required_text("do", "name what to do, such as click")?;
    let gesture = match word.as_str() {
        "click" => click(fields, Button::Left, 1)?,
        "double_click" => click(fields, Button::Left, 2)?,
        "triple_click" => click(fields, Button::Left, 3)?,
        "right_click" => click(fields, Button::Right, 1)?,
        "middle_click" => click(fields, Button::Middle, 1)?,
        "drag" => {
            OperatorGesture::Drag { from: place(fields, "x", "y")?, to: place(fields, "to_x", "to_y")? }
        }
        "scroll" => scroll(fields)?,
        "type" => OperatorGesture::Type { text: typed(fields)? },
        "keys" => {
            let keys = fields.required_text("keys", "write chords such as `ctrl+s` or `Return`")?;
            let chords = chords(&keys).map_err(|problem| ReplyError::field(fields.at("keys"), problem))?;
            OperatorGesture::Keys { chords }
        }
        "wait" => {
            let seconds = number(fields, "seconds")?.unwrap_or(SECONDS);
            if !(seconds > 0.0 && seconds <= SECONDS_MAX) {
                let problem = format!("must be more than 0 and at most {SECONDS_MAX}, not {seconds}");
                return Err(ReplyError::field(fields.at("seconds"), problem));
            }
            OperatorGesture::Wait { seconds: seconds.ceil() as u16 }
        }
        "screenshot" => return Ok(OperatorActionEntry::Looks),
        "done" => return Ok(OperatorActionEntry::Ends(AppStatus::Finish, fields.text("text")?)),
        "fail" => return Ok(OperatorActionEntry::Ends(AppStatus::Fail, fields.text("text")?)),
        "ask" => return Ok(OperatorActionEntry::Ends(AppStatus::Pending, fields.text("text")?)),
        other => {
            let other: String = other.chars().take(40).collect();
            let problem = format!(
                "`{other}` cannot be done here; click, drag, scroll, type, press keys, wait, take a screenshot, or end the step"
            );
            return Err(ReplyError::field(fields.at("do"), problem));
        }
    };
    Ok(OperatorActionEntry::Does(gesture))
}

fn click(fields: &mut ReplyFields, button: Button, count: u8) -> Result<OperatorGesture, ReplyError> {
    Ok(OperatorGesture::Click { at: place(fields, "x", "y")?, button, count })
}

fn scroll(fields: &mut ReplyFields) -> Result<OperatorGesture, ReplyError> {
    let has_place = fields.has("x") || fields.has("y");
    let at = if has_place { Some(place(fields, "x", "y")?) } else { None };
    let mut notches = |name: &str| {
        let by = number(fields, name)?.unwrap_or(0.0).round();
        if by.abs() > NOTCHES_MAX {
            let problem = format!("{by} notches are too many; the limit is {NOTCHES_MAX}");
            return Err(ReplyError::field(fields.at(name), problem));
        }
        Ok(by as i32)
    };
    let (right, down) = (notches("right")?, notches("down")?);
    if (right, down) == (0, 0) {
        return Err(ReplyError::field(
            fields.at("down"),
            "missing; give the notches to scroll, negative for up",
        ));
    }
    Ok(OperatorGesture::Scroll { at, right, down })
}

/// Text as it is, with the spaces and line breaks around it.
fn typed(fields: &mut ReplyFields) -> Result<String, ReplyError> {
    let path = fields.at("text");
    match fields.take("text") {
        Some(serde_json::Value::String(text)) if text.chars().count() > TEXT_CHARS_MAX => {
            Err(ReplyError::field(path, format!("longer than {TEXT_CHARS_MAX} characters; type it in parts")))
        }
        Some(serde_json::Value::String(text)) if !text.is_empty() => Ok(text),
        Some(serde_json::Value::Number(number)) => Ok(number.to_string()),
        _ => Err(ReplyError::field(path, "must be the text to type")),
    }
}

/// A pixel of the picture.
fn place(fields: &mut ReplyFields, x: &str, y: &str) -> Result<Point<Image>, ReplyError> {
    let mut pixel = |name: &str| {
        let path = fields.at(name);
        let value = number(fields, name)?
            .ok_or_else(|| ReplyError::field(&path, "missing; give a pixel of the picture"))?;
        // What no picture has is refused here, so that it cannot overflow.
        let is_pixel = value.abs() <= f64::from(u16::MAX);
        if is_pixel {
            Ok(value.floor() as i32)
        } else {
            Err(ReplyError::field(path, format!("{value} is no pixel")))
        }
    };
    let (x, y) = (pixel(x)?, pixel(y)?);
    Ok(Point::new(x, y))
}

/// A finite number, also as a string; `None` if the field is missing.
fn number(fields: &mut ReplyFields, name: &str) -> Result<Option<f64>, ReplyError> {
    let path = fields.at(name);
    let Some(value) = fields.take(name) else { return Ok(None) };
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    match number.filter(|number: &f64| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None => {
            Err(ReplyError::field(path, format!("must be a number, not {}", super::fields::kind_of(&value))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> OperatorReply {
        parse_operator_reply(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn wrong(action: &str) -> String {
        parse_operator_reply(&format!("{{\"thought\": \"t\", \"action\": [{action}]}}"))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn gestures_are_read_in_order() {
        let reply = read(
            r#"{"thought": "t", "action": [
                {"do": "double_click", "x": 40.7, "y": "17"},
                {"do": "drag", "x": 1, "y": 2, "to_x": 3, "to_y": 4},
                {"do": "scroll", "x": 5, "y": 6, "down": -3},
                {"do": "scroll", "right": 2},
                {"do": "type", "text": " a\tb\n"},
                {"do": "keys", "keys": "CTRL+S"},
                {"do": "wait"},
                {"do": "screenshot"},
                {"do": "done", "text": "saved"}]}"#,
        );
        assert_eq!(
            reply.gestures,
            [
                OperatorGesture::Click { at: Point::new(40, 17), button: Button::Left, count: 2 },
                OperatorGesture::Drag { from: Point::new(1, 2), to: Point::new(3, 4) },
                OperatorGesture::Scroll { at: Some(Point::new(5, 6)), right: 0, down: -3 },
                OperatorGesture::Scroll { at: None, right: 2, down: 0 },
                OperatorGesture::Type { text: " a\tb\n".to_owned() },
                OperatorGesture::Keys { chords: vec!["ctrl+s".parse().unwrap()] },
                OperatorGesture::Wait { seconds: 5 },
            ]
        );
        assert_eq!((reply.status, reply.text.as_str()), (AppStatus::Finish, "saved"));
    }

    #[test]
    fn a_reply_in_words_must_say_how_it_ends() {
        let ended = |text: &str| {
            let reply = parse_operator_reply(&serde_json::json!({"thought": text}).to_string())?;
            Ok::<_, ReplyError>((reply.status, reply.text))
        };
        let is = |status, text: &str| Ok((status, text.to_owned()));
        assert_eq!(ended("Good.\nDONE: the file is saved"), is(AppStatus::Finish, "the file is saved"));
        assert_eq!(ended("**FAIL:** no such\nsheet"), is(AppStatus::Fail, "no such\nsheet"));
        assert_eq!(ended("ASK: Which one?"), is(AppStatus::Pending, "Which one?"));
        assert_eq!(ended("DONE"), is(AppStatus::Finish, ""));
        for unclear in ["I am DONE: almost", "", "DONEGAL is a county", "The file is saved."] {
            assert!(ended(unclear).unwrap_err().to_string().contains("DONE: and the result"), "{unclear}");
        }
        assert!(ended("ASK:").unwrap_err().to_string().contains("question"));
        // An action counts, whatever the words say.
        let acts = read(r#"{"thought": "DONE: x", "action": [{"do": "keys", "keys": "Return"}]}"#);
        assert_eq!(acts.status, AppStatus::Continue);
        assert_eq!(read(r#"{"action": [{"do": "screenshot"}]}"#).status, AppStatus::Screenshot);
    }

    #[test]
    fn a_warning_of_the_provider_asks_the_user() {
        let warned = r#"{"thought": "pay", "action": [{"do": "keys", "keys": "Return"}], "confirm": "a sensitive page"}"#;
        let reply = read(warned);
        assert_eq!((reply.status, reply.thought.as_str()), (AppStatus::Confirm, "a sensitive page\npay"));
    }

    #[test]
    fn hostile_values_are_named_and_refused() {
        for (action, problem) in [
            (r#"{"do": "click", "x": 1}"#, "`action[0].y`: missing; give a pixel of the picture"),
            (r#"{"do": "click", "x": "NaN", "y": 1}"#, "`action[0].x`: must be a number, not a string"),
            (r#"{"do": "click", "x": 1e300, "y": 1}"#, "is no pixel"),
            (r#"{"do": "click", "x": [1, 2], "y": 1}"#, "`action[0].x`: must be a number, not a list"),
            (r#"{"do": "zoom"}"#, "`action[0].do`: `zoom` cannot be done here"),
            (r#"{"do": "scroll", "x": 1, "y": 1}"#, "`action[0].down`: missing"),
            (r#"{"do": "scroll", "down": 999}"#, "999 notches are too many"),
            (r#"{"do": "wait", "seconds": -1}"#, "`action[0].seconds`: must be more than 0"),
            (r#"{"do": "type"}"#, "`action[0].text`: must be the text to type"),
            (r#"{"do": "keys", "keys": "ctrl"}"#, "`action[0].keys`: `ctrl` is not a key chord"),
            (r#"7"#, "`action[0]`: expected an object, found a number"),
        ] {
            let said = wrong(action);
            assert!(said.contains(problem), "{action}: {said}");
        }
        let text = "x".repeat(TEXT_CHARS_MAX + 1);
        assert!(wrong(&format!(r#"{{"do": "type", "text": "{text}"}}"#)).contains("type it in parts"));
        assert!(wrong(&[r#"{"do": "wait"}"#; 61].join(",")).contains("61 are too many; the limit is 60"));
    }
}
