//! How toolkits differ, in one place. Each fact was measured; code elsewhere asks here by name.
//!
//! LibreOffice 7.4 with the GTK3 plug-in:
//! - `Cache.GetItems` crashes it (signal 6 in `g_object_ref`) once a dialog or chart that was read has gone:
//!   the bridge's cache keeps what VCL has freed. So its trees are read object by object.
//! - What VCL draws (`root pane` and below: tool bars, document, status bar) is reported too high by the
//!   height of GTK's menu bar, which VCL does not know of. The `root pane` lies exactly in its GTK parent, so
//!   their difference is what is missing ([`Shift`]). GTK widgets embedded in VCL (sidebar, name box) are
//!   reported right again: such an island starts with a panel that lies in its only parent but for the shift.
//! - Below the `root pane` VCL shows its own menu bar once more, with no height and nameless actions.
//! - A shape on a sheet (a chart) stays a child of the `document spreadsheet` after it was deleted, as when the
//!   chart assistant is cancelled. Asking it for its name then reads freed memory: LibreOffice crashes, or runs
//!   whatever lies there. Only its role is safe to ask for, so that shapes on sheets are left out.
//! - GTK's menus have all their items before they are opened; `click` on a closed menu's item works. A menu of
//!   the menu bar is SELECTED exactly while it is open, and its pop-up window is no object of its own.
//! - A Calc sheet is a `table` named `Sheet Sheet1` of 1048576 x 16384 cells whose child count is 2^31 - 1. A
//!   cell is reached by `Table.GetAccessibleAt`; it has `Text` to read and `Value`, which sets a number, but
//!   no `EditableText`. `GrabFocus` on it moves the cell cursor. The name box is a nameless `text` that shows
//!   the cursor's place; setting its text to a cell or range and doing `activate` selects that.
//! - What Calc's formula bar holds is a `paragraph` in a panel `Input line`, which calls itself DEFUNCT and is
//!   not. Setting its text and pressing `Accept` enters it into the cell with the cursor.
//! - A Writer table is a `table` named `Table1-1` (name of the table, `-`, number of the part on this page);
//!   its cells are named `A1`… and hold paragraphs, which have the text.
//! - The chart assistant is a `frame` named `Chart Type`; its list is a nameless `tree table` whose cells have
//!   the actions `expand or contract`, `edit`, `activate`; it is selected by row, not by child.
//! - Its file dialogs are GTK's: role `file chooser`; the nameless `text` beside `Name:` takes a whole path.
//!
//! Qt 5: no `Cache.GetItems`; `Properties.GetAll` crashed some versions, so it is never called. An item of a tree that
//! is expanded shows its leaves as further children of the tree without a word: their number tells. `GrabFocus` does
//! nothing for a combo box, and the cells of a table are other objects after each change. Those of a tree are other
//! objects each time the tree is asked for its children, while the former ones go on to answer.
//! Chromium: when a page takes the place of the empty one that a window begins with, nothing is announced; the old
//! document goes on to answer and calls itself DEFUNCT.
//! GTK 4: `SHOWING` is set on the frame alone, so `VISIBLE` decides; extents are relative to the window
//! without its shadow, so the place of the window is added. Where an element has no name it is called by its class
//! (`GtkToggleButton`). What a popover shows is reported as if it lay in the window; the options of a drop-down are
//! there only while it is open. A `GtkTreeView` shows its headers and no rows or cells. `Cache.GetItems` knows nothing of
//! the pages of a stack or notebook until somebody asks for them, and gives their content as children of the whole.

use std::time::Duration;

use super::mirror::Parts;
use deskhand_core::{
    geometry::{Rect, Screen},
    ui::{Role, State, States},
};
use deskhand_desktop::Aspect;

/// What is added to reported coordinates to get those of the screen, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shift {
    /// To the right.
    pub(crate) x: i32,
    /// Down.
    pub(crate) y: i32,
}

impl Shift {
    /// Coordinates are right as they are.
    pub(crate) const NONE: Self = Self { x: 0, y: 0 };

    /// Reported extents on the screen.
    pub(crate) fn apply(self, reported: Rect<Screen>) -> Rect<Screen> {
        Rect::new(
            reported.x.saturating_add(self.x),
            reported.y.saturating_add(self.y),
            reported.width,
            reported.height,
        )
    }
}

/// The toolkit of an application, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toolkit {
    /// GTK 3.
    Gtk3,
    /// GTK 4.
    Gtk4,
    /// Qt.
    Qt,
    /// Chromium, and what is built on it.
    Chromium,
    /// LibreOffice: VCL inside GTK 3.
    LibreOffice,
    /// Any other.
    Other,
}

impl Toolkit {
    /// From what the root of an application says.
    pub(crate) fn of(name: &str, version: &str, application: &str) -> Self {
        let gtk = name.eq_ignore_ascii_case("gtk");
        if application.starts_with("soffice") || name.eq_ignore_ascii_case("vcl") {
            Self::LibreOffice
        } else if gtk && version.starts_with('4') {
            Self::Gtk4
        } else if gtk {
            Self::Gtk3
        } else if name.eq_ignore_ascii_case("qt") {
            Self::Qt
        } else if name.eq_ignore_ascii_case("chromium") {
            Self::Chromium
        } else {
            Self::Other
        }
    }

    /// Whether an element with these states is on the screen.
    pub(crate) fn shows(self, states: States) -> bool {
        let deciding = match self {
            Self::Gtk4 => State::Visible,
            Self::Gtk3 | Self::LibreOffice | Self::Qt | Self::Chromium | Self::Other => State::Showing,
        };
        states.has(deciding) && !states.has(State::Defunct)
    }

    /// The states with those that the toolkit leaves out.
    pub(crate) fn completed(self, states: States) -> States {
        if self == Self::Gtk4 && self.shows(states) { states.with(State::Showing) } else { states }
    }

    /// Whether an element that calls itself gone is looked into all the same: see `Input line` above.
    pub(crate) fn looks_into_defunct(self, states: States, parent: Option<&Role>) -> bool {
        self == Self::LibreOffice && states.has(State::Defunct) && parent == Some(&Role::FILLER)
    }

    /// Whether children of an element with this role may be dead and yet be listed: see shapes above.
    pub(crate) fn has_fragile_children(self, role: &Role) -> bool {
        self == Self::LibreOffice && *role == Role::DOCUMENT_SPREADSHEET
    }

    /// Whether a child with this role of such an element may be asked for more than its role.
    pub(crate) fn is_safe_child(self, role: &Role) -> bool {
        self != Self::LibreOffice || *role == Role::TABLE
    }

    /// Whether all objects may be asked for at once (`Cache.GetItems`).
    pub(crate) fn has_cache(self) -> bool {
        matches!(self, Self::Gtk3 | Self::Gtk4 | Self::Chromium)
    }

    /// Whether the children that `Cache.GetItems` gives an object are those that the object gives.
    pub(crate) fn caches_children(self) -> bool {
        self.has_cache() && self != Self::Gtk4
    }

    /// Whether an element with this role is another object each time that it is asked for, and the former ones answer
    /// still.
    pub(crate) fn makes_anew(self, role: &Role) -> bool {
        self == Self::Qt && *role == Role::TABLE_CELL
    }

    /// Whether all properties of an object may be asked for at once (`Properties.GetAll`).
    pub(crate) fn has_get_all(self) -> bool {
        !matches!(self, Self::Qt | Self::Other)
    }

    /// Whether nothing in an element can show, so that its children need not be asked: a closed menu.
    pub(crate) fn is_closed(self, role: &Role, states: States, parent: Option<&Role>) -> bool {
        matches!(self, Self::Gtk3 | Self::LibreOffice)
            && *role == Role::MENU
            && parent.is_some_and(|parent| [Role::MENU_BAR, Role::MENU].contains(parent))
            && !states.has(State::Selected)
    }

    /// What of an element may have changed without a word once the place where it is was drawn.
    pub(crate) fn drawn_parts(self) -> Parts {
        match self {
            Self::Gtk3 | Self::Gtk4 | Self::Chromium => Parts::EXTENTS,
            Self::Qt => Parts::EXTENTS.and(Parts::STATES).and(Parts::BODY),
            Self::LibreOffice | Self::Other => Parts::ALL,
        }
    }

    /// The name of an element, without the name of its class that stands where it has none.
    pub(crate) fn given_name(self, name: &str) -> &str {
        let is_class = |rest: &str| {
            rest.starts_with(|first: char| first.is_ascii_uppercase())
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        match name.strip_prefix("Gtk") {
            Some(rest) if self == Self::Gtk4 && is_class(rest) => "",
            Some(_) | None => name,
        }
    }

    /// Whether children that come and go are announced.
    pub(crate) fn tells_of_children(self) -> bool {
        self != Self::Qt
    }

    /// Whether a cell whose place shows one colour has no text.
    pub(crate) fn draws_cells_in_place(self) -> bool {
        self == Self::LibreOffice
    }

    /// How long after an input the first sign of what it does may come although the application has answered since.
    pub(crate) fn starts_late(self) -> Duration {
        match self {
            // LibreOffice brings its controls up to date by a timer.
            Self::LibreOffice => Duration::from_millis(250),
            Self::Gtk3 | Self::Gtk4 | Self::Qt | Self::Chromium | Self::Other => Duration::ZERO,
        }
    }

    /// Whether the cells of a table have their places (`B7`) as names.
    pub(crate) fn names_cells_by_place(self) -> bool {
        self == Self::LibreOffice
    }

    /// The shift of a top-level object whose window is at `window`.
    pub(crate) fn frame_shift(self, reported: Option<Rect<Screen>>, window: Rect<Screen>) -> Shift {
        match (self, reported) {
            (Self::Gtk4, Some(reported)) => Shift { x: window.x - reported.x, y: window.y - reported.y },
            _ => Shift::NONE,
        }
    }

    /// Whether an element only repeats another one and is left out with all that is in it.
    pub(crate) fn is_repetition(self, role: &Role, reported: Option<Rect<Screen>>) -> bool {
        self == Self::LibreOffice
            && *role == Role::MENU_BAR
            && reported.is_some_and(|extents| extents.height == 0)
    }

    /// The shift of an element, given that of its parent and what both report.
    pub(crate) fn shift(
        self,
        role: &Role,
        reported: Option<Rect<Screen>>,
        parent_shift: Shift,
        parent_reported: Option<Rect<Screen>>,
    ) -> Shift {
        let (Self::LibreOffice, Some(own), Some(parent)) = (self, reported, parent_reported) else {
            return parent_shift;
        };
        let lacking = Shift { x: parent.x - own.x, y: parent.y - own.y };
        if *role == Role::ROOT_PANE {
            return lacking;
        }
        let is_island = parent_shift != Shift::NONE
            && *role == Role::PANEL
            && own.width == parent.width
            && Shift { x: -lacking.x, y: -lacking.y } == parent_shift;
        if is_island { Shift::NONE } else { parent_shift }
    }
}

/// Names of actions that a click stands for, the best one first.
const ACTIVATING: [&str; 13] = [
    "click",
    "press",
    "activate",
    "jump",
    "toggle",
    "check",
    "select",
    "open",
    "switch",
    "do default",
    "dodefault",
    "expand or contract",
    "showmenu",
];

/// Which of an element's actions a click stands for. A nameless only action counts: VCL names none.
pub(crate) fn default_action(names: &[String]) -> Option<usize> {
    let by_name =
        ACTIVATING.iter().find_map(|wanted| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)));
    by_name.or_else(|| (names.len() == 1 && names.first().is_some_and(String::is_empty)).then_some(0))
}

/// Changes that say nothing about an effect: a caret that blinks or moves, geometry, and formatting.
pub(crate) const fn is_noise(aspect: Aspect) -> bool {
    matches!(aspect, Aspect::Caret | Aspect::Bounds | Aspect::Viewport | Aspect::Attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_stands_for_the_activating_action_and_never_for_a_copy() {
        let check = |names: &[&str], expected: Option<usize>| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(default_action(&names), expected, "{names:?}");
        };
        check(&["expand or contract", "edit", "activate"], Some(2));
        check(&["Click"], Some(0));
        check(&["clipboard.copy", "link.open", "Press"], Some(2));
        check(&["clipboard.copy"], None);
        check(&[""], Some(0));
        check(&[], None);
    }

    #[test]
    fn vcl_is_shifted_below_its_root_pane_and_gtk_inside_it_is_not() {
        let rect = |y: i32| Some(Rect::new(0, y, 138, 23));
        let office = Toolkit::LibreOffice;
        let down = office.shift(&Role::ROOT_PANE, rect(19), Shift::NONE, rect(44));
        assert_eq!(down, Shift { x: 0, y: 25 });
        assert_eq!(office.shift(&Role::TOOL_BAR, rect(60), down, rect(19)), down);
        assert_eq!(office.shift(&Role::PANEL, rect(1035), down, rect(1010)), Shift::NONE);
        assert_eq!(Toolkit::Gtk3.shift(&Role::ROOT_PANE, rect(19), Shift::NONE, rect(44)), Shift::NONE);
    }
}
