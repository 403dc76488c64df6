//! Selecting a part of the text of an element.

use deskhand_core::{
    command::Verdict,
    ids::{ElementId, WindowId},
};
use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, ElementAction,
    keys::{Key, KeyChord, Modifier, NamedKey},
};

use crate::{
    effect::watch_app,
    report::{ActLimits, ActionReport, Halt, Route, report},
    type_text::{focus_element, read, shorten},
    verdict::{Need, check},
};

/// The most steps of the caret that are made by keys.
const STEPS_MAX: usize = 500;

/// Selects the first occurrence of `part` in the text of an element, and reads back the selection.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn select_text<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    part: &str,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(select_and_check(desktop, window, (id, name), part, limits).await)
}

async fn select_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    part: &str,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    let label = ready.element.label();
    let text = read(desktop, &ready.element).await?.unwrap_or_default();
    let Some(at) = text.find(part).filter(|_| !part.is_empty()) else {
        return Err(Halt::Refused(format!("{label} does not contain {:?}", shorten(part))));
    };
    let start = text.get(..at).unwrap_or_default().chars().count();
    let end = start + part.chars().count();
    focus_element(desktop, &ready, limits).await?;
    let done = |route| ActionReport::new(Verdict::Seen, route, format!("{:?} is selected", shorten(part)));
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(id, &ElementAction::SelectText { start, end }).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {
            let settled = desktop.settle(watch, limits.quiet).await?;
            if is_selected(desktop, id, start, end).await? {
                return Ok(ActionReport { settled_ms: settled.waited_ms, ..done(Route::Semantic) });
            }
        }
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    if end > STEPS_MAX {
        return Err(Halt::Refused(format!("{label} selects no text, and it is too far away for keys")));
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    let key = |modifiers: &[Modifier], key| KeyChord { modifiers: modifiers.to_vec(), key: Key::Named(key) };
    desktop.press(&key(&[Modifier::Ctrl], NamedKey::Home)).await?;
    for _ in 0..start {
        desktop.press(&key(&[], NamedKey::Right)).await?;
    }
    for _ in start..end {
        desktop.press(&key(&[Modifier::Shift], NamedKey::Right)).await?;
    }
    let settled = desktop.settle(watch, limits.quiet).await?;
    if is_selected(desktop, id, start, end).await? {
        return Ok(ActionReport { settled_ms: settled.waited_ms, ..done(Route::Input) });
    }
    let summary = format!("{label} does not say that {:?} is selected", shorten(part));
    Ok(ActionReport::new(Verdict::NotSeen, Route::Input, summary))
}

async fn is_selected<D: Desktop>(desktop: &D, id: ElementId, start: usize, end: usize) -> Result<bool, Halt> {
    Ok(desktop.text_selection(id).await? == Some((start, end)))
}
