//! Commands, results and numbers in few words.

use deskhand_core::{
    command::{CallResult, CallStatus, Command, Verdict},
    text::{clip, one_line},
};
use serde_json::Value;

use crate::output::Tone;

/// What a command does, in a few words: `click push button "Finish"`, `visit Insert › Chart…`.
pub(crate) fn command_words(command: &Command, target: Option<&str>) -> String {
    const SHOWN: usize = 60;
    const SUFFIXES: &[&str] = &["_application_window", "_application", "_element", "_window", "_text"];
    let verb = SUFFIXES
        .iter()
        .find_map(|suffix| command.tool.strip_suffix(suffix))
        .unwrap_or(&command.tool)
        .replace('_', " ");
    let argument = |name: &str| command.arguments.get(name).filter(|value| !value.is_null());
    let mut words = vec![verb];
    words.extend(argument("item").map(|item| format!("{} in", plain(item))));
    if let Some(target) = target {
        words.push(target.to_owned());
    } else if let Some(path) = argument("path").and_then(Value::as_array) {
        let names: Vec<&str> = path.iter().filter_map(Value::as_str).collect();
        words.push(names.join(" › "));
    } else if let Some(name) = ["name", "program", "keys", "key", "id"].iter().find_map(|name| argument(name))
    {
        words.push(plain(name));
    }
    for name in ["range", "start", "cell", "option", "text", "value"] {
        if let Some(value) = argument(name) {
            words.push(if name == "text" { format!("“{}”", plain(value)) } else { plain(value) });
        }
    }
    clip(&one_line(&words.join(" ")), SHOWN)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What came of a call, without what was asked for and how long it took: both stand in the line already.
pub(super) fn result_words(result: &CallResult) -> String {
    let summary = one_line(&result.summary);
    if !result.is_success() {
        return summary;
    }
    let came = match summary.rsplit_once("\": ") {
        Some((_, came)) => came,
        None if result.effect.is_some() => {
            summary.split_once(": ").map_or(summary.as_str(), |(_, came)| came)
        }
        None => &summary,
    };
    let timed = came.strip_suffix(" ms").and_then(|head| head.rsplit_once(" after "));
    match timed {
        Some((what, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => what.to_owned(),
        Some(_) | None => came.to_owned(),
    }
}

/// The word for what a call came to.
pub(super) fn effect_word(result: &CallResult) -> &'static str {
    match (result.status, result.effect) {
        (CallStatus::Skipped, _) => "skipped",
        (_, Some(Verdict::NotSeen)) => "not seen",
        (_, Some(verdict)) => verdict.word(),
        (CallStatus::Success, None) => "read",
        (CallStatus::Failure, None) => "failed",
    }
}

/// How a call's word is shown.
pub(super) fn effect_tone(result: &CallResult) -> Tone {
    match (result.status, result.effect) {
        (CallStatus::Skipped, _) => Tone::Faint,
        (CallStatus::Failure, None) => Tone::Bad,
        (CallStatus::Success, None) => Tone::Good,
        (_, Some(verdict)) => verdict_tone(verdict),
    }
}

/// How a verdict is shown.
pub(crate) const fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Seen => Tone::Good,
        Verdict::NotSeen | Verdict::Unknown => Tone::Doubtful,
        Verdict::Refused => Tone::Bad,
    }
}

/// A text in lines of at most `width` columns, broken between words; its own line breaks are kept.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Seconds with one digit: `11.2 s`.
pub(crate) fn seconds(ms: u64) -> String {
    let tenths = ms.saturating_add(50) / 100;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

/// A number in groups of three: `14,210`.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 step`, `2 steps`.
pub(super) fn count(value: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(value), if value == 1 { "" } else { "s" })
}

/// The name of an application in a column: the last word of `LibreOffice Calc`.
pub(super) fn short_name(name: &str) -> &str {
    name.split_whitespace().next_back().unwrap_or(name)
}

/// `text` in exactly `width` columns, cut or filled up.
pub(super) fn column(text: &str, width: usize) -> String {
    let cut =
        if text.chars().count() > width { clip(text, width.saturating_sub(1)) } else { text.to_owned() };
    format!("{cut:<width$}")
}
