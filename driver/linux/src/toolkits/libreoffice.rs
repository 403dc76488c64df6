//! LibreOffice: VCL inside GTK 3.
//!
//! LibreOffice 7.4 with the GTK3 plug-in:
//! - `Cache.GetItems` crashes it (signal 6 in `g_object_ref`) once a dialog or chart that was read is gone: the cache
//!   of the bridge keeps objects that VCL has freed. So its trees are read object by object.
//! - What VCL draws (the `root pane` and everything below: tool bars, document, status bar) is reported too high by
//!   the height of GTK's menu bar, which VCL does not know about. The `root pane` fills its GTK parent exactly, so
//!   the difference between the two is the correction (`atspi/shift`). GTK widgets embedded in VCL (sidebar, name box)
//!   are reported correctly again: such an island starts with a panel whose extents equal those of its only parent
//!   except for the shift.
//! - Below the `root pane` VCL exposes its own menu bar a second time, with no height and nameless actions.
//! - A shape on a sheet (a chart) stays a child of the `document spreadsheet` after it was deleted, for example when
//!   the chart assistant is cancelled. Asking for its name then reads freed memory: LibreOffice crashes, or runs
//!   whatever is there. Only its role is safe to read, so shapes on sheets are left out.
//! - GTK's menus have all their items before they are opened; `click` on an item of a closed menu works. A menu of
//!   the menu bar is SELECTED exactly while it is open, and its pop-up window has no object of its own.
//! - A Calc sheet is a `table` named `Sheet Sheet1` of 1048576 x 16384 cells whose child count is 2^31 - 1. A cell is
//!   reached by `Table.GetAccessibleAt`; it has `Text` to read and `Value`, which sets a number, but no
//!   `EditableText`. `GrabFocus` on it moves the cell cursor. The name box is a nameless `text` that shows the
//!   position of the cursor; setting its text to a cell or range and running `activate` selects that.
//! - The content of Calc's formula bar is a `paragraph` in a panel `Input line`, which reports itself DEFUNCT
//!   although it is not. Setting its text and pressing `Accept` enters it into the cell with the cursor.
//! - A Writer table is a `table` named `Table1-1` (name of the table, `-`, number of the part on this page); its
//!   cells are named `A1`… and contain paragraphs, which have the text.
//! - The chart assistant is a `frame` named `Chart Type`; its list is a nameless `tree table` whose cells have the
//!   actions `expand or contract`, `edit`, `activate`; it is selected by row, not by child.
//! - Its file dialogs are GTK's: role `file chooser`; the nameless `text` beside `Name:` accepts a whole path.

use std::time::Duration;

use deskhand_desktop::Quirks;
use deskhand_ui::Role;

use super::{
    definition::{ToolkitDefinition, exposing},
    elements::{DrawnChanges, ElementTraits, NO_QUIRKS, PLAIN},
};

/// Its programs.
pub(super) const DEFINITION: ToolkitDefinition = exposing("LibreOffice", &["/libvcl"]);

/// Maximum delay of its controls: it updates them by a timer of 300 ms, a few at a time.
const CONTROLS_LATE: Duration = Duration::from_millis(350);

/// Its elements.
pub(crate) static ELEMENTS: ElementTraits = ElementTraits {
    name: "LibreOffice",
    recognises: |names| names.application.starts_with("soffice") || names.toolkit.eq_ignore_ascii_case("vcl"),
    // See `Input line` above.
    looks_into_defunct: |parent| parent == Some(&Role::FILLER),
    // See shapes above.
    has_fragile_children: |role| *role == Role::DOCUMENT_SPREADSHEET,
    is_safe_child: |role| *role == Role::TABLE,
    has_get_all: true,
    keeps_items_of_closed_menus: true,
    // An object stays what it is, whatever it draws.
    drawn_changes: DrawnChanges::AllButKinds,
    draws_cells_in_place: true,
    // It announces the role of each new object, thousands while it starts.
    changes_roles: false,
    starts_late: CONTROLS_LATE,
    // After the timer, those whose state is not known yet are updated by further ones.
    controls_follow_within: Duration::from_millis(700),
    at_once: Duration::from_millis(50).saturating_add(CONTROLS_LATE),
    quirks: Quirks {
        runs_timers: true,
        // For text, it asks how to import it.
        pastes_cells_as: Some("application/x-libreoffice-tsvc"),
        ..NO_QUIRKS
    },
    tells_formats: true,
    names_cells_by_place: true,
    selects_open_menus: true,
    is_repetition: |role, reported| {
        *role == Role::MENU_BAR && reported.is_some_and(|extents| extents.height == 0)
    },
    misplaces_root_panes: true,
    ..PLAIN
};
