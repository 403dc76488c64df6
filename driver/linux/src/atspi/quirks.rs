//! The differences between toolkits, in one place. Each was observed; other modules ask by the name of the
//! difference.
//!
//! LibreOffice 7.4 with the GTK3 plug-in:
//! - `Cache.GetItems` crashes it (signal 6 in `g_object_ref`) once a dialog or chart that was read is gone: the cache
//!   of the bridge keeps objects that VCL has freed. So its trees are read object by object.
//! - What VCL draws (the `root pane` and everything below: tool bars, document, status bar) is reported too high by
//!   the height of GTK's menu bar, which VCL does not know about. The `root pane` fills its GTK parent exactly, so
//!   the difference between the two is the correction ([`Shift`]). GTK widgets embedded in VCL (sidebar, name box)
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
//!
//! Qt 5: no `Cache.GetItems`; `Properties.GetAll` crashed some versions, so it is never called. An expanded item of a
//! tree exposes its leaves as further children of the tree without an event; only their number shows it. `GrabFocus`
//! does nothing for a combo box, and the cells of a table are new objects after each change. Those of a tree are new
//! objects each time its children are read, while the former ones keep answering. The list of a combo box takes a click
//! within the time of a double click after it opened for the end of the click that opened it, and ignores it.
//!
//! Chromium: when a page replaces the empty one that a window starts with, nothing is announced; the old document
//! keeps answering and reports itself DEFUNCT.
//!
//! Swing by its bridge (0.40): an item of a menu is placed as if its pop-up were at its menu. Its action works. The value
//! of a spin button is accepted and dropped.
//!
//! GTK 2 by its bridge (GIMP 2.10): the items of an open menu are not SHOWING, only VISIBLE, and so are those of a closed one, which
//! keep the place where they were. A menu is the selected child of its menu bar or menu exactly while it is open, without being SELECTED
//! itself, and its pop-up window has no object of its own.
//!
//! GTK 3: the bridge makes the object of an item of an icon view (an `icon` in a `layered pane`) when its row is added, before it is laid out.
//! Its states are as of then, and follow only when it is scrolled: it is not SHOWING although it shows. It reports a place exactly while it
//! is in view. The icon view of Exo (Thunar) exposes none: it is a `panel` without children.
//!
//! GTK 4: only the frame is `SHOWING`, so `VISIBLE` decides; extents are relative to the window without its shadow,
//! so the position of the window is added. An element without a name is named after its class (`GtkToggleButton`,
//! `BaobabWindow`); one that has a label and is labelled by it, as most buttons, has the name twice (`Save Save`). What is on another page
//! of a leaflet, or in a revealer that is closed, is VISIBLE and has no size. The content of a popover is reported as if it were in the
//! window; the options of a drop-down exist only while it is open. A list has objects for the 200 rows or so around those in view; rows
//! that went out of view keep the place that they had and stay VISIBLE (`recycled`). By the wheel, a list of 10,000 rows (4.8) skips more
//! and more of them once it was scrolled by about 180, so that a row further down is not reached so.
//! `Text.SetSelection` (4.8) only moves the caret and answers `true`; `AddSelection` selects if nothing is
//! selected, and never answers. A `GtkTreeView` exposes its headers and no rows or cells. The value of a scroll
//! bar is that of the only element in it (`GtkRange`), and its maximum includes what shows. It can be set, and is not
//! announced. `Cache.GetItems` lacks the pages of a stack or
//! notebook until they are read, and returns their content as children of the whole. An item of a grid (Nautilus 43) is a cell in
//! a cell: the inner one has the name, the outer one is selected.
//!
//! Gecko (Firefox ESR 153): a field for a date is a `date editor`, one for a time a `panel`, which only its attributes tell apart from others.
//! The fields in it are spin buttons without a value, whose text is what they show (`05`, or a placeholder such as `mm`), and an entry for AM or
//! PM.
//!
//! GTK and Qt with a scale factor on X11 report their own units, not pixels, for places and sizes ([`Scale`]).
//!
//! On Wayland ([`Origin::Window`]), every toolkit counts from the surface of its window, and GTK 3 with the shadow that it draws around one that
//! floats. What GTK 3 reports of pop-ups is in `pop_up_shift`.

use std::time::Duration;

use super::{header::AtspiObjectHeader, mirror::ObjectAspects};
use deskhand_desktop::{ElementChangeKind, Quirks};
use deskhand_ui::{
    Element, Role, State, States,
    geometry::{Rect, Screen},
};

/// The toolkit of an application, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtspiToolkit {
    /// GTK 2, by its bridge.
    Gtk2,
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
    /// Swing and AWT, by their bridge.
    Java,
    /// Any other toolkit.
    Other,
}

impl AtspiToolkit {
    /// Detects the toolkit from the properties of the root object.
    pub(crate) fn of(name: &str, version: &str, application: &str) -> Self {
        let gtk = name.eq_ignore_ascii_case("gtk");
        if name.eq_ignore_ascii_case("gail") {
            return Self::Gtk2;
        }
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
        } else if name.eq_ignore_ascii_case("J2SE-access-bridge") {
            Self::Java
        } else {
            Self::Other
        }
    }

    /// Returns `true` if an element with these states, below one with this role, is on the screen.
    pub(crate) fn shows(self, states: States, parent: Option<&Role>) -> bool {
        let deciding = match self {
            Self::Gtk4 => State::Visible,
            // Of an open menu: those that are closed are not looked into.
            Self::Gtk2 if parent == Some(&Role::MENU) => State::Visible,
            // Of an icon view: see `is_out_of_view`.
            Self::Gtk3 if parent == Some(&Role::LAYERED_PANE) => State::Visible,
            Self::Gtk2
            | Self::Gtk3
            | Self::LibreOffice
            | Self::Qt
            | Self::Chromium
            | Self::Java
            | Self::Other => State::Showing,
        };
        states.has(deciding) && !states.has(State::Defunct)
    }

    /// Returns `true` if an element with this role that [`shows`](Self::shows) is out of view all the same, by the place that it reports.
    pub(crate) fn is_out_of_view(
        self,
        (role, states): (&Role, States),
        parent: Option<&Role>,
        reported: Option<Rect<Screen>>,
    ) -> bool {
        if self == Self::Gtk4 && parent.is_some() {
            return reported.is_some_and(|place| place.is_empty());
        }
        if self.shows_by_place(role, parent) {
            return reported.is_none_or(|place| place.is_empty());
        }
        self == Self::Gtk3 && parent == Some(&Role::LAYERED_PANE) && !states.has(State::Showing)
    }

    /// Returns `true` if only its place tells that an element is in view: see GTK 3 above.
    pub(crate) fn shows_by_place(self, role: &Role, parent: Option<&Role>) -> bool {
        self == Self::Gtk3 && *role == Role::ICON && parent == Some(&Role::LAYERED_PANE)
    }

    /// The states of an element with this role, with those added that the toolkit leaves out, given the role of the one around it, which
    /// is open, and the place that it reports.
    pub(crate) fn completed(
        self,
        (role, states): (&Role, States),
        parent: Option<&Role>,
        reported: Option<Rect<Screen>>,
    ) -> States {
        let lacks = match self {
            Self::Gtk4 => true,
            Self::Gtk2 => parent == Some(&Role::MENU),
            Self::Gtk3 => {
                self.shows_by_place(role, parent) && !self.is_out_of_view((role, states), parent, reported)
            }
            Self::LibreOffice | Self::Qt | Self::Chromium | Self::Java | Self::Other => false,
        };
        if lacks && self.shows(states, parent) { states.with(State::Showing) } else { states }
    }

    /// Returns `true` if an element with this role may be a field for a time, which its attributes tell: see Gecko above.
    pub(crate) fn may_be_time(self, role: &Role, states: States) -> bool {
        self == Self::Other && *role == Role::PANEL && states.has(State::Editable)
    }

    /// Returns `true` if an element with this role, in one with that role, is selected with the one around it: see items of grids above.
    pub(crate) fn is_selected_with(self, role: &Role, around: &Role) -> bool {
        self == Self::Gtk4 && [role, around] == [&Role::TABLE_CELL; 2]
    }

    /// Returns `true` if only the selection of its parent tells which menu is open.
    pub(crate) fn opens_menus_by_selection(self) -> bool {
        self == Self::Gtk2
    }

    /// Returns `true` if what shows of an element with these states depends on its parent: see GTK 2 and GTK 3 above.
    pub(crate) fn shows_by_parent(self, states: States) -> bool {
        matches!(self, Self::Gtk2 | Self::Gtk3) && states.has(State::Visible) && !states.has(State::Showing)
    }

    /// Returns `true` if an element that reports itself gone is read all the same: see `Input line` above.
    pub(crate) fn looks_into_defunct(self, states: States, parent: Option<&Role>) -> bool {
        self == Self::LibreOffice && states.has(State::Defunct) && parent == Some(&Role::FILLER)
    }

    /// Returns `true` if children of an element with this role may be listed although they are gone: see shapes above.
    pub(crate) fn has_fragile_children(self, role: &Role) -> bool {
        self == Self::LibreOffice && *role == Role::DOCUMENT_SPREADSHEET
    }

    /// Returns `true` if more than the role of a child with this role may be read: see shapes above.
    pub(crate) fn is_safe_child(self, role: &Role) -> bool {
        self != Self::LibreOffice || *role == Role::TABLE
    }

    /// Returns `true` if all objects may be read at once (`Cache.GetItems`).
    pub(crate) fn has_cache(self) -> bool {
        matches!(self, Self::Gtk3 | Self::Gtk4 | Self::Chromium)
    }

    /// Returns `true` if the children in `Cache.GetItems` are the same as those that the object itself returns.
    pub(crate) fn caches_children(self) -> bool {
        self.has_cache() && self != Self::Gtk4
    }

    /// Returns `true` if an element with this role is a new object each time it is read, while the former ones keep answering.
    pub(crate) fn makes_anew(self, role: &Role) -> bool {
        self == Self::Qt && *role == Role::TABLE_CELL
    }

    /// Returns `true` if all properties of an object may be read at once (`Properties.GetAll`).
    pub(crate) fn has_get_all(self) -> bool {
        !matches!(self, Self::Qt | Self::Gtk2 | Self::Java | Self::Other)
    }

    /// Returns `true` if nothing inside an element is visible, so that its children need not be read: a closed menu.
    pub(crate) fn is_closed(self, role: &Role, states: States, parent: Option<&Role>) -> bool {
        matches!(self, Self::Gtk2 | Self::Gtk3 | Self::LibreOffice)
            && *role == Role::MENU
            && parent.is_some_and(|parent| [Role::MENU_BAR, Role::MENU].contains(parent))
            && !states.has(State::Selected)
    }

    /// Returns the parts that may change without an event when the area of an element is drawn.
    pub(crate) fn drawn_parts(self) -> ObjectAspects {
        match self {
            Self::Gtk3 | Self::Gtk4 | Self::Chromium => ObjectAspects::EXTENTS,
            Self::Qt => ObjectAspects::EXTENTS.and(ObjectAspects::STATES).and(ObjectAspects::BODY),
            // An object stays what it is, whatever it draws.
            Self::LibreOffice => ObjectAspects::ALL.without(ObjectAspects::KIND),
            Self::Gtk2 | Self::Java | Self::Other => ObjectAspects::ALL,
        }
    }

    /// The name of an element with this role, without what the toolkit makes of a missing one, or of one that it has from two places: see
    /// GTK 4 above.
    pub(crate) fn given_name<'n>(self, role: &Role, name: &'n str) -> &'n str {
        const TEXTS: [Role; 7] = [
            Role::LABEL,
            Role::MENU_ITEM,
            Role::CHECK_MENU_ITEM,
            Role::RADIO_MENU_ITEM,
            Role::PAGE_TAB,
            Role::PUSH_BUTTON,
            Role::TOGGLE_BUTTON,
        ];
        if self != Self::Gtk4 {
            return name;
        }
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

    /// Returns the description of an element of this name: for a menu button without a text of its own, it may be
    /// the only information.
    pub(crate) fn told_of(self, name: &str, description: String) -> String {
        let is_menu_button = self == Self::Gtk4 && name == "GtkMenuButton";
        if is_menu_button && description.is_empty() { "opens a menu".to_owned() } else { description }
    }

    /// Returns `true` if an element only repeats the one around it: the button that a menu button of GTK 4 consists of.
    pub(crate) fn repeats(self, around: &Element, head: &AtspiObjectHeader, description: &str) -> bool {
        self == Self::Gtk4
            && [&around.role, &head.role] == [&Role::PUSH_BUTTON; 2]
            && around.name == self.given_name(&head.role, head.name.trim())
            && around.description == self.told_of(&head.name, description.to_owned())
    }

    /// Returns `true` if an element with this role is a list to choose from that exposes its choice only by the
    /// selection of the list inside it, which browsers announce for that list and draw in the element.
    pub(crate) fn tells_choice_by_selection(self, role: &Role) -> bool {
        matches!(self, Self::Chromium | Self::Other) && *role == Role::COMBO_BOX
    }

    /// Returns `true` if a selection has to be removed and added instead of set, and adding it is not answered: see GTK 4 above.
    pub(crate) fn has_broken_set_selection(self) -> bool {
        self == Self::Gtk4
    }

    /// Returns `true` if added and removed children are announced.
    pub(crate) fn announces_children(self) -> bool {
        self != Self::Qt
    }

    /// Returns `true` if a cell that is drawn in a single colour has no text.
    pub(crate) fn draws_cells_in_place(self) -> bool {
        self == Self::LibreOffice
    }

    /// Returns `true` if the role of an object may become another one, such as that of a password that is made visible.
    pub(crate) fn changes_roles(self) -> bool {
        // It announces the role of each new object, thousands while it starts.
        self != Self::LibreOffice
    }

    /// Returns the maximum delay of the first sign of an effect after an input, although the application has
    /// answered since.
    pub(crate) fn starts_late(self) -> Duration {
        match self {
            // LibreOffice updates its controls by a timer of 300 ms, a few at a time.
            Self::LibreOffice => Duration::from_millis(350),
            Self::Gtk2 | Self::Gtk3 | Self::Gtk4 | Self::Qt | Self::Chromium | Self::Java | Self::Other => {
                Duration::ZERO
            }
        }
    }

    /// Returns the maximum delay after a selection within which the controls that show its state, such as a button
    /// for bold text, may follow it.
    pub(crate) fn controls_follow_within(self) -> Duration {
        match self {
            // After the timer, those whose state is not known yet are updated by further ones.
            Self::LibreOffice => Duration::from_millis(700),
            Self::Gtk2 | Self::Gtk3 | Self::Gtk4 | Self::Qt | Self::Chromium | Self::Java | Self::Other => {
                Duration::from_millis(350)
            }
        }
    }

    /// Returns `true` if it lays pages out in processes of their own, for which the process with the window answers.
    pub(crate) fn has_pages_apart(self) -> bool {
        self == Self::Chromium
    }

    /// Returns `true` if a page may be asked for its address. Qt answers what an object does not offer as if there were no such object.
    pub(crate) fn tells_addresses(self) -> bool {
        self != Self::Qt
    }

    /// Returns `true` if a new object gets its place only with the next frame that is drawn. In others, an object that is to be seen and has no
    /// place keeps none, such as a menu item of LibreOffice that is hidden.
    pub(crate) fn places_with_next_frame(self) -> bool {
        matches!(self, Self::Gtk2 | Self::Gtk3 | Self::Java | Self::Other)
    }

    /// Returns the maximum delay between drawing and its announcement. Chromium collects the changes of a page for
    /// 150 ms after it has sent some; the rest is for sending them.
    pub(crate) fn announces_after(self) -> Duration {
        match self {
            Self::Chromium => Duration::from_millis(180),
            Self::Gtk2
            | Self::Gtk3
            | Self::Gtk4
            | Self::Qt
            | Self::LibreOffice
            | Self::Java
            | Self::Other => Duration::ZERO,
        }
    }

    /// Returns the time after an input within which an idle application announces what it changed. Changes that
    /// occur by themselves rarely come just then.
    pub(crate) fn at_once(self) -> Duration {
        match self {
            Self::LibreOffice => Duration::from_millis(50) + self.starts_late(),
            // A page is another process than its window.
            Self::Chromium => Duration::from_millis(100),
            Self::Gtk2 | Self::Gtk3 | Self::Gtk4 | Self::Qt | Self::Java | Self::Other => {
                Duration::from_millis(50)
            }
        }
    }

    /// Returns the peculiarities that actions have to consider.
    pub(crate) fn quirks(self) -> Quirks {
        Quirks {
            ignores_clicks_in_fresh_lists: self == Self::Qt,
            // The content of a popover, and of a menu of Swing: see above.
            misplaces_menu_items: matches!(self, Self::Gtk4 | Self::Java),
            // A dialog with a main loop of its own (`gtk_dialog_run`) keeps the bridge of ATK from taking up its connection again; when a
            // key is pressed, the bridge waits for that connection in turn.
            blocks_in_actions: matches!(self, Self::Gtk2 | Self::Gtk3),
            runs_timers: matches!(self, Self::Chromium | Self::LibreOffice),
            drops_values: self == Self::Java,
            skips_rows_by_wheel: self == Self::Gtk4,
            // For text, it asks how to import it.
            pastes_cells_as: (self == Self::LibreOffice).then_some("application/x-libreoffice-tsvc"),
        }
    }

    /// Returns `true` if texts, cells and documents report styles, what is stored, and pages.
    pub(crate) fn tells_formats(self) -> bool {
        self == Self::LibreOffice
    }

    /// Returns `true` if a scroll bar can reach the end of the range that it tells. In others, the range includes what shows.
    pub(crate) fn ends_bars_where_told(self) -> bool {
        matches!(self, Self::Gtk3 | Self::Qt)
    }

    /// Returns `true` if an element with this role may be the part of a scroll bar that tells how far it goes: see GTK 4 above.
    pub(crate) fn has_bar_inside(self, role: &Role) -> bool {
        self == Self::Gtk4 && *role == Role::FILLER
    }

    /// Returns `true` if cells of a table are named by their position (`B7`).
    pub(crate) fn names_cells_by_place(self) -> bool {
        self == Self::LibreOffice
    }

    /// Returns `true` if a menu of a menu bar is selected exactly while it is open.
    pub(crate) fn selects_open_menus(self) -> bool {
        matches!(self, Self::Gtk3 | Self::LibreOffice)
    }

    /// Returns `true` if an element only repeats another one and is left out with everything inside it.
    pub(crate) fn is_repetition(self, role: &Role, reported: Option<Rect<Screen>>) -> bool {
        self == Self::LibreOffice
            && *role == Role::MENU_BAR
            && reported.is_some_and(|extents| extents.height == 0)
    }
}

/// Returns `true` if a name is that of a class of GLib: several words of letters and digits, each with a capital, written as one.
fn is_class(name: &str) -> bool {
    let capitals = name.bytes().filter(u8::is_ascii_uppercase).count();
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.contains(|one: char| one.is_ascii_lowercase())
        && capitals > 1
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

/// Which action of an element a click stands for. A nameless only action counts: VCL does not name them.
pub(crate) fn default_action(names: &[String]) -> Option<usize> {
    let by_name =
        ACTIVATING.iter().find_map(|wanted| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)));
    by_name.or_else(|| (names.len() == 1 && names.first().is_some_and(String::is_empty)).then_some(0))
}

/// Changes that prove no effect: a caret that blinks or moves, geometry, and formatting.
pub(crate) const fn is_noise(aspect: ElementChangeKind) -> bool {
    matches!(
        aspect,
        ElementChangeKind::Caret
            | ElementChangeKind::Bounds
            | ElementChangeKind::Viewport
            | ElementChangeKind::Attributes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_gtk_4_makes_up_or_says_twice_are_mended() {
        let check = |role: &Role, name: &str, expected: &str| {
            assert_eq!(AtspiToolkit::Gtk4.given_name(role, name), expected, "{role} {name}");
        };
        check(&Role::PUSH_BUTTON, "7 7", "7");
        check(&Role::PUSH_BUTTON, "Save As… Save As…", "Save As…");
        check(&Role::PUSH_BUTTON, "Bora Bora Bora Bora", "Bora Bora");
        check(&Role::LABEL, "Bora Bora", "Bora Bora");
        check(&Role::LABEL, "GtkLabel", "");
        check(&Role::LABEL, "GitHub", "GitHub");
        check(&Role::PUSH_BUTTON, "11", "11");
        check(&Role::PUSH_BUTTON, "äöü äöü", "äöü");
        check(&Role::PUSH_BUTTON, "äöüä", "äöüä");
        check(&Role::TOGGLE_BUTTON, "GtkToggleButton", "");
        check(&Role::PUSH_BUTTON, "GitHub", "GitHub");
        check(&Role::PANEL, "BaobabWindow", "");
        check(&Role::LIST_ITEM, "Documents", "Documents");
        check(&Role::PANEL, "USB", "USB");
        assert_eq!(AtspiToolkit::Qt.given_name(&Role::PUSH_BUTTON, "7 7"), "7 7");
    }

    #[test]
    fn a_click_stands_for_the_activating_action_never_for_a_copy() {
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
}
