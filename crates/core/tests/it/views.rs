//! Differences of trees and views, and how journals store them.

use std::collections::HashSet;

use deskhand_core::{
    geometry::Rect,
    ids::{ElementId, WindowId},
    observation::{DesktopView, Observation, Surface, WindowView},
    ui::{
        DiffError, Element, FieldChange, Partial, Pattern, Placed, Role, Source, State, States, TableShape,
        Tree, TreeDiff, ValueRange, apply, diff,
    },
    views::{Views, WindowChanges},
};
use proptest::{collection::vec, option, prelude::*, sample::select};

use crate::harness::{element, window};

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
        vec(select(vec![Pattern::Action, Pattern::Text, Pattern::Value]), 0..3),
        0..3_u32,
        option::of((0..3_u32, 0..3_u32)),
        select(vec![Source::AtSpi, Source::Ocr, Source::Omniparser]),
        select(vec!["", "tip"]),
    );
    (1..40_u32, looks, rest).prop_map(|(id, looks, rest)| {
        let (depth, role, name, text, states, bounds) = looks;
        let (value, patterns, child_count, table, source, description) = rest;
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
            source,
        }
    })
}

/// A tree in which each id stands once.
fn any_tree() -> impl Strategy<Value = Tree> {
    let partial = option::of(select(vec![Partial::NodeLimit, Partial::Deadline, Partial::NotAnswering]));
    (vec(any_element(), 0..30), partial).prop_map(|(elements, partial)| {
        let mut known = HashSet::new();
        let elements = elements.into_iter().filter(|element| known.insert(element.id)).collect();
        Tree { elements, partial }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_tree_and_its_difference_make_the_next_tree(old in any_tree(), new in any_tree()) {
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
                let id = match placed { Placed::New(element) => element.id, Placed::Moved(id) => *id };
                prop_assert!(named.insert(id), "{id} is placed twice");
            }
        }
        for changed in &change.changed {
            prop_assert_ne!(old.find(changed.id), new.find(changed.id));
        }
    }

    #[test]
    fn what_a_writer_encodes_a_reader_decodes(
        looks in vec((0..12_u32, any_tree(), any_tree()), 0..12),
    ) {
        let (mut writer, mut reader) = (Views::default(), Views::default());
        for (id, tree, dialog) in looks {
            let mut surfaces = vec![Surface { window: window(id, "Main", "App"), tree }];
            if !dialog.elements.is_empty() {
                surfaces.push(Surface { window: window(id + 100, "Dialog", "App"), tree: dialog });
            }
            let seen = Observation::Window(WindowView { surfaces, picture: None, notices: Vec::new() });
            let stored = writer.encode(&seen).unwrap_or_else(|| seen.clone());
            let read = serde_json::from_str(&serde_json::to_string(&stored).unwrap()).unwrap();
            prop_assert_eq!(reader.decode(read).expect("it follows on"), seen);
        }
    }
}

fn tree(names: &[(u32, &str)]) -> Tree {
    Tree {
        elements: names.iter().map(|(id, name)| element(*id, 1, Role::PUSH_BUTTON, name)).collect(),
        partial: None,
    }
}

fn seen(id: u32, tree: Tree) -> Observation {
    let surfaces = vec![Surface { window: window(id, "Main", "App"), tree }];
    Observation::Window(WindowView { surfaces, picture: None, notices: Vec::new() })
}

#[test]
fn a_difference_names_what_changed_and_nothing_else() {
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
            (run.after.map(|id| id.0), run.elements.len(), matches!(run.elements[0], Placed::Moved(_)))
        })
        .collect();
    assert_eq!(placed, [(None, 1, true), (Some(1), 1, false)]);
    assert_eq!(change.added().map(|element| element.name.as_str()).collect::<Vec<_>>(), ["new"]);
}

#[test]
fn an_id_that_stands_twice_has_no_difference() {
    let twice = tree(&[(1, "a"), (1, "b")]);
    assert_eq!(diff(&tree(&[(1, "a")]), &twice), None);
    assert_eq!(diff(&twice, &tree(&[(1, "a")])), None);
    let mut writer = Views::default();
    assert_eq!(writer.encode(&seen(1, twice.clone())), None);
    assert_eq!(writer.encode(&seen(1, twice)), None, "it is stored whole");
}

#[test]
fn a_difference_of_another_tree_is_refused() {
    let change = diff(&tree(&[(1, "a"), (2, "b")]), &tree(&[(1, "a"), (2, "c")])).unwrap();
    assert_eq!(apply(&tree(&[(1, "a")]), &change), Err(DiffError::NoElement(ElementId(2))));
    let change = diff(&tree(&[(1, "a")]), &tree(&[(1, "a"), (2, "b")])).unwrap();
    assert_eq!(apply(&tree(&[(3, "a")]), &change), Err(DiffError::NoElement(ElementId(1))));
    let mut writer = Views::default();
    writer.encode(&seen(1, tree(&[(1, "a"), (2, "b"), (3, "c")])));
    let stored = writer.encode(&seen(1, tree(&[(1, "a"), (2, "b"), (3, "C")]))).unwrap();
    assert_eq!(Views::default().decode(stored), Err(DiffError::NoWindow(WindowId(1))));
}

#[test]
fn whole_views_come_again_and_again_and_where_they_are_smaller() {
    let mut writer = Views::default();
    let view = |name: &str| seen(1, tree(&[(1, "a"), (2, "b"), (3, name)]));
    assert_eq!(writer.encode(&view("0")), None, "the first look");
    let mut whole_at = Vec::new();
    for look in 1..60 {
        if writer.encode(&view(&look.to_string())).is_none() {
            whole_at.push(look);
        }
    }
    let every = i32::try_from(Views::CHANGES_MAX).unwrap() + 1;
    assert_eq!(whole_at, [every, 2 * every]);
    assert_eq!(writer.encode(&seen(1, tree(&[(7, "x"), (8, "y")]))), None, "all is new");
    assert_eq!(writer.encode(&Observation::Desktop(DesktopView::default())), None);
}

#[test]
fn changes_of_a_view_follow_dialogs_that_open_and_close() {
    let dialog = Surface { window: window(2, "Save As", "App"), tree: tree(&[(9, "Save")]) };
    let main = Surface { window: window(1, "Main", "App"), tree: tree(&[(1, "a"), (2, "b")]) };
    let closed = WindowView { surfaces: vec![main.clone()], picture: None, notices: Vec::new() };
    let open = WindowView { surfaces: vec![main, dialog], ..closed.clone() };
    let change = WindowChanges::between(&closed, &open).unwrap();
    assert_eq!(change.len(), 1, "the elements of the main window are not named");
    assert_eq!(change.apply(&closed).unwrap(), open);
    let back = WindowChanges::between(&open, &closed).unwrap();
    assert!(back.is_empty());
    assert_eq!(back.apply(&open).unwrap(), closed);
}
