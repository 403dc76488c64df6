//! Texts for the model of a client.

use deskhand_host::EndedSession;
use deskhand_machine::{
    intent::Does,
    observation::DesktopView,
    prompt::{ViewListOptions, view_text, window_line},
    session::{ViewConfig, later_view_text},
};
use deskhand_runtime::words::{effect_word, result_words};
use deskhand_ui::{WindowView, text::untrusted};

use crate::desk::DeskTurn;

/// The windows of a desktop.
pub(super) fn windows(view: &DesktopView) -> String {
    if view.windows.is_empty() && view.dialogs.is_empty() {
        return "No window is open; `open` starts a program or opens files.".to_owned();
    }
    let lines: Vec<String> = view.windows.iter().chain(&view.dialogs).map(window_line).collect();
    untrusted("the desktop", &lines.join("\n"))
}

/// The verdict on each action, then what came of them, and what else happened: that may quote windows and documents.
pub(super) fn done(turn: &DeskTurn) -> String {
    let (mut verdicts, mut results) = (Vec::new(), Vec::new());
    for (number, done) in (1_u32..).zip(&turn.done) {
        verdicts.push(format!("{number}. {}: {}", done.command.tool, effect_word(&done.result)));
        results.push(format!("{number}. {}", result_words(&done.result)));
        // What an action read while it acted is in its words.
        if done.command.intent.does == Does::Read && !done.result.output.is_null() {
            results.push(match done.result.output.as_str() {
                Some(text) => text.to_owned(),
                None => done.result.output.to_string(),
            });
        }
    }
    verdicts.extend(turn.rejected.iter().map(|why| format!("Nothing was done: {why}.")));
    results.extend(turn.notes.iter().map(|note| format!("Note: {note}")));
    if !results.is_empty() {
        verdicts.push(untrusted("results", &results.join("\n")));
    }
    verdicts.join("\n")
}

/// A window, in full or as what changed since `before`.
pub(super) fn window(view: &WindowView, before: Option<&WindowView>, options: &ViewListOptions) -> String {
    let id = view.surfaces.first().map(|surface| surface.window.id.to_string()).unwrap_or_default();
    let config = ViewConfig { tokens_max: options.tokens_max, ..ViewConfig::default() };
    let text = match before {
        Some(before) => later_view_text(before, view, &config),
        None => view_text(view, options),
    };
    let text = match (text.trim(), before) {
        ("", Some(_)) => return format!("Window {id}: nothing changed."),
        (text, _) => text,
    };
    let notices: String = view.notices.iter().map(|notice| format!("\nNote: {notice}")).collect();
    let what = if before.is_some() { "now" } else { "shows" };
    format!("Window {id} {what}:\n{text}{notices}")
}

/// Describes how a session ended.
pub(super) fn ended(end: &EndedSession) -> String {
    let outcome = end.outcome();
    let mut lines = vec![format!("Session {}: {}.", end.session.0, outcome.kind)];
    if !outcome.reason.is_empty() {
        lines.push(untrusted("the result", &outcome.reason));
    }
    if let Some(kept) = end.desktop.kept {
        let minutes = kept.as_secs().div_ceil(60);
        lines.push(format!(
            "Its desktop is kept for {minutes} minutes: `deskhand desktop attach {}` shows it.",
            end.session.0
        ));
    }
    let fate = if end.desktop.kept.is_some() { "still open there" } else { "lost with the desktop" };
    if !end.desktop.unsaved.is_empty() {
        let names = untrusted("documents and titles", &end.desktop.unsaved.join("\n"));
        lines.push(format!("Unsaved changes, {fate}:\n{names}"));
    }
    lines.join("\n")
}
