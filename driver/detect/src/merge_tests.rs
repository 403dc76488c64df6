//! The cases of merging, as data.

use super::{super::element_tests::element, *};

const OPTIONS: MergeOptions = MergeOptions { iou: 0.5, inside: 0.7 };

fn label(text: &str, bounds: [i32; 4]) -> OcrLabel {
    OcrLabel { text: text.to_owned(), bounds: bounds.into() }
}

fn icon(content: &str, bounds: [i32; 4]) -> ParsedBox {
    ParsedBox { content: content.to_owned(), bounds: bounds.into(), is_text: false, interactive: true }
}

fn window(inside: Vec<Element>) -> Tree {
    let frame = element(1, 0, Role::FRAME, "Save report", [0, 0, 800, 600]);
    Tree { elements: std::iter::once(frame).chain(inside).collect(), partial: None }
}

/// The texts and sources of what is added to a tree, and the descriptions that its elements got.
#[track_caller]
fn check(
    mut tree: Tree,
    labels: &[OcrLabel],
    boxes: &[ParsedBox],
    added: &[(&str, ElementSource)],
    descriptions_expected: &[(u32, &str)],
) {
    let lacking = merge(&mut tree, unite(labels, boxes, &OPTIONS), &OPTIONS);
    let found: Vec<(&str, ElementSource)> =
        lacking.iter().map(|one| (one.words.as_str(), one.source)).collect();
    assert_eq!(found, added);
    let descriptions: Vec<(u32, &str)> = tree
        .elements
        .iter()
        .filter(|element| !element.description.is_empty())
        .map(|element| (element.id.0, element.description.as_str()))
        .collect();
    assert_eq!(descriptions, descriptions_expected);
}

#[test]
fn text_that_an_element_has_is_not_added() {
    let button = element(2, 1, Role::PUSH_BUTTON, "Save as…", [10, 10, 100, 30]);
    check(window(vec![button.clone()]), &[label("Save as", [20, 15, 60, 14])], &[], &[], &[]);
    // A few misread letters do not matter, nor does text that extends a little beyond the element.
    check(window(vec![button.clone()]), &[label("5ave a5", [8, 15, 60, 14])], &[], &[], &[]);
    // Another text on the same button is part of that button.
    check(window(vec![button.clone()]), &[label("Ctrl+S", [70, 15, 30, 14])], &[], &[], &[]);
    check(window(vec![button]), &[], &[icon("floppy disk", [12, 12, 26, 26])], &[], &[]);
}

#[test]
fn text_just_beside_its_element_is_not_added() {
    let cell = element(2, 1, Role::TABLE_CELL, "Roots", [359, 306, 400, 21]);
    check(window(vec![cell.clone()]), &[label("Roots", [342, 312, 36, 9])], &[], &[], &[]);
    check(
        window(vec![cell]),
        &[label("Roots", [342, 334, 36, 9])],
        &[],
        &[("Roots", ElementSource::Ocr)],
        &[],
    );
}

#[test]
fn text_beside_an_element_or_in_a_container_is_added() {
    let panel = element(2, 1, Role::PANEL, "", [0, 0, 400, 300]);
    let button = element(3, 2, Role::PUSH_BUTTON, "Save", [10, 10, 100, 30]);
    let canvas = element(4, 2, Role::DRAWING_AREA, "Print", [0, 50, 400, 200]);
    let tree = || window(vec![panel.clone(), button.clone(), canvas.clone()]);
    let ocr = ElementSource::Ocr;
    check(tree(), &[label("Save", [240, 15, 60, 14])], &[], &[("Save", ocr)], &[]);
    // The window and the canvas have that name, but they are containers.
    check(tree(), &[label("report", [200, 100, 60, 14])], &[], &[("report", ocr)], &[]);
    check(tree(), &[label("Print", [20, 100, 60, 14])], &[], &[("Print", ocr)], &[]);
}

#[test]
fn a_control_without_text_is_described_by_what_is_drawn_on_it() {
    let button = element(2, 1, Role::PUSH_BUTTON, "", [10, 10, 100, 30]);
    check(
        window(vec![button.clone()]),
        &[label("Send", [20, 15, 60, 14])],
        &[],
        &[],
        &[(2, "Send (by ocr)")],
    );
    let parsed = icon("paper plane", [12, 11, 96, 28]);
    check(window(vec![button.clone()]), &[], &[parsed], &[], &[(2, "paper plane (by omniparser)")]);
    check(window(vec![button]), &[], &[icon("", [12, 11, 96, 28])], &[], &[]);
}

#[test]
fn a_text_that_is_cut_off_may_continue_with_it() {
    let mut text = element(2, 1, Role::TEXT, "", [0, 0, 400, 300]);
    text.text = Some("a ".repeat(Element::TEXT_MAX / 2));
    check(window(vec![text.clone()]), &[label("far below", [20, 200, 60, 14])], &[], &[], &[]);
    text.text = Some("The quick brown fox".to_owned());
    check(window(vec![text.clone()]), &[label("quick brown", [20, 200, 60, 14])], &[], &[], &[]);
    check(
        window(vec![text]),
        &[label("unheard of", [20, 200, 60, 14])],
        &[],
        &[("unheard of", ElementSource::Ocr)],
        &[],
    );
}

#[test]
fn a_text_and_its_box_are_one_element() {
    let place = [20, 100, 80, 30];
    let words = label("Open", [35, 107, 45, 14]);
    let both = |content| (std::slice::from_ref(&words).to_vec(), vec![icon(content, place)]);
    for (content, name) in [("Open", "Open"), ("", "Open"), ("a folder", "Open")] {
        let (labels, boxes) = both(content);
        check(window(vec![]), &labels, &boxes, &[(name, ElementSource::Omniparser)], &[]);
    }
    // The same box twice.
    check(
        window(vec![]),
        &[],
        &[icon("gear", place), icon("gear", [21, 101, 80, 30])],
        &[("gear", ElementSource::Omniparser)],
        &[],
    );
}

#[test]
fn a_box_around_several_texts_keeps_them() {
    let labels = [label("One", [20, 20, 40, 14]), label("Two", [20, 60, 40, 14])];
    let boxes = [icon("a list", [10, 10, 200, 100])];
    let expected =
        [("a list", ElementSource::Omniparser), ("One", ElementSource::Ocr), ("Two", ElementSource::Ocr)];
    check(window(vec![]), &labels, &boxes, &expected, &[]);
}
