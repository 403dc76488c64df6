//! Tells drawing that goes on by itself, a caret that blinks, a spinner, a clock, from drawing that answers something.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use deskhand_core::geometry::{Rect, Screen};

/// The most areas whose rhythm is followed.
const AREAS_MAX: usize = 512;
/// What comes closer together than this is one drawing.
const ONE_DRAWING: Duration = Duration::from_millis(5);
/// The slowest rhythm.
const GAP_MAX: Duration = Duration::from_secs(3);
/// After so many gaps of the same length an area has a rhythm.
const EQUAL_GAPS: u32 = 3;
/// The widest and highest caret.
const CARET_WIDTH: i32 = 4;
const CARET_HEIGHT: i32 = 72;

/// How an area of a window was drawn until now.
#[derive(Debug, Clone, Copy)]
struct Beat {
    last: Instant,
    /// The last two gaps: a caret is shown longer than it is hidden.
    gaps: [Duration; 2],
    equal: u32,
}

/// The rhythms of the areas of all windows.
#[derive(Debug, Default)]
pub(crate) struct Rhythms {
    beats: HashMap<(u32, Rect<Screen>), Beat>,
}

impl Rhythms {
    /// An area of a window was drawn; whether that goes on by itself.
    pub(crate) fn goes_on_by_itself(&mut self, window: u32, area: Rect<Screen>, now: Instant) -> bool {
        if area.width <= CARET_WIDTH && area.height <= CARET_HEIGHT {
            return true;
        }
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
        beat.equal >= EQUAL_GAPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws an area with these gaps in milliseconds, and tells what was said of the last one.
    fn check(area: [i32; 4], gaps: &[u64], expected: bool) {
        let mut rhythms = Rhythms::default();
        let mut now = Instant::now();
        let mut told = rhythms.goes_on_by_itself(1, area.into(), now);
        for gap in gaps {
            now += Duration::from_millis(*gap);
            told = rhythms.goes_on_by_itself(1, area.into(), now);
        }
        assert_eq!(told, expected, "{area:?} {gaps:?}");
    }

    #[test]
    fn carets_spinners_and_clocks_go_on_by_themselves() {
        check([100, 100, 2, 18], &[], true);
        check([100, 100, 32, 32], &[33, 34, 33, 33, 32], true);
        check([100, 100, 60, 20], &[1000, 1003, 998, 1001, 1000], true);
        // A caret that is drawn with what is around it: shown longer than hidden.
        check([100, 100, 9, 20], &[800, 400, 801, 399, 800, 402], true);
    }

    #[test]
    fn what_a_person_does_has_no_such_rhythm() {
        check([100, 100, 80, 30], &[], false);
        check([100, 100, 80, 30], &[90, 700, 120, 1900, 85], false);
        check([100, 100, 80, 30], &[500, 500], false);
        check([100, 100, 80, 30], &[9000, 9000, 9000, 9000, 9000], false);
    }
}
