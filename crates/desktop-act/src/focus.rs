//! Giving an element the keyboard focus.

use deskhand_core::{
    command::Verdict,
    ids::{ElementId, WindowId},
    ui::State,
};
use deskhand_desktop::{Desktop, DesktopResult};

use crate::{
    patience::read_element,
    report::{ActLimits, ActionReport, Halt, report},
    type_text::focus_element,
    verdict::{Need, check},
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
    report(focus_and_check(desktop, window, id, name, limits).await)
}

async fn focus_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    let route = focus_element(desktop, &ready, limits).await?;
    let label = ready.element.label();
    let has = read_element(desktop, id).await?.states.has(State::Focused);
    Ok(if has {
        ActionReport::new(Verdict::Seen, route, format!("{label} has the focus"))
    } else {
        ActionReport::new(Verdict::NotSeen, route, format!("{label} did not take the focus"))
    })
}
