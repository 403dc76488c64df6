//! Elements for the tests of this crate.

use deskhand_ui::{Element, Role, ids::ElementId};

/// An element of an application with only a name and bounds.
pub(crate) fn element(id: u32, depth: u16, role: Role, name: &str, bounds: [i32; 4]) -> Element {
    Element { depth, bounds: Some(bounds.into()), ..Element::new(ElementId(id), role, name) }
}
