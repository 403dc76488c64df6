//! From the coordinates that applications report to those of the screen.

use deskhand_ui::geometry::{Point, Rect, Screen};

/// Conversion of reported coordinates to those of the screen, in pixels: scaled, then moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shift {
    /// To the right.
    pub(crate) x: i32,
    /// Down.
    pub(crate) y: i32,
    /// Pixels per unit.
    pub(super) scale: Scale,
    /// Surface that it holds for.
    pub(super) within: Within,
}

/// Surface that a shift holds for, where applications do not learn the places of their windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Within {
    /// A window.
    #[default]
    Window,
    /// A pop-up whose place is known.
    PopUp,
    /// A pop-up whose place is not known, so that none of its elements has bounds.
    Nowhere,
}

/// Pixels of the screen per unit of a toolkit, in percent. Toolkits that draw larger for dense screens report
/// their own units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale(i32);

impl Default for Scale {
    fn default() -> Self {
        Self(100)
    }
}

impl Scale {
    /// Maximum difference between the sizes, in pixels: units are rounded.
    const ROUNDED: i32 = 2;
    /// The most that decorations add, in pixels.
    const DECORATED: i32 = 64;
    /// The scales that people set, after the usual one.
    const ALL: [Self; 9] =
        [Self(100), Self(200), Self(125), Self(150), Self(175), Self(225), Self(250), Self(300), Self(400)];

    /// The scale of a window, given the extents that its frame reports, which may be those with its decorations; the usual one if none
    /// makes them the same.
    pub(super) fn of(reported: Rect<Screen>, window: Rect<Screen>) -> Self {
        let is_decorated = |scale: &Self| {
            let (wider, higher) = larger(scale.apply(reported), window);
            [Self(200), Self(300)].contains(scale)
                && wider >= 0
                && higher >= 0
                && wider.max(higher) <= Self::DECORATED
        };
        let fits = |scale: &Self| scale.makes_same(reported, window) || is_decorated(scale);
        Self::ALL.into_iter().find(fits).unwrap_or_default()
    }

    /// Returns `true` if the sizes are the same in pixels.
    pub(super) fn makes_same(self, reported: Rect<Screen>, window: Rect<Screen>) -> bool {
        let (wider, higher) = larger(self.apply(reported), window);
        wider.abs().max(higher.abs()) <= Self::ROUNDED
    }

    /// A length in pixels.
    pub(super) fn pixels(self, length: i32) -> i32 {
        let pixels = (i64::from(length) * i64::from(self.0)).div_euclid(100);
        i32::try_from(pixels).unwrap_or(if length < 0 { i32::MIN } else { i32::MAX })
    }

    /// A length in units.
    fn units(self, pixels: i32) -> i32 {
        let units = (i64::from(pixels) * 100).div_euclid(i64::from(self.0.max(1)));
        i32::try_from(units).unwrap_or(if pixels < 0 { i32::MIN } else { i32::MAX })
    }

    /// A rectangle in pixels.
    pub(super) fn apply(self, reported: Rect<Screen>) -> Rect<Screen> {
        let Rect { x, y, width, height, .. } = reported;
        Rect::new(self.pixels(x), self.pixels(y), self.pixels(width), self.pixels(height))
    }
}

/// Returns how much wider and higher one rectangle is than another.
fn larger(one: Rect<Screen>, other: Rect<Screen>) -> (i32, i32) {
    (one.width - other.width, one.height - other.height)
}

impl Shift {
    /// Coordinates are correct as reported.
    pub(crate) const NONE: Self = Self { x: 0, y: 0, scale: Scale(100), within: Within::Window };

    /// Returns `true` if it leads to a place on the screen.
    pub(crate) fn is_known(self) -> bool {
        self.within != Within::Nowhere
    }

    /// Converts reported extents to the screen.
    pub(crate) fn apply(self, reported: Rect<Screen>) -> Rect<Screen> {
        let Rect { x, y, width, height, .. } = self.scale.apply(reported);
        Rect::new(x.saturating_add(self.x), y.saturating_add(self.y), width, height)
    }

    /// Converts a point of the screen to what is reported.
    pub(crate) fn undo(self, point: Point<Screen>) -> Point<Screen> {
        let units = |at: i32, moved: i32| self.scale.units(at.saturating_sub(moved));
        Point::new(units(point.x, self.x), units(point.y, self.y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_tells_its_scale_by_its_size() {
        let check = |reported: [i32; 2], window: [i32; 2], expected: i32| {
            let rect = |[width, height]: [i32; 2]| Rect::new(5, 7, width, height);
            assert_eq!(Scale::of(rect(reported), rect(window)), Scale(expected), "{reported:?} {window:?}");
        };
        check([400, 300], [400, 300], 100);
        check([400, 300], [800, 600], 200);
        check([401, 301], [601, 451], 150);
        // GTK 3 adds the decorations, and scales by whole numbers.
        check([1002, 723], [1000, 700], 100);
        check([1002, 712], [2000, 1400], 200);
        check([410, 310], [600, 450], 100);
        // One side alone says nothing.
        check([400, 300], [800, 300], 100);
    }

    #[test]
    fn what_is_converted_to_the_screen_is_converted_back() {
        let shift = Shift { x: 40, y: -6, scale: Scale(200), ..Shift::NONE };
        let bounds = shift.apply(Rect::new(10, 20, 30, 8));
        assert_eq!(bounds, Rect::new(60, 34, 60, 16));
        assert_eq!(shift.undo(bounds.center()), Point::new(25, 24));
    }
}
