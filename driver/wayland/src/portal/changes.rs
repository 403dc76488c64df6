//! Differences between two pictures of a monitor, as a few rectangles.

use deskhand_ui::geometry::{Rect, Screen};

/// The side of a tile that is compared at once, in units.
const TILE: usize = 16;
/// The bytes of a pixel.
pub(super) const PIXEL: usize = 4;

/// The areas that differ, each with its exact bounds, from the origin of the pictures: tiles that touch are one area.
pub(super) fn changes(before: &[u8], after: &[u8], width: usize, height: usize) -> Vec<Rect<Screen>> {
    let columns = width.div_ceil(TILE);
    let mut open: Vec<Option<[usize; 4]>> = vec![None; columns * height.div_ceil(TILE)];
    let row_bytes = width * PIXEL;
    let rows = before.chunks_exact(row_bytes.max(1)).zip(after.chunks_exact(row_bytes.max(1)));
    for (y, (old, new)) in rows.enumerate().take(height) {
        if old == new {
            continue;
        }
        let tiles = old.chunks(TILE * PIXEL).zip(new.chunks(TILE * PIXEL));
        for (column, (old, new)) in tiles.enumerate() {
            let differs = |(old, new): (&[u8], &[u8])| old != new;
            let mut pixels = old.chunks_exact(PIXEL).zip(new.chunks_exact(PIXEL));
            let Some(first) = pixels.position(differs) else { continue };
            let last = pixels.enumerate().rfind(|(_, pair)| differs(*pair)).map(|(at, _)| first + 1 + at);
            let (left, right) = (column * TILE + first, column * TILE + last.unwrap_or(first) + 1);
            if let Some(tile) = open.get_mut(y / TILE * columns + column) {
                let [x, top, end, _] = tile.unwrap_or([left, y, right, y]);
                *tile = Some([x.min(left), top, end.max(right), y + 1]);
            }
        }
    }
    joined(&mut open, columns)
}

/// Joins the bounds of tiles that touch.
fn joined(open: &mut [Option<[usize; 4]>], columns: usize) -> Vec<Rect<Screen>> {
    let mut areas = Vec::new();
    for start in 0..open.len() {
        let Some(mut all) = open.get_mut(start).and_then(Option::take) else { continue };
        let mut reached = vec![start];
        while let Some(at) = reached.pop() {
            for near in beside(at, columns) {
                let Some([x, y, right, bottom]) = open.get_mut(near).and_then(Option::take) else { continue };
                let [left, top, end, low] = all;
                all = [left.min(x), top.min(y), end.max(right), low.max(bottom)];
                reached.push(near);
            }
        }
        let [left, top, right, bottom] = all.map(|side| i32::try_from(side).unwrap_or(i32::MAX));
        areas.push(Rect::new(left, top, right - left, bottom - top));
    }
    areas
}

/// The tiles around one.
fn beside(at: usize, columns: usize) -> impl Iterator<Item = usize> {
    let (row, column) = (at / columns.max(1), at % columns.max(1));
    let around = |middle: usize| middle.saturating_sub(1)..=middle + 1;
    around(row)
        .flat_map(move |row| around(column).map(move |column| (row, column)))
        .filter(move |(_, column)| *column < columns)
        .map(move |(row, column)| row * columns + column)
        .filter(move |near| *near != at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_found_with_its_exact_bounds() {
        let (width, height) = (100, 60);
        let before = vec![7; width * height * PIXEL];
        let paint = |areas: &[[usize; 4]]| {
            let mut after = before.clone();
            for [left, top, right, bottom] in areas {
                for y in *top..*bottom {
                    after[(y * width + left) * PIXEL..(y * width + right) * PIXEL].fill(9);
                }
            }
            changes(&before, &after, width, height)
        };
        assert_eq!(paint(&[]), []);
        assert_eq!(paint(&[[3, 5, 41, 37]]), [Rect::new(3, 5, 38, 32)]);
        assert_eq!(
            paint(&[[0, 0, 1, 1], [99, 59, 100, 60]]),
            [Rect::new(0, 0, 1, 1), Rect::new(99, 59, 1, 1)]
        );
        assert_eq!(paint(&[[0, 0, 100, 60]]), [Rect::new(0, 0, 100, 60)]);
    }
}
