//! Renders windows and their elements.

use deskhand_core::{
    text::{clip, one_line},
    ui::{Element, Partial, Source, State, Tree, WindowInfo, WindowKind},
};

use crate::output::{Line, Tone};

/// The windows, topmost first.
pub(crate) fn window_lines(windows: &[WindowInfo]) -> Vec<Line> {
    windows.iter().rev().map(window_line).collect()
}

fn window_line(window: &WindowInfo) -> Line {
    let mut notes = Vec::new();
    match window.kind {
        WindowKind::Normal => {}
        WindowKind::Dialog => notes.push("dialog".to_owned()),
        WindowKind::Popup => notes.push("pop-up".to_owned()),
        WindowKind::Tooltip => notes.push("tool tip".to_owned()),
        WindowKind::Panel => notes.push("panel".to_owned()),
    }
    if let Some(owner) = window.owner {
        notes.push(format!("of {owner}"));
    }
    if window.active {
        notes.push("active".to_owned());
    }
    if !window.accessible {
        notes.push("no accessibility tree".to_owned());
    }
    let [x, y, width, height] = <[i32; 4]>::from(window.bounds);
    Line::of(Tone::Strong, format!("{:<4} ", window.id.to_string()))
        .with(Tone::Plain, format!("{:<22} ", clip(&one_line(&window.app.name), 22)))
        .with(Tone::Faint, format!("{:>10} at {:<10} ", format!("{width}x{height}"), format!("{x},{y}")))
        .with(Tone::Plain, format!("“{}”", one_line(&window.title)))
        .with(Tone::Faint, if notes.is_empty() { String::new() } else { format!("  {}", notes.join(", ")) })
}

/// The elements of a window, indented by depth.
pub(crate) fn tree_lines(tree: &Tree) -> Vec<Line> {
    let mut lines: Vec<Line> = tree.elements.iter().map(element_line).collect();
    if let Some(partial) = tree.partial {
        let why = match partial {
            Partial::NodeLimit => "the window has more elements; raise the limit with --nodes-max",
            Partial::Deadline => "reading took too long",
            Partial::NotAnswering => "the application did not answer for some elements",
        };
        lines.push(Line::of(Tone::Doubtful, format!("… the tree is incomplete: {why}")));
    }
    lines
}

fn element_line(element: &Element) -> Line {
    const TEXT_MAX: usize = 80;
    /// States that most elements have, or that mean nothing to a reader.
    const DULL: &[State] = &[
        State::Enabled,
        State::Sensitive,
        State::Showing,
        State::Visible,
        State::Focusable,
        State::Selectable,
        State::Checkable,
        State::Expandable,
    ];
    let mut line = Line::of(Tone::Plain, "  ".repeat(usize::from(element.depth)))
        .with(Tone::Faint, format!("[{}] ", element.id))
        .with(Tone::Plain, element.role.to_string());
    if !element.name.is_empty() {
        line = line.with(Tone::Strong, format!(" \"{}\"", clip(&one_line(&element.name), TEXT_MAX)));
    }
    if let Some(text) = element.text.as_ref().filter(|text| !text.is_empty()) {
        line = line.with(Tone::Plain, format!(" = \"{}\"", clip(&one_line(text), TEXT_MAX)));
    }
    if let Some(value) = &element.value {
        line =
            line.with(Tone::Plain, format!(" = {} ({} to {})", value.current, value.minimum, value.maximum));
    }
    if let Some(table) = &element.table {
        line = line.with(Tone::Plain, format!(" {} × {} cells", table.rows, table.columns));
    }
    if !element.description.is_empty() && element.name.is_empty() {
        line = line.with(Tone::Plain, format!(" — {}", clip(&one_line(&element.description), TEXT_MAX)));
    }
    let mut states: Vec<&str> =
        element.states.iter().filter(|state| !DULL.contains(state)).map(State::name).collect();
    if !element.states.takes_input() {
        states.push("disabled");
    }
    if !states.is_empty() {
        line = line.with(Tone::Faint, format!(" ({})", states.join(", ")));
    }
    if element.source != Source::AtSpi {
        line = line.with(Tone::Faint, format!(" by {}", element.source.word()));
    }
    if let Some(bounds) = element.bounds {
        let [x, y, width, height] = <[i32; 4]>::from(bounds);
        line = line.with(Tone::Faint, format!(" {width}x{height} at {x},{y}"));
    }
    line
}
