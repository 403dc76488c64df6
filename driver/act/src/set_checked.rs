//! Checking or unchecking a check box, radio button or toggle button.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult};
use deskhand_ui::{
    Element, Role, State,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Evidence, Shortfall,
        Uncertainty, UnsupportedCapability,
    },
    ids::{ElementId, WindowId},
};

use crate::{
    checks::{TargetRequirement, check},
    click::press,
    patience::{comes_within, read_element, read_up_to_date, watch_app},
    report::{ActLimits, ActionReport, CompletedAction, Halt, carry_out},
    surfaces::opened,
};

/// Checks or unchecks a control; does nothing if it already is in that state.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn set_checked<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    on: bool,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    carry_out(ActionKind::Check { on }, set_and_check(desktop, window, id, name, on, limits)).await
}

async fn set_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    on: bool,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Act).await?;
    if !can_be_checked(&ready.element) {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Checking }.into());
    }
    let (act, aim) = (ActionKind::Check { on }, Aim::element(&ready.element));
    if is_on(&read_up_to_date(desktop, ready.surface.id, id).await?) == on {
        return Ok(ActionOutcome::new(act, aim, ActionProof::Holds { already: true }).into());
    }
    let known = desktop.windows().await?;
    let watch = watch_app(desktop, ready.surface.id).await?;
    let route = press(desktop, &ready).await?;
    let read = async || match read_element(desktop, id).await {
        Ok(now) => Ok(is_on(&now) == on),
        // The application may be making it anew.
        Err(DesktopError::NoElement(_) | DesktopError::NotAnswering { .. }) => Ok(false),
        Err(error) => Err(Halt::from(error)),
    };
    let came = comes_within(desktop, (ready.surface.id, watch), limits.effect, read).await?;
    let evidence: Evidence = match (came.holds, read_element(desktop, id).await) {
        (true, _) => ActionProof::Holds { already: false }.into(),
        (false, Err(error)) => Uncertainty::Unreadable { error: error.chain() }.into(),
        (false, Ok(_)) if route == ActionRoute::Semantic => Uncertainty::NothingShown.into(),
        (false, Ok(_)) => Shortfall::NotReached { way: None }.into(),
    };
    let action = came.of(ActionOutcome::new(act, aim, evidence).by(route));
    Ok(CompletedAction { action, window: opened(desktop, &known).await? })
}

fn can_be_checked(element: &Element) -> bool {
    element.states.has(State::Checkable)
        || [
            Role::CHECK_BOX,
            Role::CHECK_MENU_ITEM,
            Role::RADIO_BUTTON,
            Role::RADIO_MENU_ITEM,
            Role::TOGGLE_BUTTON,
        ]
        .contains(&element.role)
}

fn is_on(element: &Element) -> bool {
    element.states.has(State::Checked)
        || (element.role == Role::TOGGLE_BUTTON && element.states.has(State::Pressed))
}
