//! Carrying out an accessibility action by its name.

use deskhand_core::ids::{ElementId, WindowId};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction};

use crate::{
    effect::{Before, wait_for_effect, watch_app},
    find::{names_equal, nearest_names},
    report::{ActLimits, ActionReport, Halt, Route, report},
    verdict::{Need, check},
};

/// Carries out the action `action` of an element; refused, with the names it has, where it has none of that name.
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
    report(invoke_and_check(desktop, window, id, name, action, limits).await)
}

async fn invoke_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    action: &str,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    let offered = desktop.action_names(id).await?;
    let Some(exact) = offered.iter().find(|offered| names_equal(offered, action)) else {
        let near = nearest_names(action, offered.iter().map(String::as_str)).join(", ");
        let label = ready.element.label();
        return Err(Halt::Refused(if near.is_empty() {
            format!("{label} offers no action; click it instead")
        } else {
            format!("{label} has no action \"{action}\"; it has: {near}")
        }));
    };
    let before = Before::take(desktop, &ready.surface, Some(&ready.element)).await?;
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(id, &ElementAction::Named(exact.clone())).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    Ok(effect.to_report(&format!("{exact} {}", ready.element.label()), Route::Semantic))
}
