//! Waits until a window that has opened can be worked on.

use std::time::Duration;

use deskhand_core::{
    duration::milliseconds,
    ui::{State, WindowInfo},
};
use deskhand_desktop::{Aspect, Change, Desktop, DesktopError, DesktopResult, QuietLimits, TreeLimits};

use super::waited::Waited;
use crate::patience::watch_app;

/// After this time, a window whose application is unknown to assistive technology counts as one without elements, although its
/// toolkit could expose some.
const SILENT: Duration = Duration::from_secs(12);
/// How long a window that shows its elements must be quiet. LibreOffice goes on to enable single buttons of its toolbars by timers
/// of 50 to 150 ms.
const AT_REST: Duration = Duration::from_millis(25);

/// Waits until a window shows its elements and is idle; returns its current properties, or `None` if it closes.
pub(super) async fn at_rest<D: Desktop>(
    desktop: &D,
    opened: WindowInfo,
    waited: &mut Waited,
) -> DesktopResult<Option<WindowInfo>> {
    const ELEMENTS_MIN: usize = 3;
    let few = TreeLimits { nodes_max: ELEMENTS_MIN, ..TreeLimits::default() };
    let mut window = opened;
    let mut silent_ms = 0;
    let mut had_changes = false;
    // What an application does by timers once it has built its window: whether single controls take input, not whether it does.
    let only_enables = |change: &Change| {
        matches!(change, Change::Element { aspect: Aspect::State(State::Enabled | State::Sensitive), .. })
    };
    loop {
        let watch = match watch_app(desktop, window.id).await {
            Ok(watch) => watch,
            Err(DesktopError::NoWindow(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let windows = desktop.windows().await?;
        window = match windows.iter().find(|info| info.id == window.id) {
            Some(now) => now.clone(),
            None => return Ok(None),
        };
        let elements = match desktop.tree(window.id, few).await {
            Ok(tree) => tree.elements.len(),
            Err(DesktopError::NoWindow(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let shown = window.accessible && elements >= ELEMENTS_MIN;
        let mut quiet = QuietLimits { quiet: AT_REST, ..QuietLimits::default() };
        if had_changes {
            quiet.first_change = Duration::ZERO;
        }
        let settled = desktop.settle(watch, quiet).await?;
        waited.spent(settled.waited_ms);
        if !window.accessible {
            silent_ms += settled.waited_ms;
        }
        let shows_none = !window.accessible
            && (silent_ms >= milliseconds(SILENT) || !desktop.may_show_elements(&window).await?);
        let rests = settled.changes.iter().all(|change| had_changes && only_enables(change));
        if ((shown || shows_none) && rests) || waited.is_over() {
            return Ok(Some(window));
        }
        had_changes |= !settled.changes.is_empty();
    }
}
