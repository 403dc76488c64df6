//! Dragging from one place to another.

use deskhand_core::{
    action::{Act, Aim, Refusal},
    command::Route,
    geometry::{Point, Screen},
    ids::WindowId,
    ui::{Element, WindowInfo},
};
use deskhand_desktop::{Desktop, DesktopResult, Held};

use crate::{
    before::Before,
    checks::{Need, check},
    effect::wait_for_effect,
    patience::watch_app,
    report::{ActLimits, ActionReport, Done, Halt, Target, report},
    surfaces::{bring_to_front, surfaces},
};

/// Presses at `from` with the modifiers, moves to `to` and releases there.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn drag<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (from, to): (&Target, &Target),
    held: &Held,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(Act::Drag { to: None }, drag_and_check(desktop, window, (from, to), held, limits).await)
}

async fn drag_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (from, to): (&Target, &Target),
    held: &Held,
    limits: &ActLimits,
) -> Result<Done, Halt> {
    let (surface, start, element) = place(desktop, window, from).await?;
    let (_, end, onto) = place(desktop, window, to).await?;
    bring_to_front(desktop, surface.id).await?;
    // What it is dropped on tells whether it was taken.
    let before = Before::take(desktop, &surface, onto.as_ref().or(element.as_ref())).await?;
    let watch = watch_app(desktop, surface.id).await?;
    desktop.drag(start, end, held).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let aim = Aim::Point { point: start, on: element.as_ref().map(Into::into) };
    let done = effect.to_done(Act::Drag { to: Some(end) }, aim, Route::Input);
    Ok(done.or_unknown(effect.damaged && element.is_none()))
}

async fn place<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &Target,
) -> Result<(WindowInfo, Point<Screen>, Option<Element>), Halt> {
    match target {
        Target::Element { id, name } => {
            let ready = check(desktop, window, *id, name.as_deref(), Need::Act).await?;
            let point = ready.point.unwrap_or_else(|| ready.surface.bounds.center());
            Ok((ready.surface, point, Some(ready.element)))
        }
        Target::Point(point) => {
            let all = surfaces(desktop, window).await?;
            let surface = all.into_iter().rev().find(|surface| surface.bounds.contains(point));
            let outside = || Refusal::PointOutside { point: *point, window, bounds: None };
            let surface = surface.ok_or_else(outside)?;
            let element = desktop.element_at(surface.id, *point).await?;
            Ok((surface, *point, element))
        }
    }
}
