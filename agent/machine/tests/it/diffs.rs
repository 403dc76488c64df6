//! Diffs of trees.

use std::collections::HashSet;

use deskhand_ui::{
    DiffError, Element, ElementCapability, ElementSource, FieldChange, IncompleteTreeCause, PlacedElement,
    Role, State, States, TableShape, Tree, TreeDiff, ValueRange, apply, diff, geometry::Rect, ids::ElementId,
};
use proptest::{collection::vec, option, prelude::*, sample::select};

use crate::harness::element;

fn any_element() -> impl Strategy<Value = Element> {
    let looks = (
        0..5_u16,
        select(vec![Role::PANEL, Role::PUSH_BUTTON, Role::TEXT, Role::TABLE_CELL]),
        select(vec!["", "OK", "Cancel", "Ä \"quoted\"\n"]),
        option::of(select(vec!["text", ""])),
        vec(select(State::ALL.to_vec()), 0..4),
        option::of((-5..50, -5..50, 0..50, 0..50)),
    );
    let rest = (
        option::of(0..9_u32),
        vec(select(vec![ElementCapability::Action, ElementCapability::Text, ElementCapability::Value]), 0..3),
        0..3_u32,
        option::of((0..3_u32, 0..3_u32)),
        select(vec![ElementSource::AtSpi, ElementSource::Ocr, ElementSource::Omniparser]),
        select(vec!["", "tip"]),
        option::of(select(vec!["https://example.org/", "file:///a"])),
        option::of(select(vec!["bold", "page 1 of 2"])),
    );
    (1..40_u32, looks, rest).prop_map(|(id, looks, rest)| {
        let (depth, role, name, text, states, bounds) = looks;
        let (value, patterns, child_count, table, source, description, address, told) = rest;
        Element {
            id: ElementId(id),
            depth,
            role,
            name: name.to_owned(),
            description: description.to_owned(),
            text: text.map(str::to_owned),
            value: value.map(|current| ValueRange {
                current: f64::from(current) / 3.0,
                minimum: 0.0,
                maximum: 3.0,
                increment: 0.1,
            }),
            states: states.into_iter().collect::<States>(),
            bounds: bounds.map(|(x, y, width, height)| Rect::new(x, y, width, height)),
            patterns,
            child_count,
            table: table.map(|(rows, columns)| TableShape { rows, columns }),
            address: address.map(str::to_owned),
            told: told.map(str::to_owned),
            source,
            instead_of: None,
        }
    })
}

/// A tree in which each id stands once.
fn any_tree() -> impl Strategy<Value = Tree> {
    let partial = option::of(select(vec![
        IncompleteTreeCause::NodeLimit,
        IncompleteTreeCause::Deadline,
        IncompleteTreeCause::NotAnswering,
    ]));
    (vec(any_element(), 0..30), partial).prop_map(|(elements, partial)| {
        let mut known = HashSet::new();
        let elements = elements.into_iter().filter(|element| known.insert(element.id)).collect();
        Tree { elements, partial }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn applying_a_diff_gives_the_next_tree(old in any_tree(), new in any_tree()) {
        let change = diff(&old, &new).expect("each id stands once");
        let stored = serde_json::to_string(&change).unwrap();
        let read: TreeDiff = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&read, &change, "what is stored is what is read");
        prop_assert_eq!(&apply(&old, &read).expect("it belongs to the tree"), &new);
        prop_assert!(diff(&new, &new).unwrap().is_empty());
        // Nothing is named twice, and nothing that stayed as it was.
        let mut named = HashSet::new();
        for run in &change.placed {
            for placed in &run.elements {
                let id = match placed { PlacedElement::New(element) => element.id, PlacedElement::Moved(id) => *id };
                prop_assert!(named.insert(id), "{id} is placed twice");
            }
        }
        for changed in &change.changed {
            prop_assert_ne!(old.find(changed.id), new.find(changed.id));
        }
    }
}

fn tree(names: &[(u32, &str)]) -> Tree {
    Tree {
        elements: names.iter().map(|(id, name)| element(*id, 1, Role::PUSH_BUTTON, name)).collect(),
        partial: None,
    }
}

#[test]
fn diff_contains_only_changes() {
    let old = tree(&[(1, "a"), (2, "b"), (3, "c"), (4, "d")]);
    let new = tree(&[(4, "d"), (1, "a"), (5, "new"), (3, "C")]);
    let change = diff(&old, &new).unwrap();
    assert_eq!(change.removed, [ElementId(2)]);
    assert_eq!(change.changed.len(), 1);
    assert_eq!(change.changed[0].id, ElementId(3));
    assert_eq!(change.changed[0].fields, [FieldChange::Name("C".to_owned())]);
    let placed: Vec<_> = change
        .placed
        .iter()
        .map(|run| {
            (run.after.map(|id| id.0), run.elements.len(), matches!(run.elements[0], PlacedElement::Moved(_)))
        })
        .collect();
    assert_eq!(placed, [(None, 1, true), (Some(1), 1, false)]);
    assert_eq!(change.added().map(|element| element.name.as_str()).collect::<Vec<_>>(), ["new"]);
}

#[test]
fn duplicate_id_gives_no_diff() {
    let twice = tree(&[(1, "a"), (1, "b")]);
    assert_eq!(diff(&tree(&[(1, "a")]), &twice), None);
    assert_eq!(diff(&twice, &tree(&[(1, "a")])), None);
}

#[test]
fn diff_of_another_tree_is_rejected() {
    let change = diff(&tree(&[(1, "a"), (2, "b")]), &tree(&[(1, "a"), (2, "c")])).unwrap();
    assert_eq!(apply(&tree(&[(1, "a")]), &change), Err(DiffError::NoElement(ElementId(2))));
    let change = diff(&tree(&[(1, "a")]), &tree(&[(1, "a"), (2, "b")])).unwrap();
    assert_eq!(apply(&tree(&[(3, "a")]), &change), Err(DiffError::NoElement(ElementId(1))));
}
