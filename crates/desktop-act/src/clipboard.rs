//! The clipboard: reading and writing it, and pasting a text through it.

use std::time::Duration;

use deskhand_core::{
    action::{Act, Action, Aim, Proof, Refusal, TEXT_MAX, Unsupported},
    command::Route,
    ids::{ElementId, WindowId},
    text::clip,
    ui::Pattern,
};
use deskhand_desktop::{
    Desktop, DesktopResult,
    keys::{Key, KeyChord, Modifier},
};
use serde_json::json;

use crate::{
    checks::{Need, Ready, check},
    focus::focus_element,
    patience::watch_app,
    report::{ActLimits, ActionReport, Halt, report},
    text::{characters, clear, read, read_back, same_text},
};

/// How long an application may take to fetch pasted text.
const FETCH_BOUND: Duration = Duration::from_secs(5);

/// Reads the text of the clipboard.
///
/// # Errors
/// An error of the desktop.
pub async fn read_clipboard<D: Desktop>(desktop: &D) -> DesktopResult<ActionReport> {
    let text = desktop.clipboard().await?;
    let characters = text.as_ref().map(|text| characters(text));
    let action = Action::new(Act::ReadClipboard, Aim::Desktop, Proof::ClipboardRead { characters });
    Ok(ActionReport::from(action.by(Route::Semantic)).with_output(json!({ "text": text })))
}

/// Puts a text on the clipboard, and reads it back.
///
/// # Errors
/// An error of the desktop.
pub async fn write_clipboard<D: Desktop>(desktop: &D, text: &str) -> DesktopResult<ActionReport> {
    desktop.set_clipboard(Some(text)).await?;
    let found = desktop.clipboard().await?;
    let met = found.as_deref() == Some(text);
    let evidence = read_back(found.as_deref().unwrap_or_default(), met, /*corrected*/ false);
    let act = Act::WriteClipboard { text: clip(text, TEXT_MAX) };
    Ok(Action::new(act, Aim::Desktop, evidence).by(Route::Semantic).into())
}

/// Pastes text into an element, reads it back, and restores the clipboard.
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
    let act = Act::Paste { text: clip(text, TEXT_MAX) };
    report(act, paste_and_check(desktop, window, (id, name), text, limits).await)
}

async fn paste_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    text: &str,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    if !ready.element.offers(Pattern::Text) && !ready.element.offers(Pattern::EditableText) {
        let element = (&ready.element).into();
        return Err(Refusal::Unsupported { element, what: Unsupported::Text }.into());
    }
    focus_element(desktop, &ready, limits).await?;
    clear(desktop, &ready, limits).await?;
    let (waited_ms, _) = paste_here(desktop, &ready, text, limits).await?;
    let found = read(desktop, &ready.element).await?.unwrap_or_default();
    let act = Act::Paste { text: clip(text, TEXT_MAX) };
    let evidence = read_back(&found, same_text(&found, text), /*corrected*/ false);
    let action = Action::new(act, Aim::element(&ready.element), evidence).by(Route::Input).after(waited_ms);
    Ok(ActionReport::from(action).with_output(json!({ "text": clip(&found, TEXT_MAX) })))
}

/// Pastes into the focused element; returns how long that took and whether the application fetched the text. Restores the
/// clipboard.
pub(crate) async fn paste_here<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    text: &str,
    limits: &ActLimits,
) -> Result<(u64, bool), Halt> {
    let held = desktop.clipboard().await.unwrap_or_default();
    desktop.set_clipboard(Some(text)).await?;
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.press(&KeyChord { modifiers: vec![Modifier::Ctrl], key: Key::Char('v') }).await?;
    let taken = desktop.clipboard_taken(FETCH_BOUND).await?;
    let settled = desktop.settle(watch, limits.quiet).await?;
    desktop.set_clipboard(held.as_deref()).await?;
    Ok((settled.waited_ms, taken))
}
