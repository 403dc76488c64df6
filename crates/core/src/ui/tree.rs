//! The accessibility tree of one window.

use serde::{Deserialize, Serialize};

use super::{Element, State};
use crate::ids::ElementId;

/// Why a tree is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Partial {
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
    pub partial: Option<Partial>,
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

    /// The element that has the keyboard focus; of several, the one that is listed last.
    pub fn focused(&self) -> Option<&Element> {
        self.elements.iter().rev().find(|element| element.states.has(State::Focused))
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
