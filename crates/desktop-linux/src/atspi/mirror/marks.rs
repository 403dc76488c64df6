//! Which parts of which objects an announcement makes doubtful.

use super::{
    super::{events::Announcement, wire::ROOT_PATH},
    parts::Parts,
    store::Store,
};

/// Brings the store of the announcing application up to date.
pub(crate) fn apply(store: &mut Store, announced: &Announcement) {
    let object = &announced.object;
    let event = announced.event.as_str();
    if let Some(rest) = event.strip_prefix("object:") {
        of_object(store, announced, rest);
    } else if event.starts_with("window:") {
        store.mark(object, Parts::STATES.and(Parts::BODY));
        let comes_or_goes = ["window:create", "window:destroy", "window:close", "window:property-change"]
            .iter()
            .any(|one| event.starts_with(one));
        if comes_or_goes || !store.has(object) {
            store.mark_frames();
        }
    } else if event.starts_with("document:") {
        store.mark_with_inside(object, Parts::ALL);
    }
}

fn of_object(store: &mut Store, announced: &Announcement, event: &str) {
    let object = &announced.object;
    let kind = event.split(':').next().unwrap_or_default();
    match kind {
        "state-changed" => state_changed(store, announced, event),
        "children-changed" => {
            store.mark(object, Parts::BODY.and(Parts::CHILDREN));
            if &*object.path == ROOT_PATH {
                store.mark_frames();
            }
            if let Some(child) = &announced.other {
                if event.contains(":remove") {
                    store.remove(child);
                } else if store.has(child) {
                    store.mark_with_inside(child, Parts::ALL);
                }
            }
        }
        "property-change" => {
            store.mark(object, Parts::BODY);
            if event.ends_with("accessible-parent") {
                store.mark(object, Parts::ALL);
            }
            if event.ends_with("accessible-name") && store.is_frame(object) {
                store.mark_frames();
            }
        }
        "text-changed" | "text-selection-changed" | "text-attributes-changed" | "attributes-changed" => {
            store.mark(object, Parts::BODY);
        }
        "selection-changed" => store.mark_children(object, Parts::STATES),
        "active-descendant-changed" => {
            store.mark_children(object, Parts::STATES);
            if let Some(child) = &announced.other {
                store.mark(child, Parts::STATES);
            }
        }
        "bounds-changed" => store.mark_with_inside(object, Parts::EXTENTS),
        "visible-data-changed"
        | "model-changed"
        | "row-inserted"
        | "row-deleted"
        | "row-reordered"
        | "column-inserted"
        | "column-deleted"
        | "column-reordered" => {
            store.mark_with_inside(object, Parts::ALL);
        }
        // Where the caret is belongs to no element.
        "text-caret-moved" | "announcement" => {}
        _ => store.mark(object, Parts::ALL),
    }
}

fn state_changed(store: &mut Store, announced: &Announcement, event: &str) {
    let object = &announced.object;
    match event.split(':').nth(1).unwrap_or_default() {
        // Whether it is on the screen decides the same for what is in it.
        "showing" | "visible" => {
            store.mark_with_inside(object, Parts::STATES.and(Parts::EXTENTS));
            store.mark(object, Parts::ALL);
        }
        "sensitive" | "enabled" => store.mark_with_inside(object, Parts::STATES),
        "defunct" if announced.detail != 0 => store.remove(object),
        "expanded" | "collapsed" | "selected" => {
            store.mark(object, Parts::STATES.and(Parts::BODY).and(Parts::CHILDREN));
        }
        _ => store.mark(object, Parts::STATES.and(Parts::BODY)),
    }
}
