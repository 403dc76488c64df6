//! GTK 4.
//!
//! Only the frame is `SHOWING`, so `VISIBLE` decides; extents are relative to the window without its shadow,
//! so the position of the window is added. An element without a name is named after its class (`GtkToggleButton`,
//! `BaobabWindow`); one that has a label and is labelled by it, as most buttons, has the name twice (`Save Save`). What is on another page
//! of a leaflet, or in a revealer that is closed, is VISIBLE and has no size. The content of a popover is reported as if it were in the
//! window; the options of a drop-down exist only while it is open. A list has objects for the 200 rows or so around those in view; rows
//! that went out of view keep the place that they had and stay VISIBLE (`atspi/recycled`). By the wheel, a list of 10,000 rows (4.8) skips more
//! and more of them once it was scrolled by about 180, so that a row further down is not reached so.
//! `Text.SetSelection` (4.8) only moves the caret and answers `true`; `AddSelection` selects if nothing is
//! selected, and never answers. A `GtkTreeView` exposes its headers and no rows or cells. The value of a scroll
//! bar is that of the only element in it (`GtkRange`), and its maximum includes what shows. It can be set, and is not
//! announced. `Cache.GetItems` lacks the pages of a stack or
//! notebook until they are read, and returns their content as children of the whole. An item of a grid (Nautilus 43) is a cell in
//! a cell: the inner one has the name, the outer one is selected.

use deskhand_desktop::Quirks;
use deskhand_ui::Role;

use super::{
    definition::{ToolkitDefinition, exposing},
    elements::{DrawnChanges, ElementTraits, NO_QUIRKS, PLAIN},
    gtk3::is_gtk,
};

/// Its programs.
pub(super) const DEFINITION: ToolkitDefinition = exposing("GTK 4", &["/libgtk-4"]);

/// Its elements.
pub(crate) static ELEMENTS: ElementTraits = ElementTraits {
    name: "GTK 4",
    recognises: |names| is_gtk(names) && names.version.starts_with('4'),
    shows_if_visible: |_| true,
    is_out_of_view: |_, parent, reported| parent.is_some() && reported.is_some_and(|place| place.is_empty()),
    lacks_showing: |_, _, _| true,
    is_selected_with: |role, around| [role, around] == [&Role::TABLE_CELL; 2],
    has_cache: true,
    has_get_all: true,
    drawn_changes: DrawnChanges::Places,
    given_name,
    told_of,
    repeats_buttons: true,
    has_broken_set_selection: true,
    // Its menu items are the content of a popover.
    quirks: Quirks { misplaces_menu_items: true, skips_rows_by_wheel: true, ..NO_QUIRKS },
    has_bar_inside: |role| *role == Role::FILLER,
    recycles: |role| [Role::LIST, Role::LIST_BOX, Role::TABLE, Role::TREE, Role::TREE_TABLE].contains(role),
    covers_unseen: true,
    counts_from_window: true,
    ..PLAIN
};

/// The name of an element, without what was made of a missing one, or of one that it has from two places.
fn given_name<'n>(role: &Role, name: &'n str) -> &'n str {
    const TEXTS: [Role; 7] = [
        Role::LABEL,
        Role::MENU_ITEM,
        Role::CHECK_MENU_ITEM,
        Role::RADIO_MENU_ITEM,
        Role::PAGE_TAB,
        Role::PUSH_BUTTON,
        Role::TOGGLE_BUTTON,
    ];
    let is_known = ["Gtk", "Adw"].iter().any(|library| name.starts_with(library));
    if is_class(name) && (is_known || !TEXTS.contains(role)) {
        return "";
    }
    if *role == Role::LABEL {
        return name;
    }
    let half = name.get(..name.len() / 2).filter(|half| !half.is_empty());
    let rest = half.and_then(|half| name.strip_prefix(half)?.strip_prefix(' '));
    half.filter(|half| rest == Some(half)).unwrap_or(name)
}

/// The description of an element of this name: for a menu button without a text of its own, it may be the only information.
fn told_of(name: &str, description: String) -> String {
    if name == "GtkMenuButton" && description.is_empty() { "opens a menu".to_owned() } else { description }
}

/// Returns `true` if a name is that of a class of GLib: several words of letters and digits, each with a capital, written as one.
fn is_class(name: &str) -> bool {
    let capitals = name.bytes().filter(u8::is_ascii_uppercase).count();
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.contains(|one: char| one.is_ascii_lowercase())
        && capitals > 1
}
