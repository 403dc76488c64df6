//! GTK 2, by its bridge.
//!
//! GTK 2 loads the modules of `GTK_MODULES` before its first window, and exposes nothing without them; GTK 3 knows these two names and leaves
//! them alone.
//!
//! GTK 2 by its bridge (GIMP 2.10): the items of an open menu are not SHOWING, only VISIBLE, and so are those of a closed one, which
//! keep the place where they were. A menu is the selected child of its menu bar or menu exactly while it is open, without being SELECTED
//! itself, and its pop-up window has no object of its own.

use deskhand_desktop::Quirks;
use deskhand_ui::Role;

use super::{
    definition::{Bridge, Exposes, ToolkitDefinition},
    elements::{ElementTraits, NO_QUIRKS, PLAIN},
};

/// Its programs.
pub(super) const DEFINITION: ToolkitDefinition = ToolkitDefinition {
    name: "GTK 2",
    loads: &["/libgtk-x11-2.0"],
    exposes: Exposes::Through(Bridge {
        loads: "/libatk-bridge",
        file: "gtk-2.0/modules/libatk-bridge.so",
        package: "libatk-adaptor",
    }),
    variables: &[("GTK_MODULES", "gail:atk-bridge")],
    as_superuser: &[],
};

/// Its elements.
pub(crate) static ELEMENTS: ElementTraits = ElementTraits {
    name: "GTK 2",
    recognises: |names| names.toolkit.eq_ignore_ascii_case("gail"),
    // Of an open menu: those that are closed are not looked into.
    shows_if_visible: |parent| parent == Some(&Role::MENU),
    lacks_showing: |_, parent, _| parent == Some(&Role::MENU),
    shows_by_parent: true,
    opens_menus_by_selection: true,
    keeps_items_of_closed_menus: true,
    places_with_next_frame: true,
    // As in GTK 3.
    quirks: Quirks { blocks_in_actions: true, ..NO_QUIRKS },
    ..PLAIN
};
