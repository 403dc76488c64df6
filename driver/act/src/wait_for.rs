//! Waiting for a condition, by events and with a bound.

use std::time::Duration;

use deskhand_desktop::{Desktop, DesktopResult, QuietLimits};
use deskhand_ui::{
    ElementQuery,
    action::{ActionKind, ActionOutcome, ActionProof, Aim, Condition, Evidence, Shortfall},
    duration::milliseconds,
    fold_name,
    ids::WindowId,
};

use crate::{
    find::find_element,
    patience::watch_app,
    report::ActionReport,
    surfaces::surfaces,
    words::{drawn_words, may_be_among},
};

/// Waits until a condition holds, at most `bound`.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn wait_for<D: Desktop>(
    desktop: &D,
    window: WindowId,
    condition: &Condition,
    bound: Duration,
) -> DesktopResult<ActionReport> {
    let done = |evidence: Evidence| {
        ActionOutcome::new(ActionKind::WaitFor { condition: condition.clone() }, Aim::Unresolved, evidence)
    };
    let mut waited_ms = 0;
    let bound_ms = milliseconds(bound);
    loop {
        let watch = watch_app(desktop, window).await?;
        if holds(desktop, window, condition).await? {
            return Ok(done(ActionProof::Holds { already: waited_ms == 0 }.into()).after(waited_ms).into());
        }
        if waited_ms >= bound_ms {
            break;
        }
        let left = Duration::from_millis(bound_ms - waited_ms);
        // Looked at again as soon as something happens: a window with an animation is never quiet.
        let quiet = QuietLimits { quiet: Duration::ZERO, first_change: left, bound: left };
        waited_ms += desktop.settle(watch, quiet).await?.waited_ms.max(1);
    }
    Ok(done(Shortfall::NotFulfilled.into()).after(waited_ms).into())
}

async fn holds<D: Desktop>(desktop: &D, window: WindowId, condition: &Condition) -> DesktopResult<bool> {
    Ok(match condition {
        Condition::Appears(wanted) => find_element(desktop, window, wanted).await?.is_some(),
        Condition::Disappears(wanted) => {
            find_element(desktop, window, wanted).await?.is_none()
                && !may_be_drawn(desktop, window, wanted).await?
        }
        Condition::TitleContains(text) => {
            let all = surfaces(desktop, window).await?;
            all.iter().any(|surface| fold_name(&surface.title).contains(&fold_name(text)))
        }
    })
}

/// Returns `true` if words may still be drawn in a window, its dialogs or pop-ups, though misread.
async fn may_be_drawn<D: Desktop>(
    desktop: &D,
    window: WindowId,
    wanted: &ElementQuery,
) -> DesktopResult<bool> {
    for surface in surfaces(desktop, window).await? {
        if may_be_among(&drawn_words(desktop, surface.id).await?, wanted) {
            return Ok(true);
        }
    }
    Ok(false)
}
