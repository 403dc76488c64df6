//! Short texts for commands, results and numbers.

use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand},
    evaluation::Evaluation,
};
pub(crate) use deskhand_runtime::words::{action_details, command_words, number, seconds};
pub(super) use deskhand_runtime::words::{
    cached_words, cost_words, count, effect_word, hands_words, result_words, short_name, uses_of_models,
};
use deskhand_ui::{
    action::Verdict,
    text::{clip, one_line},
};

use crate::output::OutputTone;

/// The tone of a call's status.
pub(super) fn effect_tone(result: &CallResult) -> OutputTone {
    match (result.status, result.effect) {
        (CallStatus::Skipped, _) => OutputTone::Faint,
        (CallStatus::Failure, None) => OutputTone::Bad,
        (CallStatus::Success, None) => OutputTone::Good,
        (_, Some(verdict)) => verdict_tone(verdict),
    }
}

/// The tone of a verdict.
pub(crate) const fn verdict_tone(verdict: Verdict) -> OutputTone {
    match verdict {
        Verdict::Seen => OutputTone::Good,
        Verdict::NotSeen | Verdict::Unknown => OutputTone::Doubtful,
        Verdict::Refused => OutputTone::Bad,
    }
}

/// A command with everything that a person approves, on one line.
pub(super) fn whole_action(command: &ToolCommand) -> String {
    let details = action_details(command).into_iter().map(|(name, text)| format!("{name}: {text}"));
    let details: Vec<String> = details.collect();
    one_line(&format!("{} · {}", command.tool, details.join(" · ")))
}

/// Wraps a text at `width` columns between words, keeping its line breaks.
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

/// Cuts or pads `text` to exactly `width` columns.
pub(super) fn column(text: &str, width: usize) -> String {
    let cut =
        if text.chars().count() > width { clip(text, width.saturating_sub(1)) } else { text.to_owned() };
    format!("{cut:<width$}")
}

/// A judgement as text: `no: the chart is missing (after a repair)`.
pub(super) fn evaluation_words(evaluation: &Evaluation) -> String {
    let repaired = if evaluation.repaired { " (after a repair)" } else { "" };
    format!("{}: {}{repaired}", evaluation.complete, evaluation.reason)
}
