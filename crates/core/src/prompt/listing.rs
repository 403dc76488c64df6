//! Windows and agents as lines of text.
//!
//! The format is stable, because scripted models find ids in it:
//! `- [w2] window "Untitled 1" of LibreOffice Calc (active)`, `- [a1] agent "Shell" — …`.

use crate::{
    target::TargetRegistry,
    text::{clip, one_line, untrusted},
    ui::{WindowInfo, WindowKind},
};

/// The longest name or text on a line, in characters.
const NAME_CHARS_MAX: usize = 160;

/// Escapes a name for quotes on a line.
pub fn escape_name(name: &str) -> String {
    one_line(&clip(name, NAME_CHARS_MAX)).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Reverses [`escape_name`], except for clipped text.
pub fn unescape_name(escaped: &str) -> String {
    let mut name = String::with_capacity(escaped.len());
    let mut characters = escaped.chars();
    while let Some(c) = characters.next() {
        name.push(if c == '\\' { characters.next().unwrap_or('\\') } else { c });
    }
    name
}

/// The line for a window.
pub fn window_line(window: &WindowInfo) -> String {
    let mut notes = Vec::new();
    if window.active {
        notes.push("active");
    }
    match window.kind {
        WindowKind::Normal => {}
        WindowKind::Dialog => notes.push("dialog"),
        WindowKind::Popup => notes.push("pop-up"),
    }
    if !window.accessible {
        notes.push("no accessibility tree");
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    format!(
        "- [{}] window \"{}\" of {}{notes}",
        window.id,
        escape_name(&window.title),
        one_line(&window.app.name)
    )
}

/// The targets that the HostAgent can assign a sub-task to.
pub fn targets_text(registry: &TargetRegistry) -> String {
    let windows = registry.windows().iter().rev().map(window_line);
    let agents = registry.agents().iter().map(|agent| {
        format!("- [{}] agent \"{}\" — {}", agent.id, escape_name(&agent.name), one_line(&agent.introduction))
    });
    let lines: Vec<String> = windows.chain(agents).collect();
    if lines.is_empty() {
        return "No window is open. Start an application with `launch_application`.".to_owned();
    }
    untrusted("desktop", &lines.join("\n"))
}
