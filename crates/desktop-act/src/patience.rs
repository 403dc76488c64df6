//! Reads that wait for an application that is busy: on a loaded machine one that works may take seconds to answer.
//! Only reads are repeated; nothing that acts is ever sent twice from here.

use deskhand_core::{
    ids::{ElementId, WindowId},
    ui::{Element, Partial, Tree},
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, QuietLimits, TreeLimits};

use crate::effect::watch_app;

/// How often a read is tried before the application counts as not answering.
const TRIES_MAX: u32 = 4;

/// Asks again while the application does not answer, a few times.
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

/// Whether something that an input brings about holds: read once the application has handled what was sent since `watch`
/// began, and, where it does not hold yet, once more when the application is quiet.
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

/// One element.
pub(crate) async fn read_element<D: Desktop>(desktop: &D, id: ElementId) -> DesktopResult<Element> {
    patiently(|| desktop.element(id)).await
}

/// The tree of a window; read again, with more time and after the application came to rest, while it is partial
/// because of a slow answer.
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
