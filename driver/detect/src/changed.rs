//! Which parts of a picture changed, so that only those are read again.

use deskhand_desktop::Picture;
use deskhand_ui::geometry::{Rect, Screen};

use crate::overlap::around;

/// The sides of the tiles that are compared, in pixels. Changes in neighbouring tiles are one.
const TILE_WIDTH: usize = 32;
const TILE_HEIGHT: usize = 16;

/// The areas that differ, each a rectangle around pixels that do and are near each other; none if the pictures are equal. Pictures of
/// different regions differ everywhere.
pub(crate) fn changes(before: &Picture, now: &Picture) -> Vec<Rect<Screen>> {
    if before.region != now.region || before.rgb.len() != now.rgb.len() {
        return vec![now.region];
    }
    let mut tiles = Tiles::compare(before, now);
    let found: Vec<Rect<Screen>> = (0..tiles.differ.len()).filter_map(|start| tiles.take(start)).collect();
    found
}

/// Differences in each tile, from the left and the top.
struct Tiles {
    across: usize,
    differ: Vec<Option<Rect<Screen>>>,
}

impl Tiles {
    fn compare(before: &Picture, now: &Picture) -> Self {
        let width = usize::try_from(now.region.width).unwrap_or(0).max(1);
        let height = usize::try_from(now.region.height).unwrap_or(0);
        let across = width.div_ceil(TILE_WIDTH);
        let mut differ = vec![None; across * height.div_ceil(TILE_HEIGHT)];
        let rows = before.rgb.chunks_exact(width * 3).zip(now.rgb.chunks_exact(width * 3));
        for (y, (old, new)) in rows.enumerate().filter(|(_, (old, new))| old != new) {
            let parts = old.chunks(TILE_WIDTH * 3).zip(new.chunks(TILE_WIDTH * 3));
            for (column, (old, new)) in parts.enumerate() {
                let unlike = |(one, other): (&u8, &u8)| one != other;
                let Some(first) = old.iter().zip(new).position(unlike) else { continue };
                let last = old.iter().zip(new).rposition(unlike).unwrap_or(first);
                let side = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
                let x = now.region.x + side(column * TILE_WIDTH + first / 3);
                let row = Rect::new(x, now.region.y + side(y), side(last / 3 - first / 3 + 1), 1);
                if let Some(tile) = differ.get_mut(y / TILE_HEIGHT * across + column) {
                    *tile = Some(tile.map_or(row, |known: Rect<Screen>| around(&known, &row)));
                }
            }
        }
        Self { across, differ }
    }

    /// Takes out the differences in a tile and in those beside it, and returns their area.
    fn take(&mut self, start: usize) -> Option<Rect<Screen>> {
        let mut found = self.differ.get_mut(start)?.take()?;
        let mut waiting = vec![start];
        while let Some(place) = waiting.pop() {
            let column = place % self.across;
            for above in
                [place.checked_sub(self.across), Some(place), Some(place + self.across)].into_iter().flatten()
            {
                let beside = [(column > 0).then(|| above.saturating_sub(1)), Some(above)];
                let right = (column + 1 < self.across).then_some(above + 1);
                for next in beside.into_iter().chain([right]).flatten() {
                    if let Some(tile) = self.differ.get_mut(next).and_then(Option::take) {
                        found = around(&found, &tile);
                        waiting.push(next);
                    }
                }
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_enclose_what_differs_and_are_apart_where_it_is() {
        let before = Picture { region: Rect::new(100, 50, 200, 100), rgb: vec![0; 60_000] };
        assert_eq!(changes(&before, &before.clone()), []);
        let mut now = before.clone();
        let mut set = |x: usize, y: usize| now.rgb[(y * 200 + x) * 3 + 1] = 9;
        set(2, 3);
        assert_eq!(changes(&before, &now), [Rect::new(102, 53, 1, 1)]);
        let mut set = |x: usize, y: usize| now.rgb[(y * 200 + x) * 3] = 9;
        // Across the edges of tiles, and far away.
        set(33, 17);
        set(60, 20);
        set(199, 99);
        assert_eq!(changes(&before, &now), [Rect::new(102, 53, 59, 18), Rect::new(299, 149, 1, 1)]);
        let moved = Picture { region: Rect::new(101, 50, 200, 100), ..before.clone() };
        assert_eq!(changes(&before, &moved), [moved.region]);
    }
}
