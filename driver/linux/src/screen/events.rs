//! Events on the screen for its listeners, and the log of drawn areas.

use std::{collections::VecDeque, time::Instant};

use deskhand_ui::geometry::{Point, Rect, Screen};

/// Something that happened on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenEvent {
    /// A window was opened or closed, its title or the active window changed.
    WindowsChanged,
    /// Pixels of a top-level window changed.
    Damage {
        /// The X id of the window; 0 where it is not known, as on Wayland.
        window: u32,
        /// The bounding box of what was drawn.
        area: Rect<Screen>,
        /// `true` if all of it is a caret, or drawn repeatedly in a steady rhythm.
        by_itself: bool,
    },
    /// The display has ended.
    DisplayGone,
}

/// Areas drawn since the last call to [`DrawnLog::take`].
#[derive(Debug, Default)]
pub(crate) struct DrawnLog {
    areas: Vec<(Option<u32>, Rect<Screen>)>,
    /// More was drawn than is kept, or the server does not report it.
    overflowed: bool,
    /// The last drawings, whether taken or not, and when they came; the latest at the end.
    last: VecDeque<(Rect<Screen>, Instant)>,
}

impl DrawnLog {
    /// The most areas that are kept between two calls.
    const AREAS_MAX: usize = 4_096;
    /// The most drawings whose times are kept.
    const LAST_MAX: usize = 256;

    pub(crate) fn add(&mut self, pid: Option<u32>, area: Rect<Screen>, now: Instant) {
        if self.last.len() >= Self::LAST_MAX {
            self.last.pop_front();
        }
        self.last.push_back((area, now));
        if self.areas.last() == Some(&(pid, area)) {
            return;
        }
        if self.areas.len() >= Self::AREAS_MAX {
            self.areas.clear();
            self.overflowed = true;
        }
        self.areas.push((pid, area));
    }

    /// When anything was last drawn at a point, as far as that is kept.
    pub(crate) fn drawn_at(&self, point: Point<Screen>) -> Option<Instant> {
        self.last.iter().rev().find(|(area, _)| area.contains(&point)).map(|(_, at)| *at)
    }

    /// The last area of this size that was drawn since a moment, as far as that is kept.
    pub(crate) fn last_of_size(&self, width: i32, height: i32, since: Instant) -> Option<Rect<Screen>> {
        let fits = |area: &Rect<Screen>| (area.width, area.height) == (width, height);
        let late = self.last.iter().rev().take_while(|(_, at)| *at >= since);
        late.map(|(area, _)| *area).find(fits)
    }

    /// Takes the drawn areas, each with its process (`None` if that is unknown); `None` if the areas are unknown.
    pub(crate) fn take(&mut self) -> Option<Vec<(Option<u32>, Rect<Screen>)>> {
        let areas = std::mem::take(&mut self.areas);
        (!std::mem::take(&mut self.overflowed)).then_some(areas)
    }
}
