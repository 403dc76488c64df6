//! The differences between toolkits, by their names. What each toolkit does is in its file below `toolkits`.
//!
//! GTK and Qt with a scale factor on X11 report their own units, not pixels, for places and sizes (`shift`).
//!
//! On Wayland (`CoordinateOrigin::Window`), every toolkit counts from the surface of its window, and GTK 3 with the shadow that it draws around one that
//! floats. What GTK 3 reports of pop-ups is in `pop_up_shift`.

use std::{fmt, ops::Deref};

use deskhand_desktop::{ElementChangeKind, Quirks};
use deskhand_ui::{
    Element, Role, State, States,
    geometry::{Rect, Screen},
};

use super::{header::AtspiObjectHeader, mirror::ObjectAspects};
use crate::toolkits::{DrawnChanges, ElementTraits, ToolkitNames, traits_of};

/// The toolkit of an application, as far as it matters here. Simple traits are those of [`ElementTraits`].
#[derive(Clone, Copy)]
pub(crate) struct AtspiToolkit(pub(crate) &'static ElementTraits);

impl Deref for AtspiToolkit {
    type Target = ElementTraits;

    fn deref(&self) -> &ElementTraits {
        self.0
    }
}

impl fmt::Debug for AtspiToolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for AtspiToolkit {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for AtspiToolkit {}

impl AtspiToolkit {
    /// Detects the toolkit from the properties of the root object.
    pub(crate) fn of(toolkit: &str, version: &str, application: &str) -> Self {
        Self(traits_of(&ToolkitNames { toolkit, version, application }))
    }

    /// Returns `true` if an element with these states, below one with this role, is on the screen.
    pub(crate) fn shows(self, states: States, parent: Option<&Role>) -> bool {
        let deciding = if (self.shows_if_visible)(parent) { State::Visible } else { State::Showing };
        states.has(deciding) && !states.has(State::Defunct)
    }

    /// Returns `true` if an element with this role that [`shows`](Self::shows) is out of view all the same, by the place that it reports.
    pub(crate) fn is_out_of_view(
        self,
        element: (&Role, States),
        parent: Option<&Role>,
        reported: Option<Rect<Screen>>,
    ) -> bool {
        (self.0.is_out_of_view)(element, parent, reported)
    }

    /// Returns `true` if only its place tells that an element is in view.
    pub(crate) fn shows_by_place(self, role: &Role, parent: Option<&Role>) -> bool {
        (self.0.shows_by_place)(role, parent)
    }

    /// The states of an element with this role, with those added that the toolkit leaves out, given the role of the one around it, which
    /// is open, and the place that it reports.
    pub(crate) fn completed(
        self,
        (role, states): (&Role, States),
        parent: Option<&Role>,
        reported: Option<Rect<Screen>>,
    ) -> States {
        let lacks = (self.lacks_showing)((role, states), parent, reported);
        if lacks && self.shows(states, parent) { states.with(State::Showing) } else { states }
    }

    /// Returns `true` if an element with this role may be a field for a time, which its attributes tell.
    pub(crate) fn may_be_time(self, role: &Role, states: States) -> bool {
        (self.0.may_be_time)(role, states)
    }

    /// Returns `true` if an element with this role, in one with that role, is selected with the one around it.
    pub(crate) fn is_selected_with(self, role: &Role, around: &Role) -> bool {
        (self.0.is_selected_with)(role, around)
    }

    /// Returns `true` if what shows of an element with these states depends on its parent.
    pub(crate) fn shows_by_parent(self, states: States) -> bool {
        self.0.shows_by_parent && states.has(State::Visible) && !states.has(State::Showing)
    }

    /// Returns `true` if an element that reports itself gone is read all the same.
    pub(crate) fn looks_into_defunct(self, states: States, parent: Option<&Role>) -> bool {
        states.has(State::Defunct) && (self.0.looks_into_defunct)(parent)
    }

    /// Returns `true` if children of an element with this role may be listed although they are gone.
    pub(crate) fn has_fragile_children(self, role: &Role) -> bool {
        (self.0.has_fragile_children)(role)
    }

    /// Returns `true` if more than the role of a child with this role may be read.
    pub(crate) fn is_safe_child(self, role: &Role) -> bool {
        (self.0.is_safe_child)(role)
    }

    /// Returns `true` if an element with this role is a new object each time it is read, while the former ones keep answering.
    pub(crate) fn makes_anew(self, role: &Role) -> bool {
        (self.0.makes_anew)(role)
    }

    /// Returns `true` if nothing inside an element is visible, so that its children need not be read: a closed menu.
    pub(crate) fn is_closed(self, role: &Role, states: States, parent: Option<&Role>) -> bool {
        self.keeps_items_of_closed_menus
            && *role == Role::MENU
            && parent.is_some_and(|parent| [Role::MENU_BAR, Role::MENU].contains(parent))
            && !states.has(State::Selected)
    }

    /// Returns the parts that may change without an event when the area of an element is drawn.
    pub(crate) fn drawn_parts(self) -> ObjectAspects {
        match self.drawn_changes {
            DrawnChanges::Places => ObjectAspects::EXTENTS,
            DrawnChanges::PlacesStatesContents => {
                ObjectAspects::EXTENTS.and(ObjectAspects::STATES).and(ObjectAspects::BODY)
            }
            DrawnChanges::AllButKinds => ObjectAspects::ALL.without(ObjectAspects::KIND),
            DrawnChanges::All => ObjectAspects::ALL,
        }
    }

    /// The name of an element with this role, without what the toolkit makes of a missing one, or of one that it has from two places.
    pub(crate) fn given_name<'n>(self, role: &Role, name: &'n str) -> &'n str {
        (self.0.given_name)(role, name)
    }

    /// Returns the description of an element of this name.
    pub(crate) fn told_of(self, name: &str, description: String) -> String {
        (self.0.told_of)(name, description)
    }

    /// Returns `true` if an element only repeats the one around it: the button that a menu button of GTK 4 consists of.
    pub(crate) fn repeats(self, around: &Element, head: &AtspiObjectHeader, description: &str) -> bool {
        self.repeats_buttons
            && [&around.role, &head.role] == [&Role::PUSH_BUTTON; 2]
            && around.name == self.given_name(&head.role, head.name.trim())
            && around.description == self.told_of(&head.name, description.to_owned())
    }

    /// Returns `true` if an element with this role is a list to choose from that exposes its choice only by the
    /// selection of the list inside it, which browsers announce for that list and draw in the element.
    pub(crate) fn tells_choice_by_selection(self, role: &Role) -> bool {
        self.0.tells_choice_by_selection && *role == Role::COMBO_BOX
    }

    /// Returns the peculiarities that actions have to consider.
    pub(crate) fn quirks(self) -> Quirks {
        self.0.quirks
    }

    /// Returns `true` if an element with this role may be the part of a scroll bar that tells how far it goes.
    pub(crate) fn has_bar_inside(self, role: &Role) -> bool {
        (self.0.has_bar_inside)(role)
    }

    /// Returns `true` if an element only repeats another one and is left out with everything inside it.
    pub(crate) fn is_repetition(self, role: &Role, reported: Option<Rect<Screen>>) -> bool {
        (self.0.is_repetition)(role, reported)
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
    use crate::toolkits::{gtk4, qt};

    #[test]
    fn names_that_gtk_4_makes_up_or_says_twice_are_mended() {
        let check = |role: &Role, name: &str, expected: &str| {
            assert_eq!(AtspiToolkit(&gtk4::ELEMENTS).given_name(role, name), expected, "{role} {name}");
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
        assert_eq!(AtspiToolkit(&qt::ELEMENTS).given_name(&Role::PUSH_BUTTON, "7 7"), "7 7");
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
