//! Pressing key chords.

use deskhand_desktop::{
    CancelScope, Desktop, DesktopError, DesktopResult,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::{
    WindowInfo,
    action::{
        ActionKind, ActionOutcome, ActionRefusal, ActionRoute, Aim, ArgumentProblem, Extent, ExtentUnit,
    },
    ids::WindowId,
};
use serde_json::Value;

use crate::{
    before::{Before, Sign},
    documents::{DocumentSaveOutcome, DocumentSaveWait, SaveDialogAnswers},
    effect::wait_for_effect,
    patience::{handle_earlier, settle_earlier, watch_app},
    report::{ActLimits, ActionReport, Halt, cancelled, carry_out},
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
    let act = ActionKind::Press { chord: words(chords) };
    carry_out(act, press_all(desktop, window, chords, limits)).await
}

/// Chords as text.
pub(crate) fn words(chords: &[KeyChord]) -> String {
    chords.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

pub(crate) async fn press_all<D: Desktop>(
    desktop: &D,
    window: WindowId,
    chords: &[KeyChord],
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    if chords.is_empty() || chords.len() > CHORDS_MAX {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let problem = ArgumentProblem::Chords { given: count(chords.len()), max: count(CHORDS_MAX) };
        return Err(ActionRefusal::from(problem).into());
    }
    let (mut actions, mut window_opened) = (Vec::new(), None);
    let before = CancelScope::current().inputs().chords;
    for (index, chord) in chords.iter().enumerate() {
        match Box::pin(press_one(desktop, window, chord, limits)).await {
            Ok((action, opened)) => {
                actions.push(action);
                window_opened = opened.or(window_opened);
            }
            // The window closed because of an earlier chord: that is its effect.
            Err(Halt::Failed(DesktopError::NoWindow(_))) if index > 0 => {
                let act = ActionKind::Press { chord: chord.to_string() };
                actions.push(ActionOutcome::new(act, Aim::Unresolved, ActionRefusal::WindowClosed));
                break;
            }
            Err(halt) if halt.is_cancelled() => {
                let done = CancelScope::current().inputs().chords.saturating_sub(before);
                let total = u64::try_from(chords.len()).unwrap_or(u64::MAX);
                let extent = Extent { unit: ExtentUnit::Chords, done, total, shown: false };
                let act = ActionKind::Press { chord: words(chords) };
                actions.push(cancelled(act, Aim::Unresolved, Some(extent)));
                break;
            }
            Err(halt) => return Err(halt),
        }
    }
    Ok(ActionReport { actions, window: window_opened, output: Value::Null })
}

/// Presses one chord; what came of it, with the window that opened.
async fn press_one<D: Desktop>(
    desktop: &D,
    window: WindowId,
    chord: &KeyChord,
    limits: &ActLimits,
) -> Result<(ActionOutcome, Option<WindowInfo>), Halt> {
    let act = ActionKind::Press { chord: chord.to_string() };
    let front = bring_to_front(desktop, window).await?;
    match sign_of(chord) {
        // Its effect is the caret, where it is once all was handled.
        Sign::Unlikely => drop(handle_earlier(desktop, front.id).await?),
        Sign::Expected | Sign::Possible | Sign::Again => settle_earlier(desktop, front.id).await?,
    }
    if let Some(saved) = saving(desktop, window, &front, chord, limits).await? {
        return Ok(saved);
    }
    let before = before_keys(desktop, &front, chord).await?;
    let watch = watch_app(desktop, front.id).await?;
    desktop.press(chord).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let one = effect.to_done(act, Aim::focus_of(&front), ActionRoute::Input);
    Ok((one.action, one.window))
}

/// The snapshot before a chord: it is aimed at what has the focus.
async fn before_keys<D: Desktop>(desktop: &D, front: &WindowInfo, chord: &KeyChord) -> DesktopResult<Before> {
    let before = Before::take(desktop, front, None).await?.aimed_at_focus();
    // A shortcut that moves the focus does so beside what it is for.
    let before = if is_shortcut(chord) { before } else { before.counting_focus() };
    let before = before.showing(sign_of(chord)).with_caret(desktop).await?;
    let before = if is_save(chord) { before.saving() } else { before };
    if takes_to_clipboard(chord) { before.with_clipboard(desktop).await } else { Ok(before) }
}

/// Returns the visibility of the effect of a chord in what applications expose.
fn sign_of(chord: &KeyChord) -> Sign {
    match chord.key {
        ChordKey::Named(key) if moves_caret(key) => Sign::Unlikely,
        ChordKey::Char('a') if chord.modifiers == [KeyModifier::Ctrl] => Sign::Unlikely,
        ChordKey::Named(_) | ChordKey::Char(_) if is_shortcut(chord) => Sign::Possible,
        ChordKey::Named(_) | ChordKey::Char(_) => Sign::Expected,
    }
}

/// Returns `true` if a key moves the caret, the selection or the focus and does nothing else.
const fn moves_caret(key: NamedKey) -> bool {
    match key {
        NamedKey::Tab
        | NamedKey::Home
        | NamedKey::End
        | NamedKey::PageUp
        | NamedKey::PageDown
        | NamedKey::Left
        | NamedKey::Right
        | NamedKey::Up
        | NamedKey::Down => true,
        NamedKey::Return
        | NamedKey::Escape
        | NamedKey::Space
        | NamedKey::BackSpace
        | NamedKey::Delete
        | NamedKey::Insert
        | NamedKey::Menu
        | NamedKey::F(_) => false,
    }
}

/// Returns `true` if a chord is a shortcut of the application rather than something typed.
fn is_shortcut(chord: &KeyChord) -> bool {
    [KeyModifier::Ctrl, KeyModifier::Super].iter().any(|modifier| chord.modifiers.contains(modifier))
}

/// Returns `true` if a chord stands for saving.
fn is_save(chord: &KeyChord) -> bool {
    chord.modifiers == [KeyModifier::Ctrl] && matches!(chord.key, ChordKey::Char('s' | 'S'))
}

/// Returns `true` if a chord stands for copying or cutting.
fn takes_to_clipboard(chord: &KeyChord) -> bool {
    let is_letter = matches!(chord.key, ChordKey::Char('c' | 'x')) && chord.modifiers == [KeyModifier::Ctrl];
    is_letter || (chord.key == ChordKey::Named(NamedKey::Insert) && chord.modifiers == [KeyModifier::Ctrl])
}

/// Presses the chord that saves, where the file of the document is known: the file proves it. `None` for any other chord.
async fn saving<D: Desktop>(
    desktop: &D,
    window: WindowId,
    front: &WindowInfo,
    chord: &KeyChord,
    limits: &ActLimits,
) -> Result<Option<(ActionOutcome, Option<WindowInfo>)>, Halt> {
    if !is_save(chord) || front.id != window {
        return Ok(None);
    }
    let saving = DocumentSaveWait::begin(desktop, front).await?;
    if !saving.has_file() {
        return Ok(None);
    }
    desktop.press(chord).await?;
    let DocumentSaveOutcome { evidence, asks, waited_ms } =
        saving.finish(desktop, SaveDialogAnswers::default(), limits).await?;
    let act = ActionKind::Press { chord: chord.to_string() };
    let action =
        ActionOutcome::new(act, Aim::focus_of(front), evidence).by(ActionRoute::Input).after(waited_ms);
    Ok(Some((action, asks)))
}
