//! Traits by which an element is recognised once its object is gone: its role and name, and those of its
//! ancestors.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{Element, Role, Tree};
use crate::ids::ElementId;

/// Position at which an element was listed: its root, and the chain of roles and names below it. Two elements
/// of one tree with the same place cannot be distinguished by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementTreePath {
    root: ElementId,
    path: u64,
    /// `true` if no other element of its tree had this place.
    alone: bool,
}

impl ElementTreePath {
    /// Returns `true` if an element that is here now is the one that was at `before`: the only one there, then and now.
    pub fn holds_the_same_as(&self, before: &Self) -> bool {
        self.alone && self == before
    }

    /// The root of the tree.
    pub const fn root(&self) -> ElementId {
        self.root
    }
}

impl Tree {
    /// Every element with its place.
    pub fn places(&self) -> Vec<(&Element, ElementTreePath)> {
        let Some(root) = self.elements.first().map(|element| element.id) else { return Vec::new() };
        let mut open: Vec<(u16, u64)> = Vec::new();
        let mut counts: HashMap<u64, u32> = HashMap::new();
        let mut paths = Vec::with_capacity(self.elements.len());
        for element in &self.elements {
            while open.last().is_some_and(|(depth, _)| *depth >= element.depth) {
                open.pop();
            }
            let above = open.last().map(|(_, path)| *path);
            // The root is known by its id: its name is a title, which changes with the document.
            let path = above.map_or(0, |above| hash((above, &element.role, &element.name)));
            *counts.entry(path).or_default() += 1;
            open.push((element.depth, path));
            paths.push(path);
        }
        let place = |(element, path): (&Element, u64)| {
            let tells = !(element.name.is_empty() && is_item(&element.role));
            ElementTreePath { root, path, alone: tells && counts.get(&path) == Some(&1) }
        };
        self.elements.iter().zip(paths.iter().copied()).map(|pair| (pair.0, place(pair))).collect()
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns `true` if an element with this role can be recognised by its name only, since it stands among many of the same role.
fn is_item(role: &Role) -> bool {
    role.is_row_or_cell() || *role == Role::MENU_ITEM
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(lines: &[(u32, u16, &'static str, &str)]) -> Tree {
        let element = |(id, depth, role, name): &(u32, u16, &'static str, &str)| Element {
            depth: *depth,
            ..Element::new(ElementId(*id), Role::new(*role), *name)
        };
        Tree { elements: lines.iter().map(element).collect(), partial: None }
    }

    fn check(
        before: &[(u32, u16, &'static str, &str)],
        now: &[(u32, u16, &'static str, &str)],
        expected: &[u32],
    ) {
        let (before, now) = (tree(before), tree(now));
        let (_, was) = before.places().pop().unwrap();
        let places = now.places();
        let found = places.iter().filter(|(_, place)| place.holds_the_same_as(&was));
        assert_eq!(found.map(|(element, _)| element.id.0).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_only_one_of_its_role_name_and_ancestors_is_recognised() {
        let before = [(1, 0, "frame", "*a"), (2, 1, "panel", "P"), (3, 2, "push button", "OK")];
        check(&before, &[(1, 0, "frame", "a"), (8, 1, "panel", "P"), (9, 2, "push button", "OK")], &[9]);
        check(&before, &[(1, 0, "frame", "a"), (8, 1, "panel", "Q"), (9, 2, "push button", "OK")], &[]);
        check(&before, &[(1, 0, "frame", "a"), (8, 1, "panel", "P"), (9, 2, "push button", "Ok")], &[]);
        // Another window.
        check(&before, &[(7, 0, "frame", "a"), (8, 1, "panel", "P"), (9, 2, "push button", "OK")], &[]);
        // Two that cannot be told apart, now or then.
        let two = [
            (1, 0, "frame", ""),
            (2, 1, "panel", ""),
            (3, 2, "toggle button", ""),
            (4, 1, "panel", ""),
            (5, 2, "toggle button", ""),
        ];
        check(&two, &two[..3], &[]);
        check(&two[..3], &two, &[]);
        check(&two[..3], &two[..3], &[3]);
        check(
            &[(1, 0, "frame", ""), (2, 1, "list item", "")],
            &[(1, 0, "frame", ""), (3, 1, "list item", "")],
            &[],
        );
    }
}
