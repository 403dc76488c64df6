//! Watching an application, and retries of reads while it is busy: on a loaded machine it may take seconds to respond.
//! Only reads are retried; actions are never sent twice from here.

use deskhand_core::{
    ids::{ElementId, WindowId},
    ui::{Element, Partial, Tree},
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, QuietLimits, TreeLimits};

/// How often a read is tried before the application counts as not responding.
const TRIES_MAX: u32 = 4;

/// Starts to watch the application of a window, or the whole desktop if that window is gone.
pub(crate) async fn watch_app<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<D::Watch> {
    match desktop.watch(Some(window)).await {
        Err(DesktopError::NoWindow(_)) => desktop.watch(None).await,
        other => other,
    }
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

/// Whether a condition holds after an input: read once the application has handled everything since `watch` began and,
/// if it does not hold yet, again when the application is idle.
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

/// Reads one element.
pub(crate) async fn read_element<D: Desktop>(desktop: &D, id: ElementId) -> DesktopResult<Element> {
    patiently(|| desktop.element(id)).await
}

/// Reads the tree of a window; retries with more time, after the application became idle, if the tree is partial because
/// of a slow response.
pub(crate) async fn read_tree<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Tree> {
    let mut limits = TreeLimits::default();
    for _ in 1..TRIES_MAX {
        let watch = desktop.watch(Some(window)).await?;
        let tree = desktop.tree(window, limits).await?;
        match tree.partial {
            Some(Partial::Deadline | Partial::NotAnswering) => {}
            Some(Partial::NodeLimit) | None => return Ok(tree),
        }
        desktop.settle(watch, QuietLimits::default()).await?;
        limits.deadline *= 2;
    }
    desktop.tree(window, limits).await
}
