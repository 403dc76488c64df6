//! Invoking an accessibility action by name.

use deskhand_core::{
    action::{Act, Aim, Among, Refusal},
    command::Route,
    ids::{ElementId, WindowId},
    ui::names_equal,
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction};

use crate::{
    before::Before,
    checks::{Need, check},
    effect::wait_for_effect,
    find::nearest_names,
    patience::watch_app,
    report::{ActLimits, ActionReport, Done, Halt, report},
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
    let act = Act::Invoke { action: action.to_owned() };
    report(act, invoke_and_check(desktop, window, id, name, action, limits).await)
}

async fn invoke_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    action: &str,
    limits: &ActLimits,
) -> Result<Done, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    let offered = desktop.action_names(id).await?;
    let Some(exact) = offered.iter().find(|offered| names_equal(offered, action)) else {
        let offered = nearest_names(action, offered.iter().map(String::as_str));
        let among = Among::Actions { element: (&ready.element).into(), offered };
        return Err(Refusal::NotFound { name: action.to_owned(), among }.into());
    };
    let before = Before::take(desktop, &ready.surface, Some(&ready.element)).await?;
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(id, &ElementAction::Named(exact.clone())).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let effect = wait_for_effect(desktop, watch, &before, limits).await?.accepted();
    let act = Act::Invoke { action: exact.clone() };
    Ok(effect.to_done(act, Aim::element(&ready.element), Route::Semantic))
}
