//! Pressing key chords.

use deskhand_core::{
    action::{Act, Action, Aim, ArgumentProblem, Refusal},
    command::Route,
    ids::WindowId,
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, keys::KeyChord};
use serde_json::Value;

use crate::{
    before::Before,
    effect::wait_for_effect,
    patience::watch_app,
    report::{ActLimits, ActionReport, Halt, report},
    surfaces::bring_to_front,
};

/// The most chords of one call.
const CHORDS_MAX: usize = 64;

/// Presses chords one after the other in `window`, or in the dialog in front of it. Waits for idle after each.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn press_keys<D: Desktop>(
    desktop: &D,
    window: WindowId,
    chords: &[KeyChord],
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = Act::Press { chord: chords.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ") };
    report(act, press_all(desktop, window, chords, limits).await)
}

async fn press_all<D: Desktop>(
    desktop: &D,
    window: WindowId,
    chords: &[KeyChord],
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    if chords.is_empty() || chords.len() > CHORDS_MAX {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let problem = ArgumentProblem::Chords { given: count(chords.len()), max: count(CHORDS_MAX) };
        return Err(Refusal::from(problem).into());
    }
    let (mut actions, mut window_opened) = (Vec::new(), None);
    for (index, chord) in chords.iter().enumerate() {
        let act = Act::Press { chord: chord.to_string() };
        let front = match bring_to_front(desktop, window).await {
            // The window closed because of an earlier chord: that is its effect.
            Err(Halt::Failed(DesktopError::NoWindow(_))) if index > 0 => {
                actions.push(Action::new(act, Aim::Unresolved, Refusal::WindowClosed));
                break;
            }
            other => other?,
        };
        let before = Before { focus_counts: true, ..Before::take(desktop, &front, None).await? };
        let watch = watch_app(desktop, front.id).await?;
        desktop.press(chord).await?;
        let effect = wait_for_effect(desktop, watch, &before, limits).await?;
        let one = effect.to_done(act, Aim::focus_of(&front), Route::Input);
        actions.push(one.action);
        window_opened = one.window.or(window_opened);
    }
    Ok(ActionReport { actions, window: window_opened, output: Value::Null })
}
