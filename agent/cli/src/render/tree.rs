//! Renders windows and their elements.

use deskhand_runtime::tree_words::{TextEmphasis, element_parts, partial_words};
use deskhand_ui::{
    Element, IncompleteTreeCause, Tree, WindowInfo, WindowKind,
    text::{clip, one_line},
};

use crate::output::{OutputTone, StyledLine};

/// The windows, topmost first.
pub(crate) fn window_lines(windows: &[WindowInfo]) -> Vec<StyledLine> {
    windows.iter().rev().map(window_line).collect()
}

fn window_line(window: &WindowInfo) -> StyledLine {
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
    StyledLine::of(OutputTone::Strong, format!("{:<4} ", window.id.to_string()))
        .with(OutputTone::Plain, format!("{:<22} ", clip(&one_line(&window.app.name), 22)))
        .with(
            OutputTone::Faint,
            format!("{:>10} at {:<10} ", format!("{width}x{height}"), format!("{x},{y}")),
        )
        .with(OutputTone::Plain, format!("“{}”", one_line(&window.title)))
        .with(
            OutputTone::Faint,
            if notes.is_empty() { String::new() } else { format!("  {}", notes.join(", ")) },
        )
}

/// The elements of a window, indented by depth.
pub(crate) fn tree_lines(tree: &Tree) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = tree.elements.iter().map(element_line).collect();
    if let Some(why) = partial_words(tree) {
        let how = if tree.partial == Some(IncompleteTreeCause::NodeLimit) {
            "; raise the limit with --nodes-max"
        } else {
            ""
        };
        lines.push(StyledLine::of(OutputTone::Doubtful, format!("… the tree is incomplete: {why}{how}")));
    }
    lines
}

fn element_line(element: &Element) -> StyledLine {
    element_parts(element).into_iter().fold(StyledLine::default(), |line, (weight, text)| {
        let tone = match weight {
            TextEmphasis::Strong => OutputTone::Strong,
            TextEmphasis::Plain => OutputTone::Plain,
            TextEmphasis::Faint => OutputTone::Faint,
        };
        line.with(tone, text)
    })
}
