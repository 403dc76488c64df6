//! The frame that a viewer has, and which of its pixels differ in a newer one.

use deskhand_desktop::Picture;
use deskhand_ui::geometry::{Rect, Screen};

/// The side of the squares in which differences are collected, in pixels.
const TILE: usize = 32;
/// The most rectangles of one update.
pub(super) const RECTANGLES_MAX: usize = 12;
/// From how many rectangles on only neighbours are compared when they are merged.
const COMPARED_MAX: usize = 48;
/// The bytes of a pixel.
const PIXEL: usize = 3;

/// The pixels that were handed out last.
pub(super) struct ViewerFrame {
    picture: Picture,
}

impl ViewerFrame {
    /// A frame with the pixels of a whole screen.
    pub(super) const fn new(picture: Picture) -> Self {
        Self { picture }
    }

    /// The screen.
    pub(super) const fn region(&self) -> Rect<Screen> {
        self.picture.region
    }

    /// No differences yet.
    pub(super) fn unchanged(&self) -> Changes {
        let Rect { x, y, width, height, .. } = self.picture.region;
        let (columns, rows) = (length(width).div_ceil(TILE), length(height).div_ceil(TILE));
        Changes { left: x, top: y, columns, tiles: vec![None; columns * rows] }
    }

    /// Takes over the pixels of `newer` and adds to `changes` where they differ. What is outside of the frame is left out.
    pub(super) fn take_over(&mut self, newer: &Picture, changes: &mut Changes) {
        let whole = self.picture.region;
        let Some(area) = newer.region.intersection(&whole) else { return };
        let (stride, newer_stride) = (length(whole.width) * PIXEL, length(newer.region.width) * PIXEL);
        let (left, width) = (length(area.x - whole.x), length(area.width));
        let skipped = length(area.x - newer.region.x) * PIXEL;
        let (top, skipped_rows) = (length(area.y - whole.y), length(area.y - newer.region.y));
        let rows = self.picture.rgb.chunks_exact_mut(stride.max(1)).skip(top).take(length(area.height));
        let newer_rows = newer.rgb.chunks_exact(newer_stride.max(1)).skip(skipped_rows);
        for ((y, row), newer_row) in (top..).zip(rows).zip(newer_rows) {
            let old = row.get_mut(left * PIXEL..(left + width) * PIXEL);
            let (Some(old), Some(new)) = (old, newer_row.get(skipped..skipped + width * PIXEL)) else {
                return;
            };
            if old != new {
                changes.compare_rows(left, y, old, new);
                old.copy_from_slice(new);
            }
        }
    }

    /// The pixels of an area; `None` if it is outside.
    pub(super) fn part(&self, area: &Rect<Screen>) -> Option<Picture> {
        self.picture.part(area)
    }
}

/// Areas whose pixels differ.
pub(super) struct Changes {
    left: i32,
    top: i32,
    columns: usize,
    /// For each tile, row by row, the box around its pixels that differ.
    tiles: Vec<Option<Rect<Screen>>>,
}

impl Changes {
    /// Adds the differences of two pieces of row `y` that begin in column `x`.
    fn compare_rows(&mut self, x: usize, y: usize, old: &[u8], new: &[u8]) {
        let (mut from, end) = (x, x + old.len() / PIXEL);
        while from < end {
            let to = ((from / TILE + 1) * TILE).min(end);
            let piece = (from - x) * PIXEL..(to - x) * PIXEL;
            let (old, new) = (old.get(piece.clone()).unwrap_or_default(), new.get(piece).unwrap_or_default());
            let differs = || old.iter().zip(new).map(|(old, new)| old != new);
            if old != new
                && let (Some(first), Some(last)) =
                    (differs().position(|differs| differs), differs().rposition(|differs| differs))
                && let Some(tile) = self.tiles.get_mut(y / TILE * self.columns + from / TILE)
            {
                let (first, last) = (first / PIXEL, last / PIXEL);
                let line = Rect::new(
                    self.left.saturating_add(coordinate(from + first)),
                    self.top.saturating_add(coordinate(y)),
                    coordinate(last - first + 1),
                    1,
                );
                *tile = Some(tile.map_or(line, |bounds| bounds.enclosing(&line)));
            }
            from = to;
        }
    }

    /// At most [`RECTANGLES_MAX`] rectangles that contain every pixel that differs.
    pub(super) fn rectangles(&self) -> Vec<Rect<Screen>> {
        /// Tiles side by side, below the same tiles of the row before.
        struct TileRun {
            columns: (usize, usize),
            last_row: usize,
            bounds: Rect<Screen>,
        }
        let mut runs: Vec<TileRun> = Vec::new();
        for (row, tiles) in self.tiles.chunks_exact(self.columns.max(1)).enumerate() {
            let mut column = 0;
            while column < tiles.len() {
                let beside = tiles.iter().skip(column).map_while(|tile| *tile);
                let Some(bounds) = beside.clone().reduce(|one, other| one.enclosing(&other)) else {
                    column += 1;
                    continue;
                };
                let columns = (column, column + beside.count());
                let is_below = |run: &&mut TileRun| run.columns == columns && run.last_row + 1 == row;
                match runs.iter_mut().find(is_below) {
                    Some(above) => {
                        (above.last_row, above.bounds) = (row, above.bounds.enclosing(&bounds));
                    }
                    None => runs.push(TileRun { columns, last_row: row, bounds }),
                }
                column = columns.1;
            }
        }
        merged(runs.into_iter().map(|run| run.bounds).collect(), RECTANGLES_MAX)
    }
}

/// Merges rectangles until there are no more than `most`, those first that waste the fewest pixels.
pub(super) fn merged(mut all: Vec<Rect<Screen>>, most: usize) -> Vec<Rect<Screen>> {
    while all.len() > most.max(1) {
        let reach = if all.len() > COMPARED_MAX { 1 } else { all.len() };
        let pairs = all.iter().enumerate().flat_map(|(at, one)| {
            let others = all.iter().enumerate().skip(at + 1).take(reach);
            others.map(move |(other_at, other)| (waste(one, other), at, other_at))
        });
        let Some((_, at, other)) = pairs.min() else { break };
        let other = all.remove(other);
        if let Some(one) = all.get_mut(at) {
            *one = one.enclosing(&other);
        }
    }
    all
}

/// Returns the number of pixels by which the rectangle around two others exceeds both of them.
fn waste(one: &Rect<Screen>, other: &Rect<Screen>) -> i64 {
    let pixels = |area: &Rect<Screen>| i64::from(area.width) * i64::from(area.height);
    pixels(&one.enclosing(other)) - pixels(one) - pixels(other)
}

fn length(pixels: i32) -> usize {
    usize::try_from(pixels).unwrap_or(0)
}

fn coordinate(pixels: usize) -> i32 {
    i32::try_from(pixels).unwrap_or(i32::MAX)
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
