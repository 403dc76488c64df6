//! Elements of a window in words, for people.

use deskhand_ui::{
    Element, ElementSource, IncompleteTreeCause, State, Tree,
    text::{clip, one_line},
};

/// The emphasis of a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEmphasis {
    /// Names.
    Strong,
    /// Roles, values.
    Plain,
    /// Ids, states, places.
    Faint,
}

/// An element on one line, indented by its depth, as parts of different weight.
pub fn element_parts(element: &Element) -> Vec<(TextEmphasis, String)> {
    const TEXT_MAX: usize = 80;
    let mut parts = vec![
        (TextEmphasis::Plain, "  ".repeat(usize::from(element.depth))),
        (TextEmphasis::Faint, format!("[{}] ", element.id)),
        (TextEmphasis::Plain, element.role.to_string()),
    ];
    let mut add = |weight: TextEmphasis, text: String| parts.push((weight, text));
    if !element.name.is_empty() {
        add(TextEmphasis::Strong, format!(" \"{}\"", clip(&one_line(&element.name), TEXT_MAX)));
    }
    if let Some(text) = element.text.as_ref().filter(|text| !text.is_empty()) {
        add(TextEmphasis::Plain, format!(" = \"{}\"", clip(&one_line(text), TEXT_MAX)));
    }
    if let Some(value) = &element.value {
        add(TextEmphasis::Plain, format!(" = {} ({} to {})", value.current, value.minimum, value.maximum));
    }
    if let Some(table) = &element.table {
        add(TextEmphasis::Plain, format!(" {} × {} cells", table.rows, table.columns));
    }
    if !element.description.is_empty() && element.name.is_empty() {
        add(TextEmphasis::Plain, format!(" — {}", clip(&one_line(&element.description), TEXT_MAX)));
    }
    let states = state_words(element);
    if !states.is_empty() {
        add(TextEmphasis::Faint, format!(" ({})", states.join(", ")));
    }
    if element.source != ElementSource::AtSpi {
        add(TextEmphasis::Faint, format!(" by {}", element.source.word()));
    }
    if let Some(bounds) = element.bounds {
        let [x, y, width, height] = <[i32; 4]>::from(bounds);
        add(TextEmphasis::Faint, format!(" {width}x{height} at {x},{y}"));
    }
    parts
}

/// The states of an element that tell something.
fn state_words(element: &Element) -> Vec<&str> {
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
    let mut states: Vec<&str> =
        element.states.iter().filter(|state| !DULL.contains(state)).map(State::name).collect();
    if !element.states.takes_input() {
        states.push("disabled");
    }
    states
}

/// Why a tree lacks elements; `None` if it is complete.
pub fn partial_words(tree: &Tree) -> Option<&'static str> {
    tree.partial.map(|partial| match partial {
        IncompleteTreeCause::NodeLimit => "the window has more elements",
        IncompleteTreeCause::Deadline => "reading took too long",
        IncompleteTreeCause::NotAnswering => "the application did not answer for some elements",
    })
}

/// A tree as lines of text.
pub fn tree_text(tree: &Tree) -> Vec<String> {
    let line =
        |element: &Element| element_parts(element).into_iter().map(|(_, text)| text).collect::<String>();
    let partial = partial_words(tree).map(|why| format!("… the tree is incomplete: {why}"));
    tree.elements.iter().map(line).chain(partial).collect()
}
