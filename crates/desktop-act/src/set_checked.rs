//! Checking or unchecking a check box, radio button or toggle button.

use deskhand_core::{
    action::{Act, Action, Aim, Evidence, Proof, Refusal, Shortfall, Uncertainty, Unsupported},
    ids::{ElementId, WindowId},
    ui::{Element, Role, State},
};
use deskhand_desktop::{Desktop, DesktopResult};

use crate::{
    checks::{Need, check},
    click::{Click, click_once},
    patience::read_element,
    report::{ActLimits, ActionReport, Done, Halt, Target, report},
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
    report(Act::Check { on }, set_and_check(desktop, window, id, name, on, limits).await)
}

async fn set_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    on: bool,
    limits: &ActLimits,
) -> Result<Done, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    if !can_be_checked(&ready.element) {
        let element = (&ready.element).into();
        return Err(Refusal::Unsupported { element, what: Unsupported::Checking }.into());
    }
    let (act, aim) = (Act::Check { on }, Aim::element(&ready.element));
    if is_on(&ready.element) == on {
        return Ok(Action::new(act, aim, Proof::Holds { already: true }).into());
    }
    let request = Click::once(Target::Element { id, name: Some(ready.element.name.clone()) });
    let clicked = click_once(desktop, window, &request, limits).await?;
    let now = read_element(desktop, id).await;
    let reached = now.as_ref().is_ok_and(|now| is_on(now) == on);
    let evidence: Evidence = match (reached, now) {
        (true, _) => Proof::Holds { already: false }.into(),
        (false, Ok(_)) => Shortfall::NotReached { way: None }.into(),
        (false, Err(error)) => Uncertainty::Unreadable { error: error.chain() }.into(),
    };
    Ok(Done { action: Action { act, aim, evidence, ..clicked.action }, ..clicked })
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
