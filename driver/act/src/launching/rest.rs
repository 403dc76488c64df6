//! Waits until a window that has opened can be worked on.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, ElementChangeKind, IdleReport, QuietLimits, TreeLimits, UiChange,
};
use deskhand_ui::{
    IncompleteTreeCause, Role, State, WindowInfo, WindowKind, duration::milliseconds, ids::WindowId,
};
use futures_util::future::{Either, select};

use super::waited::WindowWait;
use crate::patience::watch_app;

/// After this time, a window whose application is unknown to assistive technology counts as one without elements, although its
/// toolkit could expose some, and so does one whose application does not answer.
const SILENT: Duration = Duration::from_secs(12);
/// Time that a window that shows its elements must be quiet. LibreOffice continues to enable single buttons of
/// its toolbars by timers of 50 to 150 ms.
const AT_REST: Duration = Duration::from_millis(25);
/// Maximum time after opening for which a window that shows elements may continue to change. Then it can be
/// worked in, unless more elements come.
const CHANGES_MAX: Duration = Duration::from_millis(750);
/// Time that the number of elements of a continuously changing window must stay the same.
const COUNT_APART: Duration = Duration::from_millis(300);
/// Maximum time after opening to wait for more elements: a list may grow for ever.
const GROWTH_MAX: Duration = Duration::from_secs(5);
/// The fewest elements of a window that can be worked on.
const ELEMENTS_MIN: usize = 3;
/// Maximum number of elements of a window that are read once, as soon as it shows any, so that the desktop
/// learns which of its areas are drawn.
const LEARNT_MAX: usize = 60;
/// Maximum time after opening to wait for a dialog that shows progress: the application prepares its window,
/// and closes the dialog by itself.
const PROGRESS_MAX: Duration = Duration::from_secs(15);
/// The longest wait until it is read again what a window shows.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Waits until a window, which came at `since`, can be worked on; returns its current properties, or `None` if it closes.
pub(super) async fn at_rest<D: Desktop>(
    desktop: &D,
    opened: WindowInfo,
    since: Instant,
    waited: &mut WindowWait,
) -> DesktopResult<Option<WindowInfo>> {
    let mut window = opened;
    loop {
        let windows = desktop.windows().await?;
        let Some(idle) = idle(desktop, window, since, waited).await? else { return Ok(None) };
        if since.elapsed() >= PROGRESS_MAX || waited.is_over() || !shows_progress(desktop, &idle).await? {
            return Ok(Some(idle));
        }
        let begun = Instant::now();
        desktop.windows_changed(&windows, LOOK_AGAIN).await?;
        waited.spent(milliseconds(begun.elapsed()));
        window = idle;
    }
}

/// Returns `true` if a window is a dialog of no other window, with a progress bar or with its elements gone: it
/// is about to close.
async fn shows_progress<D: Desktop>(desktop: &D, window: &WindowInfo) -> DesktopResult<bool> {
    if window.kind != WindowKind::Dialog || !window.stands_alone() {
        return Ok(false);
    }
    let limits = TreeLimits { nodes_max: LEARNT_MAX, cells: false, ..TreeLimits::default() };
    match desktop.tree(window.id, limits).await {
        Ok(tree) => {
            let is_emptied = window.accessible && tree.elements.len() < ELEMENTS_MIN;
            Ok(is_emptied || tree.elements.iter().any(|one| one.role == Role::PROGRESS_BAR))
        }
        // The next look finds that it has gone.
        Err(DesktopError::NoWindow(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Waits until a window shows its elements and is idle, or goes on to change and shows no more of them; `None` if it closes.
async fn idle<D: Desktop>(
    desktop: &D,
    opened: WindowInfo,
    since: Instant,
    waited: &mut WindowWait,
) -> DesktopResult<Option<WindowInfo>> {
    let few = TreeLimits { nodes_max: ELEMENTS_MIN, ..TreeLimits::default() };
    let mut window = opened;
    let mut silent_ms = 0;
    let mut had_changes = false;
    let mut learnt = false;
    let mut counted: Option<(usize, Instant)> = None;
    // What an application does by timers once it has built its window: whether single controls take input, not whether it does.
    let only_enables = |change: &UiChange| {
        matches!(
            change,
            UiChange::Element { aspect: ElementChangeKind::State(State::Enabled | State::Sensitive), .. }
        )
    };
    loop {
        let looked = Instant::now();
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
        let Some(looked_at) = look_at(desktop, window.id, few).await? else { return Ok(None) };
        let shown = window.accessible && looked_at.elements >= ELEMENTS_MIN;
        if shown && !learnt {
            tracing::debug!(window = %window.id, "a window shows its first elements");
            // What reads drawn areas is made ready while the window opens.
            let limits = TreeLimits { nodes_max: LEARNT_MAX, cells: false, ..TreeLimits::default() };
            learnt = count(desktop, window.id, limits).await?.is_some();
        }
        if shown && since.elapsed() >= CHANGES_MAX {
            let Some(now) = count(desktop, window.id, TreeLimits::default()).await? else { return Ok(None) };
            let (before, at) = counted.filter(|(before, _)| *before == now).unwrap_or((now, Instant::now()));
            if at.elapsed() >= COUNT_APART || since.elapsed() >= GROWTH_MAX {
                waited.spent(desktop.settle(watch, QuietLimits::HANDLED).await?.waited_ms);
                return Ok(Some(window));
            }
            counted = Some((before, at));
        }
        let left = CHANGES_MAX.saturating_sub(since.elapsed());
        let bound = if shown { left.max(COUNT_APART) } else { LOOK_AGAIN };
        let mut quiet = QuietLimits { quiet: AT_REST, bound, ..QuietLimits::default() };
        if had_changes {
            quiet.first_change = Duration::ZERO;
        }
        let begun = Instant::now();
        let settled = settle_or_change(desktop, watch, quiet, &windows).await?;
        let waited_ms = settled.as_ref().map_or_else(|| milliseconds(begun.elapsed()), |one| one.waited_ms);
        waited.spent(waited_ms);
        let is_silent = !window.accessible || (!shown && !looked_at.answers);
        if is_silent {
            // With the look: an application that does not answer makes it long.
            silent_ms += milliseconds(looked.elapsed()).max(waited_ms);
        }
        let shows_none = is_silent
            && (silent_ms >= milliseconds(SILENT)
                || (!window.accessible && !desktop.may_show_elements(&window).await?));
        let rests = settled.as_ref().is_some_and(|settled| {
            !settled.timed_out && settled.changes.iter().all(|change| had_changes && only_enables(change))
        });
        // One that does not answer never says that it rests.
        let never_answers = is_silent && silent_ms >= 2 * milliseconds(SILENT);
        if ((shown || shows_none) && rests) || never_answers || waited.is_over() {
            return Ok(Some(window));
        }
        had_changes |= settled.is_none_or(|settled| !settled.changes.is_empty());
    }
}

/// Result of a look at a window.
struct WindowReadiness {
    elements: usize,
    /// `true` if the application answered in time.
    answers: bool,
}

/// Looks at a window within limits; `None` if it has gone.
async fn look_at<D: Desktop>(
    desktop: &D,
    window: WindowId,
    limits: TreeLimits,
) -> DesktopResult<Option<WindowReadiness>> {
    match desktop.tree(window, limits).await {
        Ok(tree) => Ok(Some(WindowReadiness {
            elements: tree.elements.len(),
            answers: !matches!(
                tree.partial,
                Some(IncompleteTreeCause::NotAnswering | IncompleteTreeCause::Deadline)
            ),
        })),
        Err(DesktopError::NoWindow(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Counts the elements that a window shows within limits; `None` if it has gone.
async fn count<D: Desktop>(
    desktop: &D,
    window: WindowId,
    limits: TreeLimits,
) -> DesktopResult<Option<usize>> {
    Ok(look_at(desktop, window, limits).await?.map(|look| look.elements))
}

/// Waits for quiet; `None` once the windows are not as they were: a greeting goes, or what it greeted for comes.
async fn settle_or_change<D: Desktop>(
    desktop: &D,
    watch: D::Watch,
    quiet: QuietLimits,
    windows: &[WindowInfo],
) -> DesktopResult<Option<IdleReport>> {
    let settled = pin!(desktop.settle(watch, quiet));
    let changed = pin!(desktop.windows_changed(windows, quiet.bound));
    let settled = match select(settled, changed).await {
        Either::Left((settled, _)) => settled,
        Either::Right((now, settled)) => {
            if now?.as_slice() != windows {
                return Ok(None);
            }
            // Both have the same bound.
            settled.await
        }
    };
    settled.map(Some)
}
