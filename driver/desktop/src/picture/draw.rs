//! Drawing shapes into a picture, clipped to it.

use deskhand_ui::geometry::{Image, Rect};

use super::Picture;

/// A colour: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// The colour of the mark on the target of an action.
    pub const MARK: Self = Self([0xd9, 0x2d, 0x20]);
}

impl Picture {
    /// Fills a rectangle.
    pub fn fill(&mut self, area: &Rect<Image>, colour: Colour) {
        let whole = Rect::new(0, 0, self.region.width, self.region.height);
        let Some(area) = area.intersection(&whole) else { return };
        let index = |number: i32| usize::try_from(number).unwrap_or(0);
        let stride = index(self.region.width) * 3;
        for row in self.rgb.chunks_exact_mut(stride).skip(index(area.y)).take(index(area.height)) {
            for pixel in row.chunks_exact_mut(3).skip(index(area.x)).take(index(area.width)) {
                pixel.copy_from_slice(&colour.0);
            }
        }
    }

    /// Draws a frame of `thickness` pixels around the outside of a rectangle.
    pub fn outline(&mut self, inside: &Rect<Image>, thickness: u16, colour: Colour) {
        let thick = i32::from(thickness);
        let (x, y) = (inside.x.saturating_sub(thick), inside.y.saturating_sub(thick));
        let (width, height) =
            (inside.width.saturating_add(2 * thick), inside.height.saturating_add(2 * thick));
        for side in [
            Rect::new(x, y, width, thick),
            Rect::new(x, inside.bottom(), width, thick),
            Rect::new(x, y, thick, height),
            Rect::new(inside.right(), y, thick, height),
        ] {
            self.fill(&side, colour);
        }
    }
}
