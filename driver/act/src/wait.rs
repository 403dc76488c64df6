//! Waiting until something happens and is over, with a bound.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopResult, QuietLimits};
use deskhand_ui::{
    action::{ActionKind, ActionOutcome, ActionProof, Aim},
    duration::milliseconds,
    ids::WindowId,
};

use crate::{patience::watch_app, report::ActionReport};

/// Time without events after which the activity counts as over.
const QUIET: Duration = Duration::from_millis(400);

/// Waits until there was activity in the application of `window`, or anywhere on the desktop, and it is over, at most `bound`, and
/// reports it.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn wait<D: Desktop>(
    desktop: &D,
    window: Option<WindowId>,
    bound: Duration,
) -> DesktopResult<ActionReport> {
    let watch = match window {
        Some(window) => watch_app(desktop, window).await?,
        None => desktop.watch(None).await?,
    };
    let limits = QuietLimits { quiet: QUIET.min(bound), first_change: bound, bound };
    let settled = desktop.settle(watch, limits).await?;
    let act = ActionKind::Wait { bound_ms: milliseconds(bound) };
    let proof = ActionProof::Waited { drawn: settled.damaged, quiet: !settled.timed_out };
    let windows = desktop.windows().await?;
    let aim = windows.iter().find(|info| Some(info.id) == window).map_or(Aim::Unresolved, Aim::window);
    let action = ActionOutcome::new(act, aim, proof).after(settled.waited_ms);
    Ok(action.with_changes(settled.changes).into())
}
