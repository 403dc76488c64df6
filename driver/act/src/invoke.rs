//! Invoking an accessibility action by name.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction};
use deskhand_ui::{
    action::{ActionKind, ActionOutcome, ActionRefusal, ActionRoute, Aim, Among},
    ids::{ElementId, WindowId},
    names_equal,
};

use crate::{
    before::Before,
    checks::{TargetRequirement, check},
    click::{Click, click_element},
    effect::wait_for_effect,
    find::nearest_names,
    menus::is_menu_item,
    patience::watch_app,
    report::{ActLimits, ActionReport, ActionTarget, CompletedAction, Halt, carry_out},
};

/// Invokes the accessibility action `action` of an element; refused with the available names if it has none of that name.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn invoke<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    action: &str,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = ActionKind::Invoke { action: action.to_owned() };
    carry_out(act, invoke_and_check(desktop, window, id, name, action, limits)).await
}

async fn invoke_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    action: &str,
    limits: &ActLimits,
) -> Result<CompletedAction, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Act).await?;
    let offered = desktop.action_names(id).await?;
    let Some(exact) = offered.iter().find(|offered| names_equal(offered, action)) else {
        let offered = nearest_names(action, offered.iter().map(String::as_str));
        let among = Among::Actions { element: (&ready.element).into(), offered };
        return Err(ActionRefusal::NotFound { name: action.to_owned(), among }.into());
    };
    if desktop.quirks(id).blocks_in_actions && is_click(exact) {
        if ready.point.is_some() {
            let once = Click::once(ActionTarget::element(id));
            let done = click_element(desktop, &ready, None, &once, limits).await?;
            let action = ActionOutcome { act: ActionKind::Invoke { action: exact.clone() }, ..done.action };
            return Ok(CompletedAction { action, ..done });
        }
        if is_menu_item(&ready.element.role) {
            return Err(ActionRefusal::NotOnScreen { element: (&ready.element).into() }.into());
        }
    }
    let before = Before::take(desktop, &ready.surface, Some(&ready.element)).await?;
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(id, &ElementAction::Named(exact.clone())).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let effect = wait_for_effect(desktop, watch, &before, limits).await?.accepted();
    let act = ActionKind::Invoke { action: exact.clone() };
    Ok(effect.to_done(act, Aim::element(&ready.element), ActionRoute::Semantic))
}

/// Returns `true` if an action stands for a click of the pointer.
fn is_click(action: &str) -> bool {
    ["activate", "click", "press"].contains(&action.to_lowercase().as_str())
}
