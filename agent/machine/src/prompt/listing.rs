//! Windows and agents as lines of text.
//!
//! The format is stable, because scripted models find ids in it:
//! `- [w2] window "Untitled 1" of LibreOffice Calc (active)`, `- [a1] agent "Shell" — …`.

use crate::{agent::INTRODUCTION_CHARS_MAX, target::TargetRegistry};
use deskhand_ui::{
    InstalledApplication, WindowInfo, WindowKind, WindowState,
    text::{clip, one_line, untrusted},
};

/// The longest name or text on a line, in characters.
const NAME_CHARS_MAX: usize = 160;

/// The most installed applications that are listed.
const INSTALLED_MAX: usize = 60;

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
        WindowKind::Tooltip => notes.push("tool tip"),
        WindowKind::Panel => notes.push("panel"),
    }
    if window.state == WindowState::FullScreen {
        notes.push(window.state.word());
    }
    let monitor = window.monitor.map(|number| format!("on monitor {number}"));
    notes.extend(monitor.as_deref());
    if !window.accessible {
        notes.push("no accessibility tree");
    }
    let document = document_note(window);
    notes.extend(document.as_deref());
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    format!(
        "- [{}] window \"{}\" of {}{notes}",
        window.id,
        escape_name(&window.title),
        one_line(&clip(&window.app.name, NAME_CHARS_MAX))
    )
}

/// Which file a window shows, and whether it has unsaved changes.
fn document_note(window: &WindowInfo) -> Option<String> {
    let document = window.document.as_ref()?;
    let file = document.path.as_ref().map(|path| format!("file {}", escape_name(path)));
    let changes = match document.modified {
        Some(true) => Some("unsaved changes".to_owned()),
        Some(false) => Some("saved".to_owned()),
        None => None,
    };
    let parts: Vec<String> = file.into_iter().chain(changes).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The targets that the HostAgent can assign a sub-task to.
///
/// The HostAgent is told what is installed where it has to choose an application: if no window is open.
pub fn targets_text(registry: &TargetRegistry, installed: Option<&[InstalledApplication]>) -> String {
    let with_dialogs = |window: &WindowInfo| {
        let dialogs = registry.dialogs_of(window.id);
        let shown =
            dialogs.map(|dialog| format!("\n  in front of it: dialog \"{}\"", escape_name(&dialog.title)));
        format!("{}{}", window_line(window), shown.collect::<String>())
    };
    let windows = registry.windows().iter().rev().map(with_dialogs);
    let agents = registry.agents().iter().map(|agent| {
        let introduction = clip(&one_line(&agent.introduction), INTRODUCTION_CHARS_MAX);
        format!("- [{}] agent \"{}\" — {introduction}", agent.id, escape_name(&agent.name))
    });
    let mut lines: Vec<String> = windows.chain(agents).collect();
    let is_empty = lines.is_empty();
    let workflows = registry.workflows().iter();
    lines.extend(workflows.map(|offer| format!("- [{}] {}", offer.target_id(), offer.line())));
    let workflows = if is_empty && !lines.is_empty() {
        format!("\n{}", untrusted("desktop", &lines.join("\n")))
    } else {
        String::new()
    };
    if is_empty {
        let names = installed.unwrap_or_default().iter();
        let names = names.map(|application| one_line(&clip(&application.name, NAME_CHARS_MAX)));
        let mut names: Vec<String> = names.take(INSTALLED_MAX + 1).collect();
        let has_more = names.len() > INSTALLED_MAX;
        names.truncate(INSTALLED_MAX);
        let nothing = "No window is open. Start an application with `launch_application`.";
        if names.is_empty() {
            return format!("{nothing}{workflows}");
        }
        let more = if has_more { ", and others" } else { "" };
        return format!("{nothing} Installed: {}{more}.{workflows}", names.join(", "));
    }
    untrusted("desktop", &lines.join("\n"))
}
