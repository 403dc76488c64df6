//! Positions of elements on the screen: toolkits count from different places, some of them wrongly (`toolkits`
//! says what each does).

use deskhand_ui::{
    Role,
    geometry::{Rect, Screen},
};

use super::{
    application::CoordinateOrigin,
    quirks::AtspiToolkit,
    shift::{Scale, Shift, Within},
};

impl AtspiToolkit {
    /// The shift of the top-level object of a window.
    pub(super) fn frame_shift(
        self,
        reported: Option<Rect<Screen>>,
        window: Rect<Screen>,
        origin: CoordinateOrigin,
    ) -> Shift {
        let Some(reported) = reported else { return Shift::NONE };
        let to_window = |scale: Scale| {
            let reported = scale.apply(reported);
            Shift { x: window.x - reported.x, y: window.y - reported.y, scale, ..Shift::NONE }
        };
        let scale = Scale::of(reported, window);
        match origin {
            CoordinateOrigin::Window => {
                let ((left, top), shift) = (shadow(reported, window), to_window(Scale::default()));
                Shift { x: shift.x - left, y: shift.y - top, ..shift }
            }
            CoordinateOrigin::Screen if self.counts_from_window => to_window(scale),
            CoordinateOrigin::Screen => {
                // Qt counts from the monitor.
                let is_moved = scale != Scale::default() && scale.makes_same(reported, window);
                if is_moved { to_window(scale) } else { Shift { scale, ..Shift::NONE } }
            }
        }
    }

    /// The shift of an element on Wayland, given that of its parent and the roles of both. GTK 3 counts the place of a menu from the widget
    /// that it was opened on, and forgets that its shadow lies outside of that place. The menus of a menu bar are opened on the window itself;
    /// of others, which their own top-level objects repeat, the place is not known.
    pub(super) fn pop_up_shift(self, role: &Role, parent_role: &Role, parent: Shift) -> Shift {
        /// As the default theme has it, to the left and at the top. A menu inside of another one has the same.
        const SHADOW: (i32, i32) = (6, 5);
        if !self.selects_open_menus || parent.within != Within::Window || *parent_role == Role::MENU_BAR {
            return parent;
        }
        if *parent_role == Role::MENU {
            return Shift { x: parent.x - SHADOW.0, y: parent.y - SHADOW.1, within: Within::PopUp, ..parent };
        }
        let pops_up = [Role::MENU, Role::POPUP_MENU, Role::WINDOW].contains(role);
        if pops_up { Shift { within: Within::Nowhere, ..parent } } else { parent }
    }

    /// The shift of an element, given that of its parent and the extents of both.
    pub(super) fn shift(
        self,
        role: &Role,
        reported: Option<Rect<Screen>>,
        parent_shift: Shift,
        parent_reported: Option<Rect<Screen>>,
    ) -> Shift {
        if self.tells_pages_in_pixels && *role == Role::DOCUMENT_WEB {
            // What surrounds a page has places in units, a page in pixels of the screen.
            let is_scaled = parent_shift.scale != Scale::default();
            return if is_scaled { Shift::NONE } else { parent_shift };
        }
        let (true, Some(own), Some(parent)) = (self.misplaces_root_panes, reported, parent_reported) else {
            return parent_shift;
        };
        let scale = parent_shift.scale;
        let unshifted = Shift { scale, ..Shift::NONE };
        let (right, down) = (scale.pixels(parent.x - own.x), scale.pixels(parent.y - own.y));
        let lacking = Shift { x: right, y: down, ..unshifted };
        if *role == Role::ROOT_PANE {
            return lacking;
        }
        let is_island = parent_shift != unshifted
            && *role == Role::PANEL
            && own.width == parent.width
            && Shift { x: -right, y: -down, ..unshifted } == parent_shift;
        if is_island { unshifted } else { parent_shift }
    }
}

/// Returns the extra width of the shadow on the left and at the top of a window, given the extents of both
/// together and of the window alone. The light falls from above: the shadow is lower than the window.
fn shadow(reported: Rect<Screen>, window: Rect<Screen>) -> (i32, i32) {
    /// Downward offset of the shadow, in pixels, in the themes of GTK.
    const LOWER: i32 = 3;
    let (width, height) = (reported.width - window.width, reported.height - window.height);
    if width <= 0 || height <= 0 { (0, 0) } else { (width / 2, (height / 2 - LOWER).max(0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolkits::{chromium, gtk3, libreoffice};

    #[test]
    fn vcl_is_shifted_below_its_root_pane_but_gtk_inside_it_is_not() {
        let rect = |y: i32| Some(Rect::new(0, y, 138, 23));
        let office = AtspiToolkit(&libreoffice::ELEMENTS);
        let down = office.shift(&Role::ROOT_PANE, rect(19), Shift::NONE, rect(44));
        assert_eq!(down, Shift { x: 0, y: 25, ..Shift::NONE });
        assert_eq!(office.shift(&Role::TOOL_BAR, rect(60), down, rect(19)), down);
        assert_eq!(office.shift(&Role::PANEL, rect(1035), down, rect(1010)), Shift::NONE);
        assert_eq!(
            AtspiToolkit(&gtk3::ELEMENTS).shift(&Role::ROOT_PANE, rect(19), Shift::NONE, rect(44)),
            Shift::NONE
        );
    }

    #[test]
    fn a_page_is_told_in_pixels_whatever_surrounds_it() {
        let page =
            |around: Shift| AtspiToolkit(&chromium::ELEMENTS).shift(&Role::DOCUMENT_WEB, None, around, None);
        let scaled = AtspiToolkit(&chromium::ELEMENTS).frame_shift(
            Some(Rect::new(10, 10, 600, 400)),
            Rect::new(20, 20, 1200, 800),
            CoordinateOrigin::Screen,
        );
        assert_ne!(scaled, Shift::NONE);
        assert_eq!(AtspiToolkit(&chromium::ELEMENTS).shift(&Role::PANEL, None, scaled, None), scaled);
        assert_eq!(page(scaled), Shift::NONE);
        let moved = Shift { x: 3, ..Shift::NONE };
        assert_eq!(page(moved), moved);
    }
}
