//! Dragging from one place to another.

use deskhand_desktop::{Desktop, DesktopResult, PointerChord};
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

/// Presses at `from` with the modifiers, moves to `to` and releases there.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn drag<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (from, to): (&ActionTarget, &ActionTarget),
    held: &PointerChord,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    carry_out(ActionKind::Drag { to: None }, drag_and_check(desktop, window, (from, to), held, limits)).await
}

async fn drag_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (from, to): (&ActionTarget, &ActionTarget),
    held: &PointerChord,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let (surface, start, element) = place(desktop, window, from).await?;
    let (_, end, onto) = place(desktop, window, to).await?;
    bring_to_front(desktop, surface.id).await?;
    // What it is dropped on tells whether it was taken.
    let before = Before::take(desktop, &surface, onto.as_ref().or(element.as_ref())).await?;
    let watch = watch_app(desktop, surface.id).await?;
    desktop.drag(start, end, held).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let aim = Aim::Point { point: start, on: element.as_ref().map(Into::into) };
    let done = effect.to_done(ActionKind::Drag { to: Some(end) }, aim, ActionRoute::Input);
    Ok(done.or_unknown(effect.damaged && element.is_none()))
}
