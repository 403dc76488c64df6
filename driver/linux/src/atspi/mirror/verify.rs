//! Compares a look at the mirror with a walk that reads everything afresh.

use std::collections::HashMap;

use deskhand_ui::{Element, Tree, ids::ElementId};
use serde::Serialize;

/// One difference between the mirror and a fresh walk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MirrorDiff {
    /// The element.
    pub element: ElementId,
    /// Its label in messages.
    pub label: String,
    /// Aspect that differs: `presence`, `place`, `name`, `states`, …
    pub what: &'static str,
    /// The value in the mirror.
    pub mirror: String,
    /// The value in the fresh walk.
    pub fresh: String,
}

/// The properties of an element that are compared, as text.
fn parts(element: &Element) -> [(&'static str, String); 12] {
    [
        ("depth", element.depth.to_string()),
        ("role", element.role.to_string()),
        ("name", element.name.clone()),
        ("description", element.description.clone()),
        ("text", format!("{:?}", element.text)),
        ("value", format!("{:?}", element.value)),
        ("states", element.states.to_string()),
        ("bounds", format!("{:?}", element.bounds.map(<[i32; 4]>::from))),
        ("patterns", format!("{:?}", element.patterns)),
        ("child_count", element.child_count.to_string()),
        ("table", format!("{:?}", element.table)),
        ("told", format!("{:?}", element.told)),
    ]
}

fn presence(element: &Element, mirror: &str, fresh: &str) -> MirrorDiff {
    MirrorDiff {
        element: element.id,
        label: element.label(),
        what: "presence",
        mirror: mirror.to_owned(),
        fresh: fresh.to_owned(),
    }
}

/// The differences between two trees of the same window.
pub(crate) fn differences(mirror: &Tree, fresh: &Tree) -> Vec<MirrorDiff> {
    let mut found = Vec::new();
    let by_id: HashMap<ElementId, &Element> =
        mirror.elements.iter().map(|element| (element.id, element)).collect();
    let fresh_ids: HashMap<ElementId, &Element> =
        fresh.elements.iter().map(|element| (element.id, element)).collect();
    for element in mirror.elements.iter().filter(|element| !fresh_ids.contains_key(&element.id)) {
        found.push(presence(element, "present", "absent"));
    }
    for element in &fresh.elements {
        let Some(known) = by_id.get(&element.id) else {
            found.push(presence(element, "absent", "present"));
            continue;
        };
        for ((what, mirror), (_, fresh)) in parts(known).into_iter().zip(parts(element)) {
            if mirror != fresh {
                let label = element.label();
                found.push(MirrorDiff { element: element.id, label, what, mirror, fresh });
            }
        }
    }
    let order = |tree: &Tree| tree.elements.iter().map(|element| element.id).collect::<Vec<_>>();
    if found.is_empty()
        && order(mirror) != order(fresh)
        && let Some((_, element)) =
            mirror.elements.iter().zip(&fresh.elements).find(|(one, other)| one.id != other.id)
    {
        found.push(MirrorDiff {
            element: element.id,
            label: element.label(),
            what: "order",
            mirror: "elsewhere".to_owned(),
            fresh: "here".to_owned(),
        });
    }
    found
}

/// The differences found both before and after the fresh walk; the others come from changes in between.
pub(crate) fn lasting(before: &Tree, fresh: &Tree, after: &Tree) -> Vec<MirrorDiff> {
    let later = differences(after, fresh);
    let same = |one: &MirrorDiff| {
        later
            .iter()
            .any(|other| (one.element, one.what, &one.mirror) == (other.element, other.what, &other.mirror))
    };
    differences(before, fresh).into_iter().filter(same).collect()
}

#[cfg(test)]
mod tests {
    use deskhand_ui::Role;

    use super::*;

    fn tree(names: &[(u32, &str)]) -> Tree {
        let element = |(id, name): &(u32, &str)| Element {
            depth: 1,
            ..Element::new(ElementId(*id), Role::LABEL, *name)
        };
        Tree { elements: names.iter().map(element).collect(), partial: None }
    }

    #[test]
    fn what_differs_is_named() {
        let (mirror, fresh) = (tree(&[(1, "a"), (2, "b")]), tree(&[(1, "a"), (2, "c"), (3, "d")]));
        let found: Vec<_> =
            differences(&mirror, &fresh).into_iter().map(|one| (one.element.0, one.what)).collect();
        assert_eq!(found, [(2, "name"), (3, "presence")]);
        assert!(differences(&fresh, &fresh).is_empty());
        let (one, other) = (tree(&[(1, "a"), (2, "b")]), tree(&[(2, "b"), (1, "a")]));
        assert_eq!(differences(&one, &other).first().map(|one| one.what), Some("order"));
    }

    #[test]
    fn a_change_during_the_walk_is_not_a_difference() {
        let (before, fresh, after) = (tree(&[(1, "1:00")]), tree(&[(1, "1:01")]), tree(&[(1, "1:02")]));
        assert!(lasting(&before, &fresh, &after).is_empty());
        assert_eq!(lasting(&before, &fresh, &before).len(), 1);
    }
}
