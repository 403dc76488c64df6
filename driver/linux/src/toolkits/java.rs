//! Swing and AWT, by their bridge.
//!
//! They load `AtkWrapper` with the first window, and only then.
//!
//! Swing by its bridge (0.40): an item of a menu is placed as if its pop-up were at its menu. Its action works. The value
//! of a spin button is accepted and dropped.

use deskhand_desktop::Quirks;

use super::{
    definition::{Bridge, Exposes, ToolkitDefinition},
    elements::{ElementTraits, NO_QUIRKS, PLAIN},
};

/// Their programs.
pub(super) const DEFINITION: ToolkitDefinition = ToolkitDefinition {
    name: "Swing and AWT",
    loads: &["/libjvm.so"],
    exposes: Exposes::Through(Bridge {
        loads: "/libatk-wrapper.so",
        file: "jni/libatk-wrapper.so",
        package: "libatk-wrapper-java",
    }),
    // What makes it expose elements is per program: `starting`.
    variables: &[],
    as_superuser: &[],
};

/// Their elements.
pub(crate) static ELEMENTS: ElementTraits = ElementTraits {
    name: "Swing and AWT",
    recognises: |names| names.toolkit.eq_ignore_ascii_case("J2SE-access-bridge"),
    places_with_next_frame: true,
    quirks: Quirks { misplaces_menu_items: true, drops_values: true, ..NO_QUIRKS },
    ..PLAIN
};
