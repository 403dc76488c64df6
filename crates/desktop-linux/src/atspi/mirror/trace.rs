//! What an element is recognised by after it was rebuilt.

use deskhand_core::{
    ids::ElementId,
    ui::{Element, Role},
};

/// What an element is recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Its id; `None` if it has none yet.
    pub(super) id: Option<ElementId>,
    pub(super) depth: u16,
    pub(super) role: Role,
    pub(super) name: String,
}

impl Trace {
    /// The trace of an element.
    pub(super) fn of(id: Option<ElementId>, element: &Element) -> Self {
        Self { id, depth: element.depth, role: element.role.clone(), name: element.name.clone() }
    }
}
