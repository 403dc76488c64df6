//! Which part of a picture changed, so that only that is read again.

use deskhand_core::geometry::{Rect, Screen};
use deskhand_desktop::Picture;

use crate::overlap::around;

/// The smallest rectangle around all pixels that differ; `None` if the pictures are equal. Pictures of different
/// regions differ everywhere.
pub(crate) fn changed(before: &Picture, now: &Picture) -> Option<Rect<Screen>> {
    if before.region != now.region || before.rgb.len() != now.rgb.len() {
        return Some(now.region);
    }
    let stride = usize::try_from(now.region.width).unwrap_or(0).max(1) * 3;
    let rows = before.rgb.chunks_exact(stride).zip(now.rgb.chunks_exact(stride));
    let mut found: Option<Rect<Screen>> = None;
    for ((old, new), y) in rows.zip(now.region.y..) {
        if old == new {
            continue;
        }
        let differs = |(one, other): (&u8, &u8)| one != other;
        let first = old.iter().zip(new).position(differs).unwrap_or(0) / 3;
        let last = old.iter().zip(new).rposition(differs).unwrap_or(0) / 3;
        let (first, last) = (i32::try_from(first).unwrap_or(0), i32::try_from(last).unwrap_or(0));
        let row = Rect::new(now.region.x + first, y, last - first + 1, 1);
        found = Some(found.map_or(row, |rect| around(&rect, &row)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_part_encloses_all_differences() {
        let before = Picture { region: Rect::new(100, 50, 10, 10), rgb: vec![0; 300] };
        assert_eq!(changed(&before, &before.clone()), None);
        let mut now = before.clone();
        now.rgb[(3 * 10 + 2) * 3 + 1] = 9;
        assert_eq!(changed(&before, &now), Some(Rect::new(102, 53, 1, 1)));
        now.rgb[(7 * 10 + 9) * 3] = 9;
        assert_eq!(changed(&before, &now), Some(Rect::new(102, 53, 8, 5)));
        let moved = Picture { region: Rect::new(101, 50, 10, 10), ..before.clone() };
        assert_eq!(changed(&before, &moved), Some(moved.region));
    }
}
