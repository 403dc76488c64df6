//! Depth of rows in a tree that its application lists one below the other: the deeper, the further to the right
//! they begin.

use std::collections::HashMap;

use deskhand_ui::{
    Element, Role, Tree,
    geometry::{Rect, Screen},
    ids::ElementId,
};

/// Maximum distance between the starts of rows of one level, and between the ends of one column, in pixels.
const SAME_MAX: i32 = 3;

/// The levels of the first cells of rows, from 1, in the trees that show more than one.
pub(super) fn levels(tree: &Tree) -> HashMap<ElementId, usize> {
    let is_tree = |one: &&Element| [Role::TREE, Role::TREE_TABLE].contains(&one.role);
    tree.elements.iter().filter(is_tree).flat_map(|one| levels_in(tree, one)).collect()
}

fn levels_in(tree: &Tree, around: &Element) -> Vec<(ElementId, usize)> {
    let is_cell = |one: &&Element| {
        one.depth == around.depth.saturating_add(1)
            && [Role::TABLE_CELL, Role::TREE_ITEM].contains(&one.role)
            && !one.name.is_empty()
    };
    let mut firsts: Vec<(ElementId, Rect<Screen>)> = Vec::new();
    for cell in tree.descendants(around.id).filter(is_cell) {
        let Some(place) = cell.bounds else { continue };
        match firsts.iter_mut().find(|(_, first)| first.y == place.y) {
            Some(first) if place.x < first.1.x => *first = (cell.id, place),
            Some(_) => {}
            None => firsts.push((cell.id, place)),
        }
    }
    // Cells of one column end at the same place; others begin further to the right for another reason.
    let end = firsts.first().map(|(_, first)| first.right());
    let is_column =
        firsts.iter().all(|(_, first)| end.is_some_and(|end| (first.right() - end).abs() <= SAME_MAX));
    let mut starts: Vec<i32> = firsts.iter().map(|(_, first)| first.x).collect();
    starts.sort_unstable();
    starts.dedup_by(|next, start| *next - *start <= SAME_MAX);
    if !is_column || starts.len() < 2 {
        return Vec::new();
    }
    let level = |place: &Rect<Screen>| starts.iter().filter(|start| **start <= place.x).count();
    firsts.iter().map(|(id, place)| (*id, level(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(id: u32, depth: u16, role: Role, name: &str, bounds: [i32; 4]) -> Element {
        Element { depth, bounds: Some(bounds.into()), ..Element::new(ElementId(id), role, name) }
    }

    fn shown(rows: &[(i32, i32)]) -> Vec<usize> {
        let mut elements = vec![element(1, 0, Role::TREE, "Groups", [0, 0, 400, 300])];
        let mut next = 2;
        for (row, (start, end)) in (0_i32..).zip(rows) {
            for (name, x, right) in [("name", *start, *end), ("size", 200, 300)] {
                elements.push(element(next, 1, Role::TABLE_CELL, name, [x, row * 20, right - x, 20]));
                next += 1;
            }
        }
        let tree = Tree { elements, partial: None };
        let found = levels(&tree);
        tree.elements.iter().filter_map(|one| found.get(&one.id).copied()).collect()
    }

    #[test]
    fn rows_that_begin_further_to_the_right_lie_deeper() {
        let rows = [(20, 200), (40, 200), (61, 200), (40, 200), (20, 200)];
        assert_eq!(shown(&rows), [1, 2, 3, 2, 1]);
        assert!(shown(&[(20, 200), (20, 200)]).is_empty(), "one level");
        assert!(shown(&[(20, 200), (40, 180)]).is_empty(), "no column");
    }
}
