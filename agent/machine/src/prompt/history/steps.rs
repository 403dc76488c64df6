//! The steps of an agent as text: whole, in short, and in brief.

use std::fmt::Write as _;

use crate::{
    command::{ActionCommandInfo, CallResult, CallStatus},
    known_tools::RECALL,
    memory::MemoryItem,
    prompt::marks::Marks,
};
use deskhand_ui::{
    action::{CallReport, Verdict, words::CallReportFormatter},
    text::{clip, one_line},
};

/// The longest result of a call in a prompt, in characters.
pub(in crate::prompt) const RESULT_CHARS_MAX: usize = 6_000;
/// The longest call in the line of a step that is told in brief, in characters, and the longest such line.
const BRIEF_CALL_CHARS_MAX: usize = 70;
const BRIEF_CHARS_MAX: usize = 320;

/// A call and its result.
fn action_text(info: &ActionCommandInfo, wording: CallReportFormatter) -> String {
    let line = info.command.to_line();
    // A call that names its target says it already.
    let target = info.target.as_ref().filter(|_| !info.command.arguments.contains_key("name"));
    let target = target.map(|target| format!(" on {target}")).unwrap_or_default();
    format!("{line}{target} → {}", result_line(info, wording))
}

/// The sentence and data of a result, clipped.
pub(crate) fn result_text(info: &ActionCommandInfo, wording: CallReportFormatter) -> String {
    with_output(one_line(&wording.of(&info.result.report)), info)
}

/// Describes the status and verdict of a call, without its message.
fn verdict_words(result: &CallResult) -> String {
    match (result.status, result.effect) {
        (CallStatus::Success, Some(verdict)) => verdict.to_string(),
        (CallStatus::Success, None) => "ok".to_owned(),
        (CallStatus::Failure, Some(verdict)) => format!("FAILED, {verdict}"),
        (CallStatus::Failure, None) => "FAILED".to_owned(),
        (CallStatus::Skipped, _) => "skipped".to_owned(),
    }
}

/// Formats the outcome of a call for display beside the call: `seen: “Save” closed`.
pub(crate) fn result_line(info: &ActionCommandInfo, wording: CallReportFormatter) -> String {
    let said = one_line(&wording.beside_command(&info.result.report));
    with_output(format!("{}: {said}", verdict_words(&info.result)), info)
}

/// Returns `true` if data came back that neither the command nor the sentence says: what an action in a window read back is what it was told.
fn tells_more(info: &ActionCommandInfo) -> bool {
    let is_action = matches!(info.result.report, CallReport::Action { .. } | CallReport::Sequence { .. });
    let is_said = is_action && info.result.effect == Some(Verdict::Seen);
    !info.result.output.is_null() && !is_said
}

/// A sentence with the data that came back.
fn with_output(mut text: String, info: &ActionCommandInfo) -> String {
    if tells_more(info) {
        let _ = write!(text, " {}", info.result.output);
    }
    let cut = clip(&text, RESULT_CHARS_MAX);
    match info.reading.filter(|_| cut.len() < text.len()) {
        Some(id) => format!("{cut} (cut here; {id} has all of it)"),
        None => cut,
    }
}

/// Returns `true` if a call told something that others may need.
pub(crate) fn reads(info: &ActionCommandInfo) -> bool {
    info.result.status == CallStatus::Success && (info.result.effect.is_none() || tells_more(info))
}

/// Returns `true` if what a call returned can be needed again: it is looked up by its id then.
pub(crate) fn is_reading(info: &ActionCommandInfo) -> bool {
    reads(info) && !info.result.output.is_null() && info.command.tool != RECALL
}

/// A call with its target, clipped: `read_table(id="e5") on table "Sheet1"`.
pub(crate) fn call_text(info: &ActionCommandInfo) -> String {
    let target = info.target.as_ref().filter(|_| !info.command.arguments.contains_key("name"));
    let target = target.map(|target| format!(" on {target}")).unwrap_or_default();
    clip(&one_line(&format!("{}{target}", info.command.to_line())), BRIEF_CALL_CHARS_MAX)
}

/// A step on one line: its calls, how they ended, and by what ids their results can be looked up.
pub(crate) fn brief_text(step: u32, thought: &str, actions: &[ActionCommandInfo]) -> String {
    let call = |info: &ActionCommandInfo| match info.reading {
        Some(id) => format!("{} → {id}", call_text(info)),
        None => format!("{} → {}", call_text(info), verdict_words(&info.result)),
    };
    let calls: Vec<String> = actions.iter().map(call).collect();
    let said = if calls.is_empty() { one_line(thought) } else { calls.join("; ") };
    clip(&format!("Step {step}: {said}"), BRIEF_CHARS_MAX)
}

/// A step of an agent's own: what it saw and thought, and what came of its calls.
pub(in crate::prompt) fn step_text(item: &MemoryItem, wording: CallReportFormatter, marks: &Marks) -> String {
    let status = match item.status.as_str() {
        "CONTINUE" => String::new(),
        status => format!(" ({status})"),
    };
    let mut text = format!("Step {}{status}: {}", item.step, one_line(&item.thought));
    if !item.observation.trim().is_empty() {
        let _ = write!(text, " Saw: {}", one_line(&item.observation));
    }
    let (skipped, ran): (Vec<_>, Vec<_>) =
        item.actions.iter().partition(|info| info.result.status == CallStatus::Skipped);
    for info in ran {
        let _ = write!(text, "\n- {}", marks.line(action_text(info, wording)));
    }
    if let Some(first) = skipped.first() {
        let lines: Vec<String> = skipped.iter().map(|info| info.command.to_line()).collect();
        let why = one_line(&wording.beside_command(&first.result.report));
        let _ = write!(text, "\n- {}", marks.line(format!("skipped, {why}: {}", lines.join(", "))));
    }
    text
}

/// A step of an operator, which does not know the commands that its gestures became: sentences alone.
pub(in crate::prompt) fn operator_step_text(
    item: &MemoryItem,
    wording: CallReportFormatter,
    marks: &Marks,
) -> String {
    let line = |info: &ActionCommandInfo| {
        let told = format!("{}: {}", verdict_words(&info.result), result_text(info, wording));
        format!("\n- {}", marks.line(told))
    };
    let lines: String = item.actions.iter().map(line).collect();
    format!("Step {}: {}{lines}", item.step, one_line(&item.thought))
}

/// An older step in short: what was read, and how the other calls ended.
pub(in crate::prompt) fn short_step_text(
    item: &MemoryItem,
    wording: CallReportFormatter,
    marks: &Marks,
) -> String {
    let line = |info: &ActionCommandInfo| {
        if reads(info) {
            return action_text(info, wording);
        }
        format!("{} → {}", info.command.to_line(), verdict_words(&info.result))
    };
    let lines: Vec<String> = item.actions.iter().map(|info| marks.line(line(info))).collect();
    format!("Step {}: {}", item.step, lines.join("; "))
}
