//! The way of a drag, and what would be taken for a double click.

use std::time::{Duration, Instant};

use deskhand_ui::geometry::{Point, Screen};

/// A press sooner after another one near it is a double click: it drags nothing, and opens what a click selects. Chromium has this time
/// built in.
const DOUBLE_CLICK: Duration = Duration::from_millis(510);
/// Maximum distance in pixels between the two presses of a double click, along each axis; more than any
/// toolkit allows.
const DOUBLE_CLICK_NEAR: i32 = 10;
/// After this many positions the application must have recognised a drag.
pub(crate) const THRESHOLD_STEPS: usize = 4;
/// The pixels between two positions of a drag.
const STEP: i32 = 8;
/// The most positions of a drag.
const STEPS_MAX: i32 = 100;
/// Offsets in pixels around the last position. The extra motion events let the exchange of messages finish.
pub(crate) const ASIDE: [i32; 4] = [1, 0, 1, 0];

/// A press of a mouse button.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Press {
    pub(crate) at: Instant,
    pub(crate) place: Point<Screen>,
}

impl Press {
    /// Waits until a press at a place is no second click after this one.
    pub(crate) async fn let_pass(self, place: Point<Screen>) {
        if is_near(self.place, place) {
            tokio::time::sleep_until((self.at + DOUBLE_CLICK).into()).await;
        }
    }
}

/// Returns `true` if presses at two places may count as a double click.
fn is_near(a: Point<Screen>, b: Point<Screen>) -> bool {
    let apart = |a: i32, b: i32| a.abs_diff(b) <= DOUBLE_CLICK_NEAR.unsigned_abs();
    apart(a.x, b.x) && apart(a.y, b.y)
}

/// The positions of a drag, the last one being `to`.
pub(crate) fn path(from: Point<Screen>, to: Point<Screen>) -> Vec<Point<Screen>> {
    let (dx, dy) = (to.x.saturating_sub(from.x), to.y.saturating_sub(from.y));
    let steps = (dx.abs().max(dy.abs()) / STEP).clamp(2, STEPS_MAX);
    (1..=steps)
        .map(|step| {
            let part = |length: i32| length.saturating_mul(step) / steps;
            Point::new(from.x.saturating_add(part(dx)), from.y.saturating_add(part(dy)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presses_far_apart_are_no_double_click() {
        let near = |x: i32, y: i32| is_near(Point::new(100, 100), Point::new(x, y));
        assert!(near(100, 100) && near(110, 90));
        assert!(!near(111, 100) && !near(100, 40));
    }

    #[test]
    fn the_last_position_of_a_drag_is_its_target() {
        let check = |from: (i32, i32), to: (i32, i32), steps: usize| {
            let points = path(Point::new(from.0, from.1), Point::new(to.0, to.1));
            assert_eq!(points.len(), steps);
            assert_eq!(points.last(), Some(&Point::new(to.0, to.1)));
        };
        check((0, 0), (80, 8), 10);
        check((100, 100), (99, 100), 2);
        check((5, 5), (5, 5), 2);
        check((0, 0), (4000, 0), 100);
    }
}
