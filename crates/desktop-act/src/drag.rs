//! Dragging from one place to another.

use deskhand_core::{
    command::Verdict,
    geometry::{Point, Screen},
    ids::WindowId,
    ui::{Element, WindowInfo},
};
use deskhand_desktop::{Desktop, DesktopResult, Held};

use crate::{
    effect::{Before, wait_for_effect, watch_app},
    report::{ActLimits, ActionReport, Halt, Route, Target, report},
    verdict::{Need, bring_to_front, check, surfaces},
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
    report(drag_and_check(desktop, window, (from, to), held, limits).await)
}

async fn drag_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (from, to): (&Target, &Target),
    held: &Held,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let (surface, start, element) = place(desktop, window, from).await?;
    let (_, end, _) = place(desktop, window, to).await?;
    bring_to_front(desktop, surface.id).await?;
    let before = Before::take(desktop, &surface, element.as_ref()).await?;
    let watch = watch_app(desktop, surface.id).await?;
    desktop.drag(start, end, held).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let what = format!("drag from ({}, {}) to ({}, {})", start.x, start.y, end.x, end.y);
    let mut report = effect.to_report(&what, Route::Input);
    if report.effect == Verdict::NotSeen && effect.damaged && element.is_none() {
        report.effect = Verdict::Unknown;
        report.summary = format!("{what}: pixels changed, and the application tells nothing about them");
    }
    Ok(report)
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
            let outside = || Halt::Refused(format!("({}, {}) lies outside of {window}", point.x, point.y));
            let surface = surface.ok_or_else(outside)?;
            let element = desktop.element_at(surface.id, *point).await?;
            Ok((surface, *point, element))
        }
    }
}
