//! Tells self-repeating drawing (a blinking caret, a spinner, a clock) from drawing in response to something.

use std::{
    collections::HashMap,
    ops::RangeInclusive,
    time::{Duration, Instant},
};

use deskhand_ui::geometry::{Rect, Screen};

/// The most areas whose rhythm is tracked.
const AREAS_MAX: usize = 512;
/// Drawing events closer together than this count as one.
const ONE_DRAWING: Duration = Duration::from_millis(5);
/// The slowest rhythm that is recognised.
const GAP_MAX: Duration = Duration::from_secs(3);
/// After this many equal gaps an area has a rhythm.
const EQUAL_GAPS: u32 = 3;
/// The largest caret.
const CARET_WIDTH: i32 = 4;
const CARET_HEIGHT: i32 = 72;

/// The side of the square tiles that are tracked, in pixels.
const TILE: i32 = 64;
/// The most tiles that are tracked.
const TILES_MAX: usize = 4_096;
/// Larger areas are not tracked by tiles.
const TILES_OF_AREA_MAX: i32 = 64;
/// A longer gap starts a new streak.
const STREAK_GAP_MAX: Duration = Duration::from_millis(800);
/// A tile that was drawn for this long, this often, belongs to something that moves.
const STREAK_LASTS: Duration = Duration::from_secs(1);
const STREAK_DRAWINGS: u32 = 8;

/// Duration and number of drawings of a tile without a longer gap.
#[derive(Debug, Clone, Copy)]
struct Streak {
    begun: Instant,
    last: Instant,
    drawings: u32,
}

impl Streak {
    const fn new(now: Instant) -> Self {
        Self { begun: now, last: now, drawings: 1 }
    }

    fn draw(&mut self, now: Instant) {
        let gap = now.saturating_duration_since(self.last);
        if gap > STREAK_GAP_MAX {
            *self = Self::new(now);
        } else if gap >= ONE_DRAWING {
            self.last = now;
            self.drawings = self.drawings.saturating_add(1);
        }
    }

    fn is_lasting(&self) -> bool {
        self.drawings >= STREAK_DRAWINGS && self.last.saturating_duration_since(self.begun) >= STREAK_LASTS
    }
}

/// The drawing history of an area of a window.
#[derive(Debug, Clone, Copy)]
struct Beat {
    last: Instant,
    /// The last two gaps: a caret is visible longer than hidden.
    gaps: [Duration; 2],
    equal: u32,
}

/// The rhythms of the areas of all windows.
#[derive(Debug, Default)]
pub(crate) struct Rhythms {
    beats: HashMap<(u32, Rect<Screen>), Beat>,
    /// By window, column and row: a moving object is drawn at another place each time.
    tiles: HashMap<(u32, i32, i32), Streak>,
}

impl Rhythms {
    /// Records that an area of a window was drawn; returns whether its drawing repeats by itself.
    pub(crate) fn repeats_by_itself(&mut self, window: u32, area: Rect<Screen>, now: Instant) -> bool {
        if area.width <= CARET_WIDTH && area.height <= CARET_HEIGHT {
            return true;
        }
        let moves = self.is_drawn_continually(window, area, now);
        if self.beats.len() >= AREAS_MAX {
            self.beats.retain(|_, beat| now.saturating_duration_since(beat.last) < GAP_MAX);
            if self.beats.len() >= AREAS_MAX {
                self.beats.clear();
            }
        }
        let first = Beat { last: now, gaps: [Duration::ZERO; 2], equal: 0 };
        let beat = self.beats.entry((window, area)).or_insert(first);
        let gap = now.saturating_duration_since(beat.last);
        if gap >= ONE_DRAWING {
            let fits = |before: &Duration| {
                let tolerance = Duration::from_millis(20).max(*before / 4);
                !before.is_zero() && gap.abs_diff(*before) <= tolerance
            };
            beat.equal = if gap <= GAP_MAX && beat.gaps.iter().any(fits) { beat.equal + 1 } else { 0 };
            beat.gaps = [gap, beat.gaps[0]];
            beat.last = now;
        }
        moves || beat.equal >= EQUAL_GAPS
    }

    /// Returns `true` if every part of an area has been drawn repeatedly for a while.
    fn is_drawn_continually(&mut self, window: u32, area: Rect<Screen>, now: Instant) -> bool {
        let last = |start: i32, length: i32| start.saturating_add(length.max(1) - 1).div_euclid(TILE);
        let columns = area.x.div_euclid(TILE)..=last(area.x, area.width);
        let rows = area.y.div_euclid(TILE)..=last(area.y, area.height);
        let count = |range: &RangeInclusive<i32>| range.end() - range.start() + 1;
        if count(&columns).saturating_mul(count(&rows)) > TILES_OF_AREA_MAX {
            return false;
        }
        if self.tiles.len() >= TILES_MAX {
            self.tiles.retain(|_, tile| now.saturating_duration_since(tile.last) <= STREAK_GAP_MAX);
            if self.tiles.len() >= TILES_MAX {
                self.tiles.clear();
            }
        }
        let mut all = true;
        for column in columns {
            for row in rows.clone() {
                let tile = self.tiles.entry((window, column, row)).or_insert_with(|| Streak::new(now));
                tile.draw(now);
                all &= tile.is_lasting();
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws an area with these gaps in milliseconds, and checks the result for the last one.
    fn check(area: [i32; 4], gaps: &[u64], expected: bool) {
        let mut rhythms = Rhythms::default();
        let mut now = Instant::now();
        let mut repeats = rhythms.repeats_by_itself(1, area.into(), now);
        for gap in gaps {
            now += Duration::from_millis(*gap);
            repeats = rhythms.repeats_by_itself(1, area.into(), now);
        }
        assert_eq!(repeats, expected, "{area:?} {gaps:?}");
    }

    #[test]
    fn carets_spinners_and_clocks_are_recognised() {
        check([100, 100, 2, 18], &[], true);
        check([100, 100, 32, 32], &[33, 34, 33, 33, 32], true);
        check([100, 100, 60, 20], &[1000, 1003, 998, 1001, 1000], true);
        // A caret that is drawn together with its surroundings: visible longer than hidden.
        check([100, 100, 9, 20], &[800, 400, 801, 399, 800, 402], true);
    }

    #[test]
    fn a_moving_object_is_recognised_after_a_while() {
        let mut rhythms = Rhythms::default();
        let begun = Instant::now();
        let repeats: Vec<bool> = (0..100)
            .map(|step: u32| {
                let left = 100 + i32::try_from(step).unwrap() * 37 % 200;
                // Not a steady rhythm either.
                let now = begun + Duration::from_millis(u64::from(step * 60 + step % 3 * 15));
                rhythms.repeats_by_itself(1, Rect::new(left, 100, 60, 30), now)
            })
            .collect();
        assert!(!repeats[..16].contains(&true), "{repeats:?}");
        assert!(!repeats[50..].contains(&false), "{repeats:?}");
        let beside = Rect::new(600, 100, 60, 30);
        assert!(!rhythms.repeats_by_itself(1, beside, begun + Duration::from_secs(8)));
    }

    #[test]
    fn drawing_caused_by_a_person_has_no_rhythm() {
        check([100, 100, 80, 30], &[], false);
        check([100, 100, 80, 30], &[90, 700, 120, 1900, 85], false);
        check([100, 100, 80, 30], &[500, 500], false);
        check([100, 100, 80, 30], &[9000, 9000, 9000, 9000, 9000], false);
    }
}
