//! Finds the element that took the place of one that is gone.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, QuietLimits};
use deskhand_ui::{
    Element, ElementTreePath,
    ids::{ElementId, WindowId},
};

use crate::{
    patience::{read_element, read_tree, watch_app},
    surfaces::surfaces,
};

/// The longest wait for an application to draw an element again.
const RENDER_MAX: Duration = Duration::from_secs(1);
/// The longest wait for the application to begin to.
const BEGINS_MAX: Duration = Duration::from_millis(400);
/// Maximum number of reads of the window.
const LOOKS_MAX: usize = 8;

/// The element that stands for `id`, whose object is gone: the same one if the application only made its object anew, else the
/// only one in the window with its role, name and ancestors. `None` if there is none, or more than one.
///
/// # Errors
/// If the window cannot be read.
pub(crate) async fn recover<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
) -> DesktopResult<Option<Element>> {
    let Some(was) = desktop.last_place(id) else { return Ok(None) };
    let mut left = RENDER_MAX;
    for _ in 0..LOOKS_MAX {
        let watch = watch_app(desktop, window).await?;
        if let Some(found) = stands_for(desktop, window, id, &was).await? {
            match read_element(desktop, found).await {
                Ok(element) => {
                    let instead_of = (found != id).then_some(id);
                    return Ok(Some(Element { instead_of, ..element }));
                }
                Err(DesktopError::NoElement(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let limits =
            QuietLimits { first_change: left.min(BEGINS_MAX), bound: left, ..QuietLimits::default() };
        let settled = desktop.settle(watch, limits).await?;
        left = left.saturating_sub(Duration::from_millis(settled.waited_ms.max(1)));
        if settled.changes.is_empty() || left.is_zero() {
            return Ok(None);
        }
    }
    Ok(None)
}

/// The id of the element that is now what `id` was.
async fn stands_for<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    was: &ElementTreePath,
) -> DesktopResult<Option<ElementId>> {
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        let tree = match read_tree(desktop, surface.id).await {
            Err(DesktopError::NoWindow(_)) => continue,
            other => other?,
        };
        if tree.find(id).is_some() {
            return Ok(Some(id));
        }
        let places = tree.places();
        let found = places.iter().find(|(_, place)| place.holds_the_same_as(was));
        if let Some((element, _)) = found {
            return Ok(Some(element.id));
        }
    }
    Ok(None)
}
