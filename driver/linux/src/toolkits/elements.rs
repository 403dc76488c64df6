//! The traits of the elements of a toolkit. Other modules ask for them by the name of the difference.

use std::time::Duration;

use deskhand_desktop::Quirks;
use deskhand_ui::{
    Role, States,
    geometry::{Rect, Screen},
};

/// The names in the root object of an application.
pub(crate) struct ToolkitNames<'a> {
    /// The toolkit.
    pub(crate) toolkit: &'a str,
    /// Its version.
    pub(crate) version: &'a str,
    /// The application.
    pub(crate) application: &'a str,
}

/// Parts of elements that may change without an event when their area is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrawnChanges {
    /// Their places.
    Places,
    /// Their places, states and contents.
    PlacesStatesContents,
    /// Everything except what they are.
    AllButKinds,
    /// Everything.
    All,
}

/// A test of an element: its role and states, the role of the one around it, and the place that it reports.
type ElementTest = fn((&Role, States), Option<&Role>, Option<Rect<Screen>>) -> bool;

/// The traits of the elements of a toolkit. Those of [`PLAIN`] hold where a toolkit says nothing else.
pub(crate) struct ElementTraits {
    /// The name of the toolkit.
    pub(crate) name: &'static str,
    /// `true` for the names of its applications.
    pub(crate) recognises: fn(&ToolkitNames<'_>) -> bool,
    /// `true` if VISIBLE, instead of SHOWING, tells that an element is on the screen, given the role of the one around it.
    pub(crate) shows_if_visible: fn(Option<&Role>) -> bool,
    /// `true` if an element with this role that shows is out of view all the same, by the place that it reports.
    pub(crate) is_out_of_view: ElementTest,
    /// `true` if only its place tells that an element is in view.
    pub(crate) shows_by_place: fn(&Role, Option<&Role>) -> bool,
    /// `true` if SHOWING is left out of the states of an element that shows, given the role of the one around it, which is open, and the
    /// place that it reports.
    pub(crate) lacks_showing: ElementTest,
    /// `true` if what shows of an element that is VISIBLE and not SHOWING depends on its parent.
    pub(crate) shows_by_parent: bool,
    /// `true` if an element with this role may be a field for a time, which its attributes tell.
    pub(crate) may_be_time: fn(&Role, States) -> bool,
    /// `true` if an element with this role, in one with that role, is selected with the one around it.
    pub(crate) is_selected_with: fn(&Role, &Role) -> bool,
    /// `true` if only the selection of its parent tells which menu is open.
    pub(crate) opens_menus_by_selection: bool,
    /// `true` if an element that reports itself gone is read all the same, given the role of the one around it.
    pub(crate) looks_into_defunct: fn(Option<&Role>) -> bool,
    /// `true` if children of an element with this role may be listed although they are gone.
    pub(crate) has_fragile_children: fn(&Role) -> bool,
    /// `true` if more than the role of such a child with this role may be read.
    pub(crate) is_safe_child: fn(&Role) -> bool,
    /// `true` if all objects may be read at once (`Cache.GetItems`).
    pub(crate) has_cache: bool,
    /// `true` if the children in `Cache.GetItems` are the same as those that the object itself returns.
    pub(crate) caches_children: bool,
    /// `true` if an element with this role is a new object each time it is read, while the former ones keep answering.
    pub(crate) makes_anew: fn(&Role) -> bool,
    /// `true` if all properties of an object may be read at once (`Properties.GetAll`).
    pub(crate) has_get_all: bool,
    /// `true` if a menu that is closed has its items; it is not SELECTED.
    pub(crate) keeps_items_of_closed_menus: bool,
    /// The parts that may change without an event when the area of an element is drawn.
    pub(crate) drawn_changes: DrawnChanges,
    /// The name of an element with this role, without what the toolkit makes of a missing one, or of one that it has from two places.
    pub(crate) given_name: for<'n> fn(&Role, &'n str) -> &'n str,
    /// The description of an element of this name.
    pub(crate) told_of: fn(&str, String) -> String,
    /// `true` if a button may only repeat the button around it.
    pub(crate) repeats_buttons: bool,
    /// `true` if a list to choose from exposes its choice only by the selection of the list inside it, which is announced for that list and
    /// drawn in the element.
    pub(crate) tells_choice_by_selection: bool,
    /// `true` if a selection has to be removed and added instead of set, and adding it is not answered.
    pub(crate) has_broken_set_selection: bool,
    /// `true` if added and removed children are announced.
    pub(crate) announces_children: bool,
    /// `true` if a cell that is drawn in a single colour has no text.
    pub(crate) draws_cells_in_place: bool,
    /// `true` if the role of an object may become another one, such as that of a password that is made visible.
    pub(crate) changes_roles: bool,
    /// The maximum delay of the first sign of an effect after an input, although the application has answered since.
    pub(crate) starts_late: Duration,
    /// The maximum delay after a selection within which the controls that show its state, such as a button for bold text, may follow it.
    pub(crate) controls_follow_within: Duration,
    /// `true` if it lays pages out in processes of their own, for which the process with the window answers.
    pub(crate) has_pages_apart: bool,
    /// `true` if a page may be asked for its address.
    pub(crate) tells_addresses: bool,
    /// `true` if a new object gets its place only with the next frame that is drawn. In others, an object that is to be seen and has no
    /// place keeps none, such as a menu item of LibreOffice that is hidden.
    pub(crate) places_with_next_frame: bool,
    /// The maximum delay between drawing and its announcement.
    pub(crate) announces_after: Duration,
    /// The time after an input within which an idle application announces what it changed. Changes that occur by themselves rarely come
    /// just then.
    pub(crate) at_once: Duration,
    /// The peculiarities that actions have to consider.
    pub(crate) quirks: Quirks,
    /// `true` if texts, cells and documents report styles, what is stored, and pages.
    pub(crate) tells_formats: bool,
    /// `true` if a scroll bar can reach the end of the range that it tells. In others, the range includes what shows.
    pub(crate) ends_bars_where_told: bool,
    /// `true` if an element with this role may be the part of a scroll bar that tells how far it goes.
    pub(crate) has_bar_inside: fn(&Role) -> bool,
    /// `true` if cells of a table are named by their position (`B7`).
    pub(crate) names_cells_by_place: bool,
    /// `true` if a menu of a menu bar is selected exactly while it is open.
    pub(crate) selects_open_menus: bool,
    /// `true` if an element only repeats another one and is left out with everything inside it.
    pub(crate) is_repetition: fn(&Role, Option<Rect<Screen>>) -> bool,
    /// `true` if rows of a container with this role may have gone out of view although they report that they show.
    pub(crate) recycles: fn(&Role) -> bool,
    /// `true` if an element that is not shown may report a place over others, as the shield beside a side bar (`AdwFlap`).
    pub(crate) covers_unseen: bool,
    /// `true` if places count from the window, instead of the screen.
    pub(crate) counts_from_window: bool,
    /// `true` if a page has places in pixels of the screen, whatever surrounds it.
    pub(crate) tells_pages_in_pixels: bool,
    /// `true` if what is below a `root pane` is reported at a wrong height, and the pane tells by how much.
    pub(crate) misplaces_root_panes: bool,
}

/// No peculiarities.
pub(super) const NO_QUIRKS: Quirks = Quirks {
    ignores_clicks_in_fresh_lists: false,
    misplaces_menu_items: false,
    blocks_in_actions: false,
    runs_timers: false,
    drops_values: false,
    skips_rows_by_wheel: false,
    pastes_cells_as: None,
};

/// The traits of a toolkit of which nothing is known.
pub(super) const PLAIN: ElementTraits = ElementTraits {
    name: "",
    recognises: |_| false,
    shows_if_visible: |_| false,
    is_out_of_view: |_, _, _| false,
    shows_by_place: |_, _| false,
    lacks_showing: |_, _, _| false,
    shows_by_parent: false,
    may_be_time: |_, _| false,
    is_selected_with: |_, _| false,
    opens_menus_by_selection: false,
    looks_into_defunct: |_| false,
    has_fragile_children: |_| false,
    is_safe_child: |_| true,
    has_cache: false,
    caches_children: false,
    makes_anew: |_| false,
    has_get_all: false,
    keeps_items_of_closed_menus: false,
    drawn_changes: DrawnChanges::All,
    given_name: as_named,
    told_of: |_, description| description,
    repeats_buttons: false,
    tells_choice_by_selection: false,
    has_broken_set_selection: false,
    announces_children: true,
    draws_cells_in_place: false,
    changes_roles: true,
    starts_late: Duration::ZERO,
    controls_follow_within: Duration::from_millis(350),
    has_pages_apart: false,
    tells_addresses: true,
    places_with_next_frame: false,
    announces_after: Duration::ZERO,
    at_once: Duration::from_millis(50),
    quirks: NO_QUIRKS,
    tells_formats: false,
    ends_bars_where_told: false,
    has_bar_inside: |_| false,
    names_cells_by_place: false,
    selects_open_menus: false,
    is_repetition: |_, _| false,
    recycles: |_| false,
    covers_unseen: false,
    counts_from_window: false,
    tells_pages_in_pixels: false,
    misplaces_root_panes: false,
};

fn as_named<'n>(_: &Role, name: &'n str) -> &'n str {
    name
}
