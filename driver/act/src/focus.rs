//! Giving an element the keyboard focus.

use deskhand_desktop::{Button, Desktop, DesktopError, DesktopResult, ElementAction};
use deskhand_ui::{
    Element, Role, State,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Evidence, Shortfall,
        UnsupportedCapability,
    },
    ids::{ElementId, WindowId},
};

use crate::{
    checks::{CheckedTarget, TargetRequirement, check},
    patience::{read_element, watch_app},
    report::{ActLimits, ActionReport, Halt, carry_out},
    row_roles::is_row,
    surfaces::bring_to_front,
};

/// Focuses an element, and reads back whether it has the focus.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn focus<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    carry_out(ActionKind::Focus, focus_and_check(desktop, window, id, name, limits)).await
}

async fn focus_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    limits: &ActLimits,
) -> Result<ActionOutcome, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Act).await?;
    let route = focus_element(desktop, &ready, limits).await?;
    let has = has_focus(desktop, ready.surface.id, id).await?;
    let evidence: Evidence = if has {
        ActionProof::Holds { already: route.is_none() }.into()
    } else {
        Shortfall::NotReached { way: None }.into()
    };
    Ok(ActionOutcome {
        route,
        ..ActionOutcome::new(ActionKind::Focus, Aim::element(&ready.element), evidence)
    })
}

/// Focuses an element, and returns the route taken; `None` if it had the focus: through its accessibility interface, else by a click.
pub(crate) async fn focus_element<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    limits: &ActLimits,
) -> Result<Option<ActionRoute>, Halt> {
    bring_to_front(desktop, ready.surface.id).await?;
    if has_focus(desktop, ready.surface.id, ready.element.id).await? {
        return Ok(None);
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(ready.element.id, &ElementAction::Focus).await {
        Ok(()) => {
            desktop.settle(watch, limits.quiet).await?;
            if has_focus(desktop, ready.surface.id, ready.element.id).await? {
                return Ok(Some(ActionRoute::Semantic));
            }
        }
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let Some(point) = ready.point else {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Focus }.into());
    };
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.click(point, Button::Left, 1).await?;
    desktop.settle(watch, limits.quiet).await?;
    Ok(Some(ActionRoute::Input))
}

/// Returns `true` if keys go to an element of `window`. The current part of a Qt view, such as a row, reports
/// the focus even while another control has it: then the focus was last announced for an element that is no
/// such part.
pub(crate) async fn has_focus<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
) -> DesktopResult<bool> {
    let element = read_element(desktop, id).await?;
    if !element.states.has(State::Focused) {
        return Ok(false);
    }
    let is_part = |element: &Element| is_row(&element.role) || element.role == Role::TABLE_CELL;
    if !is_part(&element) {
        return Ok(true);
    }
    let known = desktop.known_focus(window).await?;
    Ok(known.is_none_or(|known| is_part(&known)))
}
