//! Watching an application, and retries of reads while it is busy: on a loaded machine it may take seconds to respond.
//! Only reads are retried; actions are never sent twice from here.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, IdleReport, QuietLimits, TreeLimits, UiChange};
use deskhand_ui::{
    Element, IncompleteTreeCause, Tree,
    action::{ActionOutcome, WaitedFor},
    duration::milliseconds,
    ids::{ElementId, WindowId},
};

use crate::difference::announced;

/// Maximum number of tries of a read before the application counts as not responding.
const TRIES_MAX: u32 = 4;

/// Starts to watch the application of a window, or the whole desktop if that window is gone.
pub(crate) async fn watch_app<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<D::Watch> {
    match desktop.watch(Some(window)).await {
        Err(DesktopError::NoWindow(_)) => desktop.watch(None).await,
        other => other,
    }
}

/// The times between two reads of what is waited for: they grow from one to the other.
pub(crate) const LOOKS_APART_MIN: Duration = Duration::from_millis(30);
pub(crate) const LOOKS_APART_MAX: Duration = Duration::from_millis(250);
/// Minimum time that an application must be asleep, look after look, until nothing more is expected of it:
/// another program may still answer it.
pub(crate) const ASLEEP: Duration = Duration::from_millis(60);
/// Maximum time for an application that keeps changing to come to rest before an action.
const REST_BOUND: Duration = Duration::from_millis(300);

/// Waits until the application has handled everything that was sent to it.
pub(crate) async fn handle_earlier<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<IdleReport> {
    let watch = watch_app(desktop, window).await?;
    desktop.settle(watch, QuietLimits::HANDLED).await
}

/// Sends an input and waits until the application has handled it; returns how long that took, in milliseconds.
pub(crate) async fn handled<D: Desktop>(
    desktop: &D,
    window: WindowId,
    input: impl AsyncFnOnce() -> DesktopResult<()>,
) -> DesktopResult<u64> {
    let watch = watch_app(desktop, window).await?;
    input().await?;
    Ok(desktop.settle(watch, QuietLimits::HANDLED).await?.waited_ms)
}

/// As [`handle_earlier`]; if there were changes, waits until no more follow, bounded, so that what earlier actions still bring
/// about counts for them and not for the next one.
pub(crate) async fn settle_earlier<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<()> {
    let settled = handle_earlier(desktop, window).await?;
    if !announced(&settled.changes).is_empty() {
        let watch = watch_app(desktop, window).await?;
        desktop.settle(watch, QuietLimits { bound: REST_BOUND, ..QuietLimits::default() }).await?;
    }
    Ok(())
}

/// Retries a read while the application does not respond.
pub(crate) async fn patiently<T, F>(mut ask: impl FnMut() -> F) -> DesktopResult<T>
where
    F: Future<Output = DesktopResult<T>>,
{
    for _ in 1..TRIES_MAX {
        match ask().await {
            Err(DesktopError::NotAnswering { .. }) => {}
            other => return other,
        }
    }
    ask().await
}

/// Returns `true` if a condition holds after an input: read once the application has handled everything since
/// `watch` began and, if it does not hold yet, again when the application is idle.
pub(crate) async fn comes_to_hold<D: Desktop, F, E>(
    desktop: &D,
    (window, watch): (WindowId, D::Watch),
    quiet: QuietLimits,
    mut holds: impl FnMut() -> F,
) -> Result<bool, E>
where
    F: Future<Output = Result<bool, E>>,
    E: From<DesktopError>,
{
    let again = watch_app(desktop, window).await?;
    desktop.settle(watch, QuietLimits::HANDLED).await?;
    if holds().await? {
        return Ok(true);
    }
    desktop.settle(again, quiet).await?;
    holds().await
}

/// Reads an element as it is after everything that was sent before: for a state that decides whether anything is sent at
/// all. Toolkits update what follows a selection or the focus, such as the buttons for a format, long after they
/// moved it.
pub(crate) async fn read_up_to_date<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
) -> DesktopResult<Element> {
    let watch = watch_app(desktop, window).await?;
    desktop.settle(watch, QuietLimits::UP_TO_DATE).await?;
    read_element(desktop, id).await
}

/// Outcome of a wait for a condition.
pub(crate) struct Came {
    /// `true` if the condition holds.
    pub(crate) holds: bool,
    pub(crate) waited_ms: u64,
    pub(crate) waited_for: Vec<WaitedFor>,
    pub(crate) changes: Vec<UiChange>,
}

impl Came {
    /// An action with this wait.
    pub(crate) fn of(self, action: ActionOutcome) -> ActionOutcome {
        action.after(self.waited_ms).waiting_for(self.waited_for).with_changes(self.changes)
    }
}

/// Waits until a condition holds after an input, at most `bound` once the application has handled it, and not past the time from
/// which it sleeps on. It is read after every change and at growing intervals, because not every change is announced.
pub(crate) async fn comes_within<D: Desktop, F, E>(
    desktop: &D,
    (window, watch): (WindowId, D::Watch),
    bound: Duration,
    mut holds: impl FnMut() -> F,
) -> Result<Came, E>
where
    F: Future<Output = Result<bool, E>>,
    E: From<DesktopError>,
{
    let IdleReport { mut waited_ms, mut changes, waited_for, .. } =
        desktop.settle(watch, QuietLimits::HANDLED).await?;
    let until_ms = waited_ms + milliseconds(bound);
    let mut apart = LOOKS_APART_MIN;
    let mut asleep_from_ms = None;
    loop {
        let watch = watch_app(desktop, window).await?;
        let holds = holds().await?;
        let sleeps = if holds { Duration::ZERO } else { desktop.sleeps_for(window).await? };
        let sleeps_on = sleeps > Duration::from_millis(until_ms.saturating_sub(waited_ms));
        asleep_from_ms = sleeps_on.then(|| asleep_from_ms.unwrap_or(waited_ms));
        let is_over = asleep_from_ms.is_some_and(|from_ms| waited_ms >= from_ms + milliseconds(ASLEEP));
        if holds || is_over || waited_ms >= until_ms {
            return Ok(Came { holds, waited_ms, waited_for, changes });
        }
        let next = if sleeps_on { apart.min(ASLEEP) } else { apart };
        let quiet = QuietLimits { quiet: LOOKS_APART_MIN, first_change: next, bound: next };
        let settled = desktop.settle(watch, quiet).await?;
        waited_ms += settled.waited_ms.max(1);
        changes
            .extend(settled.changes.into_iter().take(IdleReport::CHANGES_MAX.saturating_sub(changes.len())));
        apart = (apart * 2).min(LOOKS_APART_MAX);
    }
}

/// Reads one element.
pub(crate) async fn read_element<D: Desktop>(desktop: &D, id: ElementId) -> DesktopResult<Element> {
    patiently(|| desktop.element(id)).await
}

/// Reads the tree of a window; retries with more time, after the application became idle, if the tree is partial because
/// of a slow response.
pub(crate) async fn read_tree<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Tree> {
    read_tree_within(desktop, window, TreeLimits::default()).await
}

/// The same within limits.
pub(crate) async fn read_tree_within<D: Desktop>(
    desktop: &D,
    window: WindowId,
    mut limits: TreeLimits,
) -> DesktopResult<Tree> {
    for _ in 1..TRIES_MAX {
        let watch = desktop.watch(Some(window)).await?;
        let tree = desktop.tree(window, limits).await?;
        match tree.partial {
            Some(IncompleteTreeCause::Deadline | IncompleteTreeCause::NotAnswering) => {}
            Some(IncompleteTreeCause::NodeLimit) | None => return Ok(tree),
        }
        desktop.settle(watch, QuietLimits::default()).await?;
        limits.deadline *= 2;
    }
    desktop.tree(window, limits).await
}
