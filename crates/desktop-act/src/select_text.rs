//! Selecting a part of the text of an element.

use deskhand_core::{
    action::{Act, Action, Aim, Among, Evidence, Proof, Refusal, Shortfall, TEXT_MAX, Unsupported},
    command::Route,
    ids::{ElementId, WindowId},
    text::clip,
};
use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, ElementAction,
    keys::{Key, KeyChord, Modifier, NamedKey},
};

use crate::{
    checks::{Need, check},
    focus::focus_element,
    patience::{comes_within, patiently, watch_app},
    report::{ActLimits, ActionReport, Halt, carry_out},
    text::{has_keyboard, read},
};

/// The most steps of the caret that are made by keys.
const STEPS_MAX: usize = 500;

/// Selects the first occurrence of `part` in the text of an element. `seen` if typing would replace exactly that part: the
/// element reports the selection and has the keyboard focus.
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
    let act = Act::SelectText { text: clip(part, TEXT_MAX) };
    carry_out(act, select_and_check(desktop, window, (id, name), part, limits)).await
}

async fn select_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    part: &str,
    limits: &ActLimits,
) -> Result<Action, Halt> {
    let ready = check(desktop, window, id, name, Need::Act).await?;
    let text = read(desktop, &ready.element).await?.unwrap_or_default();
    let Some(at) = text.find(part).filter(|_| !part.is_empty()) else {
        let among = Among::Text { element: (&ready.element).into() };
        return Err(Refusal::NotFound { name: clip(part, TEXT_MAX), among }.into());
    };
    let start = text.get(..at).unwrap_or_default().chars().count();
    let end = start + part.chars().count();
    focus_element(desktop, &ready, limits).await?;
    let done = |evidence, route| {
        let act = Act::SelectText { text: clip(part, TEXT_MAX) };
        Action::new(act, Aim::element(&ready.element), evidence).by(route)
    };
    let target = &ready;
    let is_selected = || async move {
        let selected = patiently(|| desktop.text_selection(id)).await?;
        Ok::<_, Halt>(selected == Some((start, end)) && has_keyboard(desktop, target).await?)
    };
    let holds = || Evidence::from(Proof::Holds { already: false });
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(id, &ElementAction::SelectText { start, end }).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {
            if comes_within(desktop, (ready.surface.id, watch), limits.effect, is_selected).await?.holds {
                return Ok(done(holds(), Route::Semantic));
            }
        }
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    if end > STEPS_MAX {
        let element = (&ready.element).into();
        return Err(Refusal::Unsupported { element, what: Unsupported::SelectingText }.into());
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
    if comes_within(desktop, (ready.surface.id, watch), limits.effect, is_selected).await?.holds {
        return Ok(done(holds(), Route::Input));
    }
    Ok(done(Shortfall::NotReached { way: None }.into(), Route::Input))
}
