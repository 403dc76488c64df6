//! Moves the pointer onto something, for what shows only then.

use deskhand_desktop::{Desktop, DesktopResult};
use deskhand_ui::{
    action::{ActionKind, ActionRoute, Aim},
    ids::WindowId,
};

use crate::{
    before::Before,
    effect::wait_for_effect,
    patience::watch_app,
    place::place,
    report::{ActLimits, ActionReport, ActionTarget, CompletedAction, Halt, carry_out},
    surfaces::bring_to_front,
};

/// Moves the pointer onto an element or a point and leaves it there. `seen` if something showed, such as a tooltip or a menu.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn hover<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &ActionTarget,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    carry_out(ActionKind::Hover, hover_and_check(desktop, window, target, limits)).await
}

async fn hover_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &ActionTarget,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let (surface, point, element) = place(desktop, window, target).await?;
    bring_to_front(desktop, surface.id).await?;
    let before = Before::take(desktop, &surface, element.as_ref()).await?;
    let watch = watch_app(desktop, surface.id).await?;
    desktop.hover(point).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let aim = match (target, &element) {
        (ActionTarget::Element { .. }, Some(element)) => Aim::element(element),
        (ActionTarget::Element { .. } | ActionTarget::Point(_), element) => {
            Aim::Point { point, on: element.as_ref().map(Into::into) }
        }
    };
    let done = effect.to_done(ActionKind::Hover, aim, ActionRoute::Input);
    Ok(done.or_unknown(effect.damaged))
}
