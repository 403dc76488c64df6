//! Detection of a caret at drawn words: typed text goes to the place that has one, and a mere copy of the text,
//! as in a label, has none.

use deskhand_desktop::Picture;
use deskhand_ui::geometry::{Rect, Screen};

/// From which difference of a channel two pixels are different, of 255.
const DIFFERENT_FROM: u8 = 40;
/// Margin around words that belongs to them, in pixels.
const AROUND: i32 = 2;
/// Distance of a caret behind words that is always accepted, in pixels, whatever their height.
const BEHIND_MIN: i32 = 4;

/// Pictures of a window: before something was typed, at the look before this one if there was one, and now.
pub(crate) struct CaretPictures<'a> {
    pub(crate) before: Option<&'a Picture>,
    pub(crate) last: Option<&'a Picture>,
    pub(crate) now: Option<&'a Picture>,
}

impl CaretPictures<'_> {
    /// Returns `true` if a caret is seen at words: one stood there before, one stands behind them, or something blinks there.
    pub(crate) fn show_caret(&self, words: &Rect<Screen>) -> bool {
        let around = words.grown_by(AROUND);
        self.before.is_some_and(|before| !is_blank(before, &around))
            || self.now.is_some_and(|now| stands_behind(now, words))
            || self
                .last
                .zip(self.now)
                .is_some_and(|(last, now)| differ(last, now, &words.grown_by(BEHIND_MIN)))
    }
}

/// Returns `true` if an area has one colour.
fn is_blank(picture: &Picture, area: &Rect<Screen>) -> bool {
    let Some(part) = picture.part(area) else { return true };
    let mut pixels = part.rgb.chunks_exact(3);
    let Some(first) = pixels.next() else { return true };
    pixels.all(|pixel| !is_different(first, pixel))
}

/// Returns `true` if an area is not the same in two pictures.
fn differ(one: &Picture, other: &Picture, area: &Rect<Screen>) -> bool {
    let (Some(one), Some(other)) = (one.part(area), other.part(area)) else { return false };
    let pixels = one.rgb.chunks_exact(3).zip(other.rgb.chunks_exact(3));
    one.region != other.region || pixels.into_iter().any(|(one, other)| is_different(one, other))
}

/// Returns `true` if a stroke that is higher than the words stands right behind them.
fn stands_behind(picture: &Picture, words: &Rect<Screen>) -> bool {
    let far = BEHIND_MIN.max(words.height / 4);
    let strip = Rect::new(words.right(), words.y - 1, far, words.height + 2);
    let Some(strip) = picture.part(&strip).filter(|part| part.region.height == strip.height) else {
        return false;
    };
    let columns = usize::try_from(strip.region.width).unwrap_or(0);
    let pixel = |row: &[u8], column: usize| row.get(column * 3..column * 3 + 3).map(<[u8]>::to_vec);
    let rows: Vec<&[u8]> = strip.rgb.chunks_exact((columns * 3).max(1)).collect();
    // What is farthest away is the ground that a stroke stands on, unless it reaches that far.
    let ground = rows.first().and_then(|row| pixel(row, columns.checked_sub(1)?));
    let Some(ground) = ground else { return false };
    let is_stroke = |column: usize| {
        rows.iter().all(|row| pixel(row, column).is_some_and(|pixel| is_different(&ground, &pixel)))
    };
    (0..columns).any(is_stroke)
}

fn is_different(one: &[u8], other: &[u8]) -> bool {
    one.iter().zip(other).any(|(one, other)| one.abs_diff(*other) >= DIFFERENT_FROM)
}

#[cfg(test)]
#[path = "caret_tests.rs"]
mod tests;
