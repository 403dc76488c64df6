//! Waiting for a condition, by events and with a bound.

use std::time::Duration;

use deskhand_core::{command::Verdict, ids::WindowId};
use deskhand_desktop::{Desktop, DesktopResult, QuietLimits};

use crate::{
    effect::{milliseconds, watch_app},
    find::{Wanted, find_element, fold},
    report::{ActionReport, Route},
    verdict::surfaces,
};

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// An element shows.
    Appears(Wanted),
    /// No such element shows any more.
    Disappears(Wanted),
    /// The title of the window, or of a dialog of it, contains a text; case does not count.
    TitleContains(String),
}

impl Condition {
    fn label(&self) -> String {
        match self {
            Self::Appears(wanted) => format!("{} shows", wanted.label()),
            Self::Disappears(wanted) => format!("{} does not show", wanted.label()),
            Self::TitleContains(text) => format!("a title contains \"{text}\""),
        }
    }
}

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
    let mut waited_ms = 0;
    let bound_ms = milliseconds(bound);
    loop {
        let watch = watch_app(desktop, window).await?;
        if holds(desktop, window, condition).await? {
            let summary = format!("{} after {waited_ms} ms", condition.label());
            let done = ActionReport::new(Verdict::Seen, Route::None, summary);
            return Ok(ActionReport { settled_ms: waited_ms, ..done });
        }
        if waited_ms >= bound_ms {
            break;
        }
        let left = Duration::from_millis(bound_ms - waited_ms);
        // Looked at again as soon as something happens: a window with an animation is never quiet.
        let quiet = QuietLimits { quiet: Duration::ZERO, first_change: left, bound: left };
        waited_ms += desktop.settle(watch, quiet).await?.waited_ms.max(1);
    }
    let summary = format!("not fulfilled within {waited_ms} ms: {}", condition.label());
    Ok(ActionReport { settled_ms: waited_ms, ..ActionReport::new(Verdict::NotSeen, Route::None, summary) })
}

async fn holds<D: Desktop>(desktop: &D, window: WindowId, condition: &Condition) -> DesktopResult<bool> {
    Ok(match condition {
        Condition::Appears(wanted) => find_element(desktop, window, wanted).await?.is_some(),
        Condition::Disappears(wanted) => find_element(desktop, window, wanted).await?.is_none(),
        Condition::TitleContains(text) => {
            let all = surfaces(desktop, window).await?;
            all.iter().any(|surface| fold(&surface.title).contains(&fold(text)))
        }
    })
}
