//! The time that a wait for windows has taken.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use deskhand_desktop::{Desktop, DesktopResult, QuietLimits};
use deskhand_ui::{WindowInfo, duration::milliseconds};
use futures_util::future::{Either, select};

/// Maximum number of interruptions of a wait for a window.
const WAITS_MAX: usize = 1_000;
/// The longest wait for one change before the state is read again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Maximum duration of a wait with all reads meanwhile, as a multiple of its bound: an application that does
/// not answer makes each look as long as an answer may take.
const LOOKS_FACTOR: u32 = 2;

/// Time spent waiting.
pub(crate) struct WindowWait {
    pub(crate) spent_ms: u64,
    bound_ms: u64,
    /// When it ends at the latest.
    end: Instant,
    rounds: usize,
    /// Time since the last change, in milliseconds.
    pub(super) still_ms: u64,
}

impl WindowWait {
    pub(crate) fn new(bound: Duration) -> Self {
        let end = Instant::now() + bound * LOOKS_FACTOR;
        Self { spent_ms: 0, bound_ms: milliseconds(bound), end, rounds: 0, still_ms: 0 }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.spent_ms >= self.bound_ms || self.rounds >= WAITS_MAX || Instant::now() >= self.end
    }

    /// Waits for a change of the windows, or until anything else that changes, such as a new accessibility tree, is quiet.
    pub(crate) async fn for_windows<D: Desktop>(
        &mut self,
        desktop: &D,
        known: &[WindowInfo],
    ) -> DesktopResult<()> {
        let begun = Instant::now();
        let watch = desktop.watch(None).await?;
        if desktop.windows().await? != known {
            self.still_ms = 0;
            self.rounds += 1;
            return Ok(());
        }
        let left = Duration::from_millis(self.bound_ms.saturating_sub(self.spent_ms)).min(LOOK_AGAIN);
        let limits = QuietLimits { first_change: left, bound: left, ..QuietLimits::default() };
        let settled = pin!(desktop.settle(watch, limits));
        let changed = pin!(desktop.windows_changed(known, left));
        let (spent_ms, still) = match select(settled, changed).await {
            Either::Left((settled, _)) => {
                let settled = settled?;
                (settled.waited_ms, settled.changes.is_empty() && !settled.damaged)
            }
            Either::Right((windows, _)) => (milliseconds(begun.elapsed()), windows? == known),
        };
        self.still_ms = if still { self.still_ms + spent_ms } else { 0 };
        self.spent(spent_ms.max(1));
        Ok(())
    }

    /// Adds a wait.
    pub(super) const fn spent(&mut self, ms: u64) {
        self.spent_ms += ms;
        self.rounds += 1;
    }
}
