//! The elements that the tests of this folder are made of.

use deskhand_core::{
    ids::ElementId,
    ui::{Element, Role, Source, States},
};

/// An element of an application that has nothing but a name and a place.
pub(crate) fn element(id: u32, depth: u16, role: Role, name: &str, bounds: [i32; 4]) -> Element {
    Element {
        id: ElementId(id),
        depth,
        role,
        name: name.to_owned(),
        description: String::new(),
        text: None,
        value: None,
        states: States::EMPTY,
        bounds: Some(bounds.into()),
        patterns: Vec::new(),
        child_count: 0,
        table: None,
        source: Source::AtSpi,
    }
}
