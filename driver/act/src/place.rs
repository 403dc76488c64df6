//! Position of the pointer for a target.

use deskhand_desktop::Desktop;
use deskhand_ui::{
    Element, WindowInfo,
    action::ActionRefusal,
    geometry::{Point, Screen},
    ids::WindowId,
};

use crate::{
    checks::{TargetRequirement, check},
    report::{ActionTarget, Halt},
    surfaces::surfaces,
};

/// The surface, the point and the element of a target; a point may be on none.
pub(crate) async fn place<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &ActionTarget,
) -> Result<(WindowInfo, Point<Screen>, Option<Element>), Halt> {
    match target {
        ActionTarget::Element { id, name } => {
            let ready = check(desktop, window, *id, name.as_deref(), TargetRequirement::Act).await?;
            let point = ready.point.unwrap_or_else(|| ready.surface.bounds.center());
            Ok((ready.surface, point, Some(ready.element)))
        }
        ActionTarget::Point(point) => {
            let surface = surface_at(desktop, window, *point).await?;
            let element = desktop.element_at(surface.id, *point).await?;
            Ok((surface, *point, element))
        }
    }
}

/// The topmost surface of a window at a point.
pub(crate) async fn surface_at<D: Desktop>(
    desktop: &D,
    window: WindowId,
    point: Point<Screen>,
) -> Result<WindowInfo, Halt> {
    let all = surfaces(desktop, window).await?;
    let surface = all.into_iter().rev().find(|surface| surface.bounds.contains(&point));
    surface.ok_or_else(|| ActionRefusal::PointOutside { point, window, bounds: None }.into())
}
