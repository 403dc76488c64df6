//! Where detected elements are inserted among the elements of a window.

use deskhand_core::ui::Role;

use super::{super::element_tests, *};

fn element(id: u32, depth: u16, bounds: [i32; 4]) -> Element {
    Element { source: Source::Ocr, ..element_tests::element(id, depth, Role::PANEL, "", bounds) }
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
fn an_empty_tree_gets_all_detected_elements() {
    let mut tree = Tree::default();
    insert(&mut tree, vec![element(10, 1, [10, 40, 50, 20]), element(11, 1, [10, 20, 50, 20])]);
    let order: Vec<u32> = tree.elements.iter().map(|element| element.id.0).collect();
    assert_eq!(order, [11, 10]);
}
