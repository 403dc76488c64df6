//! Gecko (Firefox ESR 153). Its elements have the traits of `other`.
//!
//! A field for a date is a `date editor`, one for a time a `panel`, which only its attributes tell apart from others.
//! The fields in it are spin buttons without a value, whose text is what they show (`05`, or a placeholder such as `mm`), and an entry for AM or
//! PM.

use deskhand_ui::{Role, State, States};

use super::definition::{ToolkitDefinition, exposing};

/// Its programs.
pub(super) const DEFINITION: ToolkitDefinition =
    exposing("Gecko", &["/libxul"]).with(&[("GNOME_ACCESSIBILITY", "1")]);

/// Returns `true` if an element with this role may be a field for a time.
pub(super) fn may_be_time(role: &Role, states: States) -> bool {
    *role == Role::PANEL && states.has(State::Editable)
}
