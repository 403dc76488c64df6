//! The elements that the tests of this folder are made of.

use deskhand_core::{
    ids::ElementId,
    ui::{Element, Role},
};

/// An element of an application that has nothing but a name and a place.
pub(crate) fn element(id: u32, depth: u16, role: Role, name: &str, bounds: [i32; 4]) -> Element {
    Element { depth, bounds: Some(bounds.into()), ..Element::new(ElementId(id), role, name) }
}
