//! Fields, labels and what is neither, at places.

use super::*;
use crate::{States, Tree};

type Line = (u16, &'static str, &'static str, [i32; 4]);

/// The labels of fields: for each field by its place in the list, the text of its label.
fn check(lines: &[Line], expected: &[(u32, &str)]) {
    let element = |(id, (depth, role, name, bounds)): (u32, &Line)| Element {
        depth: *depth,
        states: States::EMPTY.with(State::Showing),
        bounds: Some((*bounds).into()),
        ..Element::new(ElementId(id), Role::new(*role), *name)
    };
    let tree = Tree { elements: (0..).zip(lines).map(element).collect(), partial: None };
    let mut found: Vec<(u32, &str)> =
        labels_beside(&tree).into_iter().map(|(field, label)| (field.0, label.text)).collect();
    found.sort_unstable();
    assert_eq!(found, expected, "{lines:#?}");
}

#[test]
fn a_field_without_a_name_has_the_label_to_its_left_or_above() {
    check(
        &[
            (0, "frame", "Connect", [0, 0, 600, 200]),
            (1, "panel", "", [0, 0, 600, 40]),
            (2, "label", "Host:", [10, 12, 40, 16]),
            (2, "text", "", [60, 8, 120, 24]),
            (2, "label", "Port:", [200, 12, 40, 16]),
            (2, "text", "", [250, 8, 60, 24]),
            // Another field stands between it and the label.
            (2, "text", "", [330, 8, 60, 24]),
            (1, "label", "Notes", [10, 60, 60, 16]),
            (1, "scroll pane", "", [10, 78, 400, 100]),
            (2, "text", "", [10, 78, 400, 100]),
        ],
        &[(3, "Host:"), (5, "Port:"), (9, "Notes")],
    );
}

#[test]
fn a_name_of_the_tree_is_left_as_it_is_but_that_of_a_choice_is_what_is_chosen() {
    check(
        &[
            (0, "frame", "Page", [0, 0, 600, 200]),
            (1, "label", "Name:", [10, 12, 40, 16]),
            (1, "entry", "Full name", [60, 8, 120, 24]),
            (1, "label", "Size:", [10, 42, 40, 16]),
            (1, "combo box", "Medium", [60, 38, 120, 24]),
            (1, "label", "Colour:", [10, 72, 40, 16]),
            (1, "combo box", "Colour", [60, 68, 120, 24]),
        ],
        &[(4, "Size:")],
    );
}

#[test]
fn the_page_of_a_tab_may_be_inside_of_the_tab() {
    check(
        &[
            (0, "dialog", "Page", [0, 0, 700, 500]),
            (1, "page tab", "Page", [100, 10, 40, 30]),
            (2, "label", "Page", [104, 14, 32, 16]),
            (2, "panel", "Margins", [10, 60, 300, 200]),
            (3, "spin button", "", [100, 70, 140, 34]),
            (3, "filler", "", [20, 78, 77, 17]),
            (4, "label", "Left:", [20, 78, 77, 17]),
            (3, "toggle button", "", [100, 110, 200, 34]),
            (3, "label", "Layout:", [20, 110, 77, 34]),
        ],
        &[(4, "Left:"), (7, "Layout:")],
    );
}

#[test]
fn what_is_on_a_button_in_a_row_or_elsewhere_labels_nothing() {
    check(
        &[
            (0, "frame", "Editor", [0, 0, 900, 600]),
            (1, "push button", "", [10, 8, 60, 24]),
            (2, "label", "Find", [12, 12, 40, 16]),
            (1, "text", "", [80, 8, 120, 24]),
            (1, "panel", "", [0, 40, 200, 500]),
            (2, "list", "", [0, 40, 200, 500]),
            (3, "list item", "", [0, 60, 200, 24]),
            (4, "label", "Documents", [10, 62, 80, 16]),
            (2, "label", "Symbols", [10, 300, 80, 16]),
            // A large text has its label at the first line.
            (1, "text", "", [210, 40, 600, 500]),
            (1, "label", "It takes effect at the next start.", [10, 560, 200, 16]),
            (1, "text", "", [220, 556, 80, 24]),
        ],
        &[],
    );
}

#[test]
fn a_box_has_its_label_on_the_right() {
    check(
        &[
            (0, "dialog", "Options", [0, 0, 300, 100]),
            (1, "check box", "", [10, 10, 16, 16]),
            (1, "label", "Wrap lines", [30, 10, 80, 16]),
            (1, "label", "Indent:", [140, 10, 50, 16]),
            (1, "spin button", "", [200, 8, 60, 20]),
        ],
        &[(1, "Wrap lines"), (4, "Indent:")],
    );
}
