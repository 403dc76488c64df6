//! Where detected elements are inserted among the elements of a window.

use deskhand_ui::{Role, States};

use super::{super::element_tests, *};

fn element(id: u32, depth: u16, bounds: [i32; 4]) -> Element {
    Element { source: ElementSource::Ocr, ..element_tests::element(id, depth, Role::PANEL, "", bounds) }
}

#[test]
fn a_detected_element_comes_last_in_the_smallest_one_around_it() {
    let tree = [
        element(1, 0, [0, 0, 400, 400]),
        element(2, 1, [0, 0, 200, 400]),
        element(3, 2, [0, 0, 100, 100]),
        element(4, 1, [200, 0, 200, 400]),
    ];
    let found = [
        element(10, 1, [210, 300, 50, 20]),
        element(11, 1, [210, 100, 50, 20]),
        element(12, 1, [120, 20, 50, 20]),
        element(13, 1, [10, 20, 50, 20]),
        element(14, 1, [500, 500, 50, 20]),
    ];
    let mut tree = Tree { elements: tree.to_vec(), partial: None };
    insert(&mut tree, found.to_vec());
    let order: Vec<(u32, u16)> = tree.elements.iter().map(|element| (element.id.0, element.depth)).collect();
    assert_eq!(order, [(1, 0), (2, 1), (3, 2), (13, 3), (12, 2), (4, 1), (11, 2), (10, 2), (14, 1)]);
}

#[test]
fn a_dialog_that_exposes_buttons_alone_is_read() {
    let check = |roles: &[&Role], expected: bool| {
        let part = |(number, role): (u32, &&Role)| Element {
            role: (*role).clone(),
            ..element(number, u16::from(number > 0), [0, 0, 200, 100])
        };
        let elements = (0..).zip(roles).map(part).collect();
        let found = says_only_buttons(&Tree { elements, partial: None });
        assert_eq!(found.is_some(), expected, "{roles:?}");
    };
    let (dialog, panel, button) = (&Role::DIALOG, &Role::PANEL, &Role::PUSH_BUTTON);
    check(&[dialog, panel, button], true);
    check(&[&Role::ALERT, panel, button, button], true);
    check(&[dialog, panel, &Role::LABEL, button], false);
    check(&[dialog, panel], false);
    check(&[&Role::FRAME, panel, button], false);
}

#[test]
fn an_empty_tree_gets_all_detected_elements() {
    let mut tree = Tree::default();
    insert(&mut tree, vec![element(10, 1, [10, 40, 50, 20]), element(11, 1, [10, 20, 50, 20])]);
    let order: Vec<u32> = tree.elements.iter().map(|element| element.id.0).collect();
    assert_eq!(order, [11, 10]);
}

#[test]
fn panels_with_scroll_bars_alone_are_read_and_strips_along_them() {
    let showing = |id: u32, depth: u16, role: Role, bounds: [i32; 4]| Element {
        states: [State::Showing].into_iter().collect(),
        ..element_tests::element(id, depth, role, "", bounds)
    };
    let around = |element: Element| Element { child_count: 1, ..element };
    let elements = vec![
        around(showing(1, 0, Role::FRAME, [0, 0, 900, 700])),
        // A sheet with its letters and numbers, and a logo.
        showing(2, 1, Role::PANEL, [50, 120, 800, 300]),
        showing(3, 1, Role::PANEL, [50, 100, 800, 20]),
        showing(4, 1, Role::PANEL, [0, 120, 50, 300]),
        showing(5, 1, Role::PANEL, [860, 5, 40, 40]),
        // A text with scroll bars.
        around(showing(6, 1, Role::FILLER, [0, 430, 900, 200])),
        around(showing(7, 2, Role::PANEL, [880, 430, 20, 200])),
        showing(8, 3, Role::SCROLL_BAR, [880, 430, 20, 200]),
        // A form.
        around(showing(9, 1, Role::PANEL, [0, 630, 900, 70])),
        showing(10, 2, Role::PUSH_BUTTON, [10, 640, 80, 30]),
    ];
    let found = panels(&Tree { elements, partial: None }, true);
    let expected =
        [[50, 120, 800, 300], [0, 430, 900, 200], [50, 100, 800, 20], [0, 120, 50, 300]].map(Rect::from);
    assert_eq!(found, expected);
}

#[test]
fn a_panel_that_takes_the_focus_and_tells_nothing_is_read_by_every_reader() {
    let shown = |id: u32, role: Role, state: State| Element {
        states: States::EMPTY.with(State::Showing).with(state),
        ..element_tests::element(id, 1, role, "", [0, 0, 400, 300])
    };
    let small = Element { bounds: Some([0, 0, 40, 40].into()), ..shown(2, Role::PANEL, State::Focusable) };
    let told = Element { text: Some("a".to_owned()), ..shown(3, Role::PANEL, State::Focusable) };
    let check = |element: Element, all: bool, expected: usize| {
        let root = element_tests::element(1, 0, Role::FRAME, "", [0, 0, 500, 500]);
        let tree = Tree { elements: vec![root, element.clone()], partial: None };
        assert_eq!(panels(&tree, all).len(), expected, "{element:?}");
    };
    check(shown(4, Role::PANEL, State::Focusable), false, 1);
    check(shown(4, Role::FILLER, State::Focusable), false, 1);
    check(shown(5, Role::PANEL, State::Enabled), false, 0);
    check(shown(5, Role::PANEL, State::Enabled), true, 1);
    check(shown(6, Role::DRAWING_AREA, State::Focusable), false, 0);
    check(shown(6, Role::DRAWING_AREA, State::Focusable), true, 1);
    check(small, true, 0);
    check(told, true, 0);
}
