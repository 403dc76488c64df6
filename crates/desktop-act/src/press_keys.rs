//! Pressing key chords.

use deskhand_core::{command::Verdict, ids::WindowId};
use deskhand_desktop::{Desktop, DesktopResult, keys::KeyChord};

use crate::{
    effect::{Before, wait_for_effect, watch_app},
    report::{ActLimits, ActionReport, Halt, Route, report},
    verdict::bring_to_front,
};

/// The most chords of one call.
const CHORDS_MAX: usize = 64;

/// Presses chords one after the other in `window`, or in the dialog that is in front of it; after each the
/// application comes to rest before the next one.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn press_keys<D: Desktop>(
    desktop: &D,
    window: WindowId,
    chords: &[KeyChord],
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(press_all(desktop, window, chords, limits).await)
}

async fn press_all<D: Desktop>(
    desktop: &D,
    window: WindowId,
    chords: &[KeyChord],
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    if chords.is_empty() || chords.len() > CHORDS_MAX {
        return Err(Halt::Refused(format!("give 1 to {CHORDS_MAX} chords, not {}", chords.len())));
    }
    let mut total = ActionReport::new(Verdict::NotSeen, Route::Input, "");
    let mut told = Vec::new();
    for (index, chord) in chords.iter().enumerate() {
        let front = bring_to_front(desktop, window).await;
        let front = match front {
            // The window closed because of an earlier chord: that is its effect.
            Err(Halt::Failed(deskhand_desktop::DesktopError::NoWindow(_))) if index > 0 => {
                told.push(format!("the window closed before {chord}"));
                break;
            }
            other => other?,
        };
        let before = Before { focus_counts: true, ..Before::take(desktop, &front, None).await? };
        let watch = watch_app(desktop, front.id).await?;
        desktop.press(chord).await?;
        let effect = wait_for_effect(desktop, watch, &before, limits).await?;
        let one = effect.to_report(&format!("press {chord}"), Route::Input);
        if one.effect == Verdict::Seen {
            total.effect = Verdict::Seen;
        }
        told.push(one.summary);
        total.settled_ms += one.settled_ms;
        total.changes.extend(one.changes);
        total.window = one.window.or(total.window);
    }
    total.summary = told.join("; ");
    Ok(total)
}
