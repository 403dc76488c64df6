//! The accessibility tree of one window.

use serde::{Deserialize, Serialize};

use super::Element;
use crate::ids::ElementId;

/// Why a tree does not hold everything that the window has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Partial {
    /// It has more elements than the limit allows.
    NodeLimit,
    /// The deadline passed first.
    Deadline,
    /// The application did not answer in time for some elements.
    NotAnswering,
}

/// The elements of one window in reading order: an element comes before its children, and siblings keep the
/// order of the toolkit. Only what is showing is listed; what lies in closed menus is reached by `visit`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Tree {
    /// The elements, parents first; see [`Element::depth`].
    pub elements: Vec<Element>,
    /// Set when something is missing, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
}

impl Tree {
    /// The element with that id.
    pub fn find(&self, id: ElementId) -> Option<&Element> {
        self.elements.iter().find(|element| element.id == id)
    }

    /// The elements that lie in `id`, without itself.
    pub fn descendants(&self, id: ElementId) -> impl Iterator<Item = &Element> {
        let start = self.elements.iter().position(|element| element.id == id);
        let depth = start.and_then(|at| self.elements.get(at)).map_or(u16::MAX, |element| element.depth);
        self.elements
            .iter()
            .skip(start.map_or(self.elements.len(), |at| at + 1))
            .take_while(move |element| element.depth > depth)
    }
}
