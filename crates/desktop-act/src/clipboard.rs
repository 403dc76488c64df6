//! The clipboard: reading and writing it, and pasting a text through it.

use std::time::Duration;

use deskhand_core::{
    command::Verdict,
    ids::{ElementId, WindowId},
    ui::Pattern,
};
use deskhand_desktop::{
    Desktop, DesktopResult,
    keys::{Key, KeyChord, Modifier},
};
use serde_json::json;

use crate::{
    effect::watch_app,
    report::{ActLimits, ActionReport, Halt, Route, report},
    type_text::{clear, focus_element, read, same_text, shorten},
    verdict::{Need, Ready, check},
};

/// How long an application may take to fetch pasted text.
const FETCH_BOUND: Duration = Duration::from_secs(5);

/// Reads the text of the clipboard.
///
/// # Errors
/// An error of the desktop.
pub async fn read_clipboard<D: Desktop>(desktop: &D) -> DesktopResult<ActionReport> {
    let text = desktop.clipboard().await?;
    let summary = match &text {
        Some(text) => format!("the clipboard holds {} characters of text", text.chars().count()),
        None => "the clipboard holds no text".to_owned(),
    };
    Ok(ActionReport::new(Verdict::Seen, Route::Semantic, summary).with_output(json!({ "text": text })))
}

/// Puts a text on the clipboard, and reads it back.
///
/// # Errors
/// An error of the desktop.
pub async fn write_clipboard<D: Desktop>(desktop: &D, text: &str) -> DesktopResult<ActionReport> {
    desktop.set_clipboard(Some(text)).await?;
    let found = desktop.clipboard().await?;
    let holds = found.as_deref() == Some(text);
    let effect = if holds { Verdict::Seen } else { Verdict::NotSeen };
    let summary = format!("the clipboard holds {:?}", shorten(found.as_deref().unwrap_or_default()));
    Ok(ActionReport::new(effect, Route::Semantic, summary))
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
    report(paste_and_check(desktop, window, (id, name), text, limits).await)
}

async fn paste_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    text: &str,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    let label = ready.element.label();
    if !ready.element.offers(Pattern::Text) && !ready.element.offers(Pattern::EditableText) {
        return Err(Halt::Refused(format!("{label} takes no text")));
    }
    focus_element(desktop, &ready, limits).await?;
    clear(desktop, &ready, limits).await?;
    let (settled_ms, _) = paste_here(desktop, &ready, text, limits).await?;
    let found = read(desktop, &ready.element).await?.unwrap_or_default();
    let met = same_text(&found, text);
    let effect = if met { Verdict::Seen } else { Verdict::NotSeen };
    let summary = format!("{label} reads {:?} after a paste", shorten(&found));
    Ok(ActionReport { settled_ms, ..ActionReport::new(effect, Route::Input, summary) }
        .with_output(json!({ "text": shorten(&found) })))
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
