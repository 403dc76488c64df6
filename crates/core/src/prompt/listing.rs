//! Windows, agents and elements as lines of text.
//!
//! The form is stable, because scripted models find ids in it:
//! `- [w2] window "Untitled 1" of LibreOffice Calc (active)`, `- [a1] agent "Shell" — …`, and for elements
//! `[e17] push button "Finish" (focused)`, indented by the elements around them that are listed.

use std::fmt::Write as _;

use crate::{
    observation::WindowView,
    target::TargetRegistry,
    text::{clip, one_line, untrusted},
    ui::{Element, Partial, Pattern, Role, State, Tree, WindowInfo, WindowKind},
};

/// The most elements that are listed of one surface.
pub const ELEMENTS_MAX: usize = 400;
/// The longest name or text in a line, in characters.
const NAME_CHARS_MAX: usize = 160;
/// The deepest indentation.
const INDENT_MAX: usize = 8;

/// A name as it stands between quotes in a line.
pub fn escape_name(name: &str) -> String {
    one_line(&clip(name, NAME_CHARS_MAX)).replace('\\', "\\\\").replace('"', "\\\"")
}

/// The name behind what [`escape_name`] wrote (as far as it was not cut).
pub fn unescape_name(escaped: &str) -> String {
    let mut name = String::with_capacity(escaped.len());
    let mut characters = escaped.chars();
    while let Some(c) = characters.next() {
        name.push(if c == '\\' { characters.next().unwrap_or('\\') } else { c });
    }
    name
}

/// The line of a window.
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

/// The targets that a HostAgent can assign to.
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

/// Whether an element says something that a model can use.
fn is_listed(element: &Element) -> bool {
    let says = !element.name.is_empty() || element.text.as_ref().is_some_and(|text| !text.is_empty());
    match () {
        () if element.role == Role::SEPARATOR => false,
        () if element.role.is_structural() => says,
        () => says || element.role.is_interactive() || element.table.is_some(),
    }
}

/// The line of an element, without indentation.
pub fn element_line(element: &Element) -> String {
    let mut line = format!("[{}] {}", element.id, element.role);
    if !element.name.is_empty() {
        let _ = write!(line, " \"{}\"", escape_name(&element.name));
    }
    let mut notes: Vec<String> = Vec::new();
    const TOLD: [State; 9] = [
        State::Focused,
        State::Checked,
        State::Selected,
        State::Expanded,
        State::Pressed,
        State::Busy,
        State::Required,
        State::ReadOnly,
        State::Editable,
    ];
    notes
        .extend(TOLD.iter().filter(|state| element.states.has(**state)).map(|state| state.name().to_owned()));
    if element.role.is_interactive() && !element.states.takes_input() {
        notes.push("disabled".to_owned());
    }
    if let Some(shape) = element.table {
        notes.push(format!("{} rows × {} columns", shape.rows, shape.columns));
    }
    if !notes.is_empty() {
        let _ = write!(line, " ({})", notes.join(", "));
    }
    if let Some(value) = element.value.filter(|_| element.offers(Pattern::Value)) {
        let _ = write!(line, " value {}", value.current);
        if value.maximum > value.minimum && value.maximum < 1e15 && value.minimum > -1e15 {
            let _ = write!(line, " of {} to {}", value.minimum, value.maximum);
        }
    }
    if let Some(text) = element.text.as_ref().filter(|text| !text.is_empty() && **text != element.name) {
        let _ = write!(line, " = \"{}\"", escape_name(text));
    }
    if !element.description.is_empty() && element.name.is_empty() {
        let _ = write!(line, " — {}", escape_name(&element.description));
    }
    line
}

fn tree_lines(tree: &Tree) -> Vec<String> {
    let mut lines = Vec::new();
    let mut listed_depths: Vec<u16> = Vec::new();
    let mut left_out = 0_usize;
    for element in &tree.elements {
        while listed_depths.last().is_some_and(|depth| *depth >= element.depth) {
            listed_depths.pop();
        }
        if !is_listed(element) {
            continue;
        }
        if lines.len() >= ELEMENTS_MAX {
            left_out += 1;
            continue;
        }
        let indent = "  ".repeat(listed_depths.len().min(INDENT_MAX));
        lines.push(format!("{indent}{}", element_line(element)));
        listed_depths.push(element.depth);
    }
    if left_out > 0 {
        lines.push(format!("({left_out} more elements are not listed)"));
    }
    match tree.partial {
        None => {}
        Some(Partial::NodeLimit) => {
            lines.push("(partial: the window has more elements than the limit)".to_owned());
        }
        Some(Partial::Deadline) => lines.push("(partial: the time for looking ran out)".to_owned()),
        Some(Partial::NotAnswering) => {
            lines.push("(partial: the application did not answer for some elements)".to_owned());
        }
    }
    lines
}

/// The surfaces of a window, top-most first, because a dialog in front matters most.
pub fn surfaces_text(view: &WindowView) -> String {
    let mut text = String::new();
    for surface in view.surfaces.iter().rev() {
        let lines = tree_lines(&surface.tree);
        let body = if lines.is_empty() {
            "(no elements: the application shows none to assistive technology)".to_owned()
        } else {
            lines.join("\n")
        };
        let _ =
            writeln!(text, "{}", untrusted("screen", &format!("{}\n{body}", window_line(&surface.window))));
    }
    text.trim_end().to_owned()
}
