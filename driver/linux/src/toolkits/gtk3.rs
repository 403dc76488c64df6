//! GTK 3.
//!
//! The bridge makes the object of an item of an icon view (an `icon` in a `layered pane`) when its row is added, before it is laid out.
//! Its states are as of then, and follow only when it is scrolled: it is not SHOWING although it shows. It reports a place exactly while it
//! is in view. The icon view of Exo (Thunar) exposes none: it is a `panel` without children.

use deskhand_desktop::Quirks;
use deskhand_ui::{
    Role, State, States,
    geometry::{Rect, Screen},
};

use super::{
    definition::{ToolkitDefinition, exposing},
    elements::{DrawnChanges, ElementTraits, NO_QUIRKS, PLAIN, ToolkitNames},
};

/// Its programs.
pub(super) const DEFINITION: ToolkitDefinition = exposing("GTK 3", &["/libgtk-3"]);

/// Its elements.
pub(crate) static ELEMENTS: ElementTraits = ElementTraits {
    name: "GTK 3",
    recognises: is_gtk,
    // Of an icon view: see `is_out_of_view`.
    shows_if_visible: |parent| parent == Some(&Role::LAYERED_PANE),
    is_out_of_view,
    shows_by_place,
    lacks_showing: |(role, states), parent, reported| {
        shows_by_place(role, parent) && !is_out_of_view((role, states), parent, reported)
    },
    shows_by_parent: true,
    has_cache: true,
    caches_children: true,
    has_get_all: true,
    keeps_items_of_closed_menus: true,
    drawn_changes: DrawnChanges::Places,
    places_with_next_frame: true,
    // A dialog with a main loop of its own (`gtk_dialog_run`) keeps the bridge of ATK from taking up its connection again; when a
    // key is pressed, the bridge waits for that connection in turn.
    quirks: Quirks { blocks_in_actions: true, ..NO_QUIRKS },
    ends_bars_where_told: true,
    selects_open_menus: true,
    ..PLAIN
};

/// Returns `true` for GTK 3, and for GTK 4, which is asked before.
pub(super) fn is_gtk(names: &ToolkitNames<'_>) -> bool {
    names.toolkit.eq_ignore_ascii_case("gtk")
}

fn shows_by_place(role: &Role, parent: Option<&Role>) -> bool {
    *role == Role::ICON && parent == Some(&Role::LAYERED_PANE)
}

fn is_out_of_view(
    (role, states): (&Role, States),
    parent: Option<&Role>,
    reported: Option<Rect<Screen>>,
) -> bool {
    if shows_by_place(role, parent) {
        return reported.is_none_or(|place| place.is_empty());
    }
    parent == Some(&Role::LAYERED_PANE) && !states.has(State::Showing)
}
