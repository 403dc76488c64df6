//! Encoded observations can be decoded, and small changes are stored as changes.

use deskhand_ui::{AppInfo, Element, Role, Tree, WindowKind, WindowState, geometry::Rect, ids::ElementId};
use proptest::{collection::btree_map, collection::vec, prelude::*};

use super::*;

fn window(id: u32) -> WindowInfo {
    WindowInfo {
        id: WindowId(id),
        title: "Main".to_owned(),
        app: AppInfo { name: "App".to_owned(), root: "app".to_owned(), pid: None },
        bounds: Rect::new(0, 0, 10, 10),
        kind: WindowKind::Normal,
        owner: None,
        active: false,
        accessible: true,
        document: None,
        state: WindowState::default(),
        monitor: None,
    }
}

fn tree<'a>(names: impl IntoIterator<Item = (u32, &'a str)>) -> Tree {
    let element = |(id, name): (u32, &str)| Element {
        depth: 1,
        ..Element::new(ElementId(id), Role::PUSH_BUTTON, name)
    };
    Tree { elements: names.into_iter().map(element).collect(), partial: None }
}

fn seen(id: u32, tree: Tree) -> Observation {
    let surfaces = vec![Surface { window: window(id), tree }];
    Observation::Window(WindowView { surfaces, picture: None, notices: Vec::new() })
}

/// The stored form of `observation`, as a reader parses it.
fn stored(writer: &mut ViewCache, observation: &Observation) -> StoredObservation {
    let text = match writer.encode(observation) {
        Some(changes) => serde_json::to_string(&StoredObservation::WindowChanges(changes)),
        None => serde_json::to_string(observation),
    };
    serde_json::from_str(&text.unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn decoding_inverts_encoding(
        looks in vec((0..12_u32, btree_map(1..30_u32, "[ab]?", 0..20), btree_map(31..40_u32, "[ab]?", 0..4)), 0..12),
    ) {
        let (mut writer, mut reader) = (ViewCache::default(), ViewCache::default());
        for (id, names, dialog) in looks {
            let named = |names: &std::collections::BTreeMap<u32, String>| {
                tree(names.iter().map(|(id, name)| (*id, name.as_str())))
            };
            let mut surfaces = vec![Surface { window: window(id), tree: named(&names) }];
            if !dialog.is_empty() {
                surfaces.push(Surface { window: window(id + 100), tree: named(&dialog) });
            }
            let seen = Observation::Window(WindowView { surfaces, picture: None, notices: Vec::new() });
            let stored = stored(&mut writer, &seen);
            prop_assert_eq!(reader.decode(stored).expect("the changes apply"), seen);
        }
    }
}

#[test]
fn views_with_duplicate_ids_are_stored_whole() {
    let twice = tree([(1, "a"), (1, "b")]);
    let mut writer = ViewCache::default();
    assert_eq!(writer.encode(&seen(1, twice.clone())), None);
    assert_eq!(writer.encode(&seen(1, twice)), None);
}

#[test]
fn changes_without_their_previous_view_are_rejected() {
    let mut writer = ViewCache::default();
    writer.encode(&seen(1, tree([(1, "a"), (2, "b"), (3, "c")])));
    let stored = stored(&mut writer, &seen(1, tree([(1, "a"), (2, "b"), (3, "C")])));
    assert!(matches!(stored, StoredObservation::WindowChanges(_)));
    assert_eq!(ViewCache::default().decode(stored), Err(ViewError::NoWindow(WindowId(1))));
}

#[test]
fn whole_views_are_stored_periodically_and_when_smaller() {
    let mut writer = ViewCache::default();
    let view = |name: &str| seen(1, tree([(1, "a"), (2, "b"), (3, name)]));
    assert_eq!(writer.encode(&view("0")), None, "the first view");
    let mut whole_at = Vec::new();
    for look in 1..60 {
        if writer.encode(&view(&look.to_string())).is_none() {
            whole_at.push(look);
        }
    }
    let every = i32::try_from(ViewCache::CHANGES_MAX).unwrap() + 1;
    assert_eq!(whole_at, [every, 2 * every]);
    assert_eq!(writer.encode(&seen(1, tree([(7, "x"), (8, "y")]))), None, "all is new");
    assert_eq!(writer.encode(&Observation::Desktop(DesktopView::default())), None);
}

#[test]
fn changes_cover_dialogs_that_open_and_close() {
    let dialog = Surface { window: window(2), tree: tree([(9, "Save")]) };
    let main = Surface { window: window(1), tree: tree([(1, "a"), (2, "b")]) };
    let closed = WindowView { surfaces: vec![main.clone()], picture: None, notices: Vec::new() };
    let open = WindowView { surfaces: vec![main, dialog], ..closed.clone() };
    let change = WindowChanges::between(&closed, &open).unwrap();
    assert_eq!(change.len(), 1, "the elements of the main window are unchanged");
    assert_eq!(change.apply(&closed).unwrap(), open);
    let back = WindowChanges::between(&open, &closed).unwrap();
    assert_eq!(back.len(), 0);
    assert_eq!(back.apply(&open).unwrap(), closed);
}
