//! A window with its dialogs and pop-ups: which of them contains an element, which is in front.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, TreeLimits};
use deskhand_ui::{
    self, Element, IncompleteTreeCause, State, WindowInfo, WindowKind,
    duration::milliseconds,
    ids::{ElementId, WindowId},
    same_app,
};

use crate::{before::look, patience::patiently, report::Halt};

/// A window with its dialogs and pop-ups, bottom to top.
pub(crate) async fn surfaces<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<Vec<WindowInfo>> {
    let windows = desktop.windows().await?;
    let own = deskhand_ui::surfaces(&windows, window).ok_or(DesktopError::NoWindow(window))?;
    Ok(own.into_iter().cloned().collect())
}

/// The window that is not among the `known` ones.
pub(crate) async fn opened<D: Desktop>(
    desktop: &D,
    known: &[WindowInfo],
) -> DesktopResult<Option<WindowInfo>> {
    let now = desktop.windows().await?;
    Ok(now.into_iter().find(|info| known.iter().all(|known| known.id != info.id)))
}

/// The topmost of `surfaces` that contains an element: by its ancestors, or where these lead elsewhere, by the elements that
/// the window lists.
pub(crate) async fn surface_of<D: Desktop>(
    desktop: &D,
    surfaces: &[WindowInfo],
    id: ElementId,
) -> DesktopResult<Option<WindowInfo>> {
    for surface in surfaces.iter().rev() {
        let Some(root) = root_of(desktop, surface).await? else { continue };
        match patiently(|| desktop.is_within(id, root.id)).await {
            Ok(true) => return Ok(Some(surface.clone())),
            Ok(false) | Err(DesktopError::NoElement(_)) => {}
            Err(error) => return Err(error),
        }
    }
    for surface in surfaces.iter().rev() {
        if look(desktop, surface.id).await?.find(id).is_some() {
            return Ok(Some(surface.clone()));
        }
    }
    Ok(None)
}

/// The root element of a window, if its application exposes it.
pub(crate) async fn root_of<D: Desktop>(desktop: &D, window: &WindowInfo) -> DesktopResult<Option<Element>> {
    const OPERATION: &str = "read the root of a window";
    let read = patiently(|| async {
        let tree = desktop.tree(window.id, TreeLimits::ROOT_ONLY).await?;
        match (tree.elements.into_iter().next(), tree.partial) {
            (None, Some(IncompleteTreeCause::Deadline | IncompleteTreeCause::NotAnswering)) => {
                Err(DesktopError::NotAnswering {
                    operation: OPERATION,
                    application: window.app.name.clone(),
                    limit_ms: milliseconds(TreeLimits::ROOT_ONLY.deadline),
                })
            }
            (root, _) => Ok(root),
        }
    });
    match read.await {
        Err(DesktopError::NoWindow(_)) => Ok(None),
        other => other,
    }
}

/// The modal dialog that blocks `surface`.
pub(crate) async fn modal_in_front<D: Desktop>(
    desktop: &D,
    surfaces: &[WindowInfo],
    surface: &WindowInfo,
) -> DesktopResult<Option<WindowInfo>> {
    for dialog in surfaces.iter().rev() {
        if dialog.id == surface.id {
            break;
        }
        // A wizard may have the type of a normal window; being modal with an owner is what counts.
        if dialog.kind.is_popup() || surface.owner == Some(dialog.id) {
            continue;
        }
        let root = root_of(desktop, dialog).await?;
        if root.is_some_and(|root| root.states.has(State::Modal)) {
            return Ok(Some(dialog.clone()));
        }
    }
    Ok(None)
}

/// The window that shows what is done in a surface: of a pop-up, which closes, the window or dialog that it is in front of.
pub(crate) async fn lasting<D: Desktop>(desktop: &D, surface: &WindowInfo) -> DesktopResult<WindowInfo> {
    if surface.kind != WindowKind::Popup {
        return Ok(surface.clone());
    }
    let windows = desktop.windows().await?;
    let is_below = |info: &&WindowInfo| !info.kind.is_popup() && same_app(info, surface);
    let active = windows.iter().filter(is_below).find(|info| info.active);
    let owner = || windows.iter().find(|info| surface.owner == Some(info.id));
    Ok(active.or_else(owner).unwrap_or(surface).clone())
}

/// Focuses the window, or its topmost dialog, unless one of them has the focus. A pop-up is in front as long as it is there, and a panel
/// takes no focus.
pub(crate) async fn bring_to_front<D: Desktop>(desktop: &D, window: WindowId) -> Result<WindowInfo, Halt> {
    let surfaces = surfaces(desktop, window).await?;
    let fit = |info: &&WindowInfo| !info.kind.is_popup();
    if let Some(active) = surfaces.iter().filter(fit).find(|info| info.active) {
        return Ok(active.clone());
    }
    let Some(top) = surfaces.iter().rev().find(fit).cloned() else {
        return Ok(surfaces.into_iter().next_back().ok_or(DesktopError::NoWindow(window))?);
    };
    if top.kind != WindowKind::Panel {
        desktop.activate(top.id).await?;
    }
    Ok(top)
}
