//! The clipboard: reading and writing it, and pasting a text through it.

use std::time::Duration;

use deskhand_desktop::{
    CancelScope, Desktop, DesktopResult,
    keys::{ChordKey, KeyChord, KeyModifier},
};
use deskhand_ui::{
    ElementCapability,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Blindness, Evidence,
        Shortfall, TEXT_MAX, UnsupportedCapability,
    },
    ids::{ElementId, WindowId},
    text::clip,
};
use serde_json::json;

use crate::{
    checks::{CheckedTarget, TargetRequirement, check},
    expected::ExpectedText,
    focus::focus_element,
    hidden::{blindness, dots, hiding},
    patience::watch_app,
    report::{ActLimits, ActionReport, Halt, carry_out},
    text::{characters, clear, length_evidence, read_when_done},
};

/// Maximum time for an application to fetch pasted text.
const FETCH_BOUND: Duration = Duration::from_secs(5);

/// Reads the text of the clipboard.
///
/// # Errors
/// An error of the desktop.
pub async fn read_clipboard<D: Desktop>(desktop: &D) -> DesktopResult<ActionReport> {
    let text = desktop.clipboard().await?;
    let characters = text.as_ref().map(|text| characters(text));
    let action = ActionOutcome::new(
        ActionKind::ReadClipboard,
        Aim::Desktop,
        ActionProof::ClipboardRead { characters },
    );
    Ok(ActionReport::from(action.by(ActionRoute::Semantic)).with_output(json!({ "text": text })))
}

/// Puts a text on the clipboard, and reads it back.
///
/// # Errors
/// An error of the desktop.
pub async fn write_clipboard<D: Desktop>(desktop: &D, text: &str) -> DesktopResult<ActionReport> {
    desktop.set_clipboard(Some(text)).await?;
    let found = desktop.clipboard().await?;
    let read = clip(found.as_deref().unwrap_or_default(), TEXT_MAX);
    let evidence: Evidence = if found.as_deref() == Some(text) {
        ActionProof::Reads { text: read, completion: None }.into()
    } else {
        Shortfall::ReadsOtherwise { text: read, around: None }.into()
    };
    let act = ActionKind::WriteClipboard { text: clip(text, TEXT_MAX) };
    Ok(ActionOutcome::new(act, Aim::Desktop, evidence).by(ActionRoute::Semantic).into())
}

/// Pastes text into an element in place of its own, reads it back unless it is a password, and restores the clipboard.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn paste<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    text: &str,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = ActionKind::Paste { text: clip(text, TEXT_MAX) };
    carry_out(act, paste_and_check(desktop, window, (id, name), text, limits)).await
}

async fn paste_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    text: &str,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Act).await?;
    if !ready.element.offers(ElementCapability::Text)
        && !ready.element.offers(ElementCapability::EditableText)
    {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Text }.into());
    }
    let why = blindness(&ready.element);
    if why == Some(Blindness::Terminal) {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Clearing }.into());
    }
    focus_element(desktop, &ready, limits).await?;
    let shown = if why.is_some() { dots(text) } else { text.to_owned() };
    let done = |evidence: Evidence| {
        let act = hiding(ActionKind::Paste { text: clip(&shown, TEXT_MAX) }, &evidence);
        ActionOutcome::new(act, Aim::element(&ready.element), evidence).by(ActionRoute::Input)
    };
    if let Some(left) = clear(desktop, &ready, limits).await? {
        let left = if why.is_some() { dots(&left) } else { left };
        return Ok(done(Shortfall::NotCleared { text: clip(&left, TEXT_MAX) }.into()).into());
    }
    let mut waited_ms = paste_here(desktop, &ready, text, limits).await?;
    if let Some(why) = why {
        let (evidence, more_ms) = length_evidence(desktop, &ready, text, why, limits).await?;
        return Ok(done(evidence).after(waited_ms + more_ms).into());
    }
    let expected = ExpectedText::whole();
    let judge = |found: &str| expected.judge(text, "", found);
    let (found, more_ms) = read_when_done(desktop, &ready, 1, &judge, limits).await?;
    waited_ms += more_ms;
    let (evidence, output) = expected.evidence(text, "", &found);
    Ok(ActionReport::from(done(evidence).after(waited_ms)).with_output(json!({ "text": output })))
}

/// Pastes into the focused element, once; returns how long that took. Restores the clipboard.
async fn paste_here<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    text: &str,
    limits: &ActLimits,
) -> Result<u64, Halt> {
    let held = desktop.clipboard().await.unwrap_or_default();
    desktop.set_clipboard(Some(text)).await?;
    let pasted = async {
        let watch = watch_app(desktop, ready.surface.id).await?;
        desktop.press(&KeyChord { modifiers: vec![KeyModifier::Ctrl], key: ChordKey::Char('v') }).await?;
        desktop.clipboard_taken(FETCH_BOUND).await?;
        Ok(desktop.settle(watch, limits.quiet).await?.waited_ms)
    };
    let waited_ms = pasted.await;
    // Also after a cancellation.
    CancelScope::shielded(desktop.set_clipboard(held.as_deref())).await?;
    waited_ms
}
