//! What an element is found again by.

use deskhand_core::{
    ids::ElementId,
    ui::{Element, Role},
};

/// What an element is found again by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Its id; none while it has none.
    pub(super) id: Option<ElementId>,
    pub(super) depth: u16,
    pub(super) role: Role,
    pub(super) name: String,
}

impl Trace {
    /// What an element is found again by.
    pub(super) fn of(id: Option<ElementId>, element: &Element) -> Self {
        Self { id, depth: element.depth, role: element.role.clone(), name: element.name.clone() }
    }
}
