//! Pressing the same keys several times.

use deskhand_desktop::{Desktop, DesktopResult, keys::KeyChord};
use deskhand_ui::{
    action::{ActionKind, ActionOutcome, ActionProof, ActionRefusal, ArgumentProblem, Evidence, Verdict},
    ids::WindowId,
};

use crate::{
    press_keys::{press_all, words},
    report::{ActLimits, ActionReport, Halt, carry_out},
};

/// The most times.
const TIMES_MAX: u32 = 200;

/// Presses chords as [`press_keys`](crate::press_keys()) does, so many times. Stops where a window opens or closes, since the next
/// ones would go there. One action stands for all: how often they were pressed, and the last effect that was seen.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn press_again<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (chords, times): (&[KeyChord], u32),
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = ActionKind::Press { chord: format!("{}, {times} times", words(chords)) };
    carry_out(act, press_times(desktop, window, (chords, times), limits)).await
}

async fn press_times<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (chords, times): (&[KeyChord], u32),
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    if times == 0 || times > TIMES_MAX {
        return Err(ActionRefusal::from(ArgumentProblem::Times { max: TIMES_MAX }).into());
    }
    let mut all: Vec<ActionOutcome> = Vec::new();
    let mut window_opened = None;
    let mut pressed = 0;
    while pressed < times {
        let one = press_all(desktop, window, chords, limits).await?;
        pressed += 1;
        let ends = one.window.is_some() || one.actions.iter().any(changes_windows);
        window_opened = one.window;
        all.extend(one.actions);
        if ends {
            break;
        }
    }
    let waited_ms = all.iter().map(|action| action.waited_ms).sum();
    let is_seen = |action: &&ActionOutcome| action.evidence.verdict() == Verdict::Seen;
    let shown = all.iter().rev().find(is_seen).or(all.last()).cloned();
    let Some(shown) = shown else {
        return Err(ActionRefusal::from(ArgumentProblem::Times { max: TIMES_MAX }).into());
    };
    let of = if pressed == times { String::new() } else { format!(" of {times}") };
    let act = ActionKind::Press { chord: format!("{}, {pressed}{of} times", words(chords)) };
    Ok(ActionReport::from(ActionOutcome { act, ..shown }.after(waited_ms)).with_window(window_opened))
}

/// Returns `true` if a window opened or closed.
fn changes_windows(action: &ActionOutcome) -> bool {
    match &action.evidence {
        Evidence::Seen { proof } => {
            matches!(proof, ActionProof::WindowOpened { .. } | ActionProof::WindowClosed { .. })
        }
        Evidence::Refused { refusal } => *refusal == ActionRefusal::WindowClosed,
        Evidence::NotSeen { .. } | Evidence::Unknown { .. } => false,
    }
}
