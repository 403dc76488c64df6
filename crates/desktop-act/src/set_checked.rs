//! Checking or unchecking a check box, radio button or toggle button.

use deskhand_core::{
    command::Verdict,
    ids::{ElementId, WindowId},
    ui::{Element, Role, State},
};
use deskhand_desktop::{Desktop, DesktopResult};

use crate::{
    click::{Click, click},
    patience::read_element,
    report::{ActLimits, ActionReport, Halt, Route, Target, report},
    verdict::{Need, check},
};

/// Brings a control into the state `on`; does nothing where it is in it already.
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
    report(set_and_check(desktop, window, id, name, on, limits).await)
}

async fn set_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    on: bool,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    let label = ready.element.label();
    let word = if on { "checked" } else { "not checked" };
    if !can_be_checked(&ready.element) {
        return Err(Halt::Refused(format!("{label} cannot be checked")));
    }
    if is_on(&ready.element) == on {
        return Ok(ActionReport::new(Verdict::Seen, Route::None, format!("{label} is {word} already")));
    }
    let request = Click::once(Target::Element { id, name: Some(ready.element.name.clone()) });
    let clicked = click(desktop, window, &request, limits).await?;
    if clicked.effect == Verdict::Refused {
        return Ok(clicked);
    }
    let now = read_element(desktop, id).await;
    let reached = now.as_ref().is_ok_and(|now| is_on(now) == on);
    let (effect, summary) = match (reached, now) {
        (true, _) => (Verdict::Seen, format!("{label} is {word}")),
        (false, Ok(_)) => (Verdict::NotSeen, format!("{label} did not become {word}")),
        (false, Err(error)) => {
            (Verdict::Unknown, format!("{label} cannot be read any more: {}", error.chain()))
        }
    };
    Ok(ActionReport { effect, summary, ..clicked })
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
