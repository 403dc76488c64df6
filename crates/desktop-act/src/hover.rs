//! Moves the pointer onto something, for what shows only then.

use deskhand_core::{
    action::{Act, Aim, Refusal},
    command::Route,
    ids::WindowId,
};
use deskhand_desktop::{Desktop, DesktopResult};

use crate::{
    before::Before,
    checks::{Need, check},
    effect::wait_for_effect,
    patience::watch_app,
    report::{ActLimits, ActionReport, Done, Halt, Target, report},
    surfaces::{bring_to_front, surfaces},
};

/// Moves the pointer onto an element or a point and leaves it there. `seen` if something showed, such as a tooltip or a menu.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn hover<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &Target,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(Act::Hover, hover_and_check(desktop, window, target, limits).await)
}

async fn hover_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &Target,
    limits: &ActLimits,
) -> Result<Done, Halt> {
    let (surface, point, element) = match target {
        Target::Element { id, name } => {
            let ready = check(desktop, window, *id, name.as_deref(), Need::Act).await?;
            let point = ready.point.unwrap_or_else(|| ready.surface.bounds.center());
            (ready.surface, point, Some(ready.element))
        }
        Target::Point(point) => {
            let all = surfaces(desktop, window).await?;
            let surface = all.into_iter().rev().find(|surface| surface.bounds.contains(point));
            let outside = || Refusal::PointOutside { point: *point, window, bounds: None };
            let surface = surface.ok_or_else(outside)?;
            let element = desktop.element_at(surface.id, *point).await?;
            (surface, *point, element)
        }
    };
    bring_to_front(desktop, surface.id).await?;
    let before = Before::take(desktop, &surface, element.as_ref()).await?;
    let watch = watch_app(desktop, surface.id).await?;
    desktop.hover(point).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let aim = match (target, &element) {
        (Target::Element { .. }, Some(element)) => Aim::element(element),
        (Target::Element { .. } | Target::Point(_), element) => {
            Aim::Point { point, on: element.as_ref().map(Into::into) }
        }
    };
    let done = effect.to_done(Act::Hover, aim, Route::Input);
    Ok(done.or_unknown(effect.damaged))
}
