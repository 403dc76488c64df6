//! The accessibility tree of one window.

use serde::{Deserialize, Serialize};

use super::{Element, Role, State};
use crate::{
    geometry::{Point, Screen},
    ids::ElementId,
};

/// Why a tree is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncompleteTreeCause {
    /// The window has more elements than the limit.
    NodeLimit,
    /// The deadline passed.
    Deadline,
    /// The application did not respond in time for some elements.
    NotAnswering,
}

/// The elements of one window in reading order: parents before their children, siblings in the toolkit's order. Only
/// elements that are showing are listed; `visit` reaches those in closed menus.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Tree {
    /// The elements, parents first; see [`Element::depth`].
    pub elements: Vec<Element>,
    /// Why elements are missing, if any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<IncompleteTreeCause>,
}

impl Tree {
    /// The element with this id.
    pub fn find(&self, id: ElementId) -> Option<&Element> {
        self.elements.iter().find(|element| element.id == id)
    }

    /// The descendants of `id`.
    pub fn descendants(&self, id: ElementId) -> impl Iterator<Item = &Element> {
        let start = self.elements.iter().position(|element| element.id == id);
        let depth = start.and_then(|at| self.elements.get(at)).map_or(u16::MAX, |element| element.depth);
        self.elements
            .iter()
            .skip(start.map_or(self.elements.len(), |at| at + 1))
            .take_while(move |element| element.depth > depth)
    }

    /// The deepest element of the application at a point; of several siblings the one that is listed last, because it is
    /// drawn on top.
    pub fn at(&self, point: Point<Screen>) -> Option<&Element> {
        let mut spot = self.elements.first()?;
        let mut inner = self.elements.get(1..).unwrap_or_default();
        loop {
            let children = inner.iter().map(|one| one.depth).min()?;
            let is_here = |one: &Element| {
                one.depth == children
                    && one.source.is_tree()
                    && one.bounds.is_some_and(|bounds| bounds.contains(&point))
            };
            let Some(at) = inner.iter().rposition(is_here) else { return Some(spot) };
            spot = inner.get(at)?;
            let rest = inner.get(at + 1..).unwrap_or_default();
            let end = rest.iter().position(|one| one.depth <= spot.depth).unwrap_or(rest.len());
            inner = rest.get(..end).unwrap_or_default();
            if inner.is_empty() {
                return Some(spot);
            }
        }
    }

    /// Returns `true` if the application exposes nothing that can be acted on, as a dialog of another toolkit may: what is listed was found in a
    /// picture, or is no control.
    pub fn has_no_controls(&self) -> bool {
        self.elements.iter().all(|element| !element.source.is_tree() || !element.role.is_interactive())
    }

    /// Returns `true` if it has a table of places, in one column, and one of files, as the dialog for files of GTK 2, which does not say what it is
    /// for.
    pub fn lists_files(&self) -> bool {
        let columns = || self.elements.iter().filter_map(|one| Some(one.table?.columns));
        columns().any(|count| count == 1) && columns().any(|count| count > 1)
    }

    /// The element that has the keyboard focus; of several, the one that is listed last.
    pub fn focused(&self) -> Option<&Element> {
        self.elements.iter().rev().find(|element| element.states.has(State::Focused))
    }

    /// The innermost page that an element is in: itself, if it is one.
    pub fn page_of(&self, id: ElementId) -> Option<&Element> {
        self.find(id).into_iter().chain(self.ancestors(id)).find(|one| one.role == Role::DOCUMENT_WEB)
    }

    /// The ancestors of `id`, the nearest first.
    pub fn ancestors(&self, id: ElementId) -> impl Iterator<Item = &Element> {
        let at = self.elements.iter().position(|element| element.id == id).unwrap_or_default();
        let mut depth = self.elements.get(at).map_or(0, |element| element.depth);
        self.elements.iter().take(at).rev().filter(move |element| {
            let is_above = element.depth < depth;
            depth = depth.min(element.depth);
            is_above
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Role, TableShape, geometry::Rect};

    #[test]
    fn a_table_of_places_beside_one_of_files_lists_files() {
        let tree = |columns: &[u32]| {
            let table = |columns: &u32| Element {
                table: Some(TableShape { rows: 0, columns: *columns }),
                ..Element::new(ElementId(1), Role::TABLE, "")
            };
            Tree { elements: columns.iter().map(table).collect(), partial: None }
        };
        assert!(tree(&[1, 3]).lists_files());
        assert!(!tree(&[1, 1]).lists_files() && !tree(&[3]).lists_files() && !tree(&[]).lists_files());
    }

    #[test]
    fn the_deepest_element_at_a_point_is_the_last_sibling_that_covers_it() {
        let element = |id: u32, depth: u16, (x, y, width, height): (i32, i32, i32, i32)| Element {
            depth,
            bounds: Some(Rect::new(x, y, width, height)),
            ..Element::new(ElementId(id), Role::PANEL, "")
        };
        let tree = Tree {
            elements: vec![
                element(1, 0, (0, 0, 100, 100)),
                element(2, 1, (0, 0, 50, 50)),
                element(3, 2, (0, 0, 10, 10)),
                // A level may be left out.
                element(4, 1, (20, 0, 50, 50)),
                element(5, 3, (20, 0, 5, 5)),
                element(6, 3, (22, 0, 5, 5)),
            ],
            partial: None,
        };
        let at = |x, y| tree.at(Point::new(x, y)).map(|one| one.id.0);
        assert_eq!(at(5, 5), Some(3));
        assert_eq!(at(15, 15), Some(2), "no child of it is there");
        assert_eq!(at(30, 30), Some(4), "drawn later");
        assert_eq!(at(23, 2), Some(6));
        assert_eq!(at(21, 2), Some(5));
        assert_eq!(at(90, 90), Some(1));
        assert_eq!(Tree::default().at(Point::new(0, 0)), None);
    }
}
