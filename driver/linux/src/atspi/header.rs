//! The properties of an object that are read first.

use deskhand_ui::{ElementCapability, Role, States};

/// Properties that decide if an object is shown and how it is read further. `Cache.GetItems` returns them for
/// all objects at once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AtspiObjectHeader {
    pub(crate) role: Role,
    pub(crate) name: String,
    pub(crate) states: States,
    pub(crate) patterns: Vec<ElementCapability>,
    pub(crate) child_count: u32,
    /// Its description, if it was read along with the rest.
    pub(crate) description: Option<String>,
}
