//! Selecting a part of the text of an element.

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, ElementAction,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::{
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Among, Evidence, Shortfall,
        TEXT_MAX, UnsupportedCapability,
    },
    ids::{ElementId, WindowId},
    text::clip,
};

use crate::{
    checks::{TargetRequirement, check},
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
    let act = ActionKind::SelectText { text: clip(part, TEXT_MAX) };
    carry_out(act, select_and_check(desktop, window, (id, name), part, limits)).await
}

async fn select_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
    part: &str,
    limits: &ActLimits,
) -> Result<ActionOutcome, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Act).await?;
    let text = read(desktop, &ready.element).await?.unwrap_or_default();
    let Some(at) = text.find(part).filter(|_| !part.is_empty()) else {
        let among = Among::Text { element: (&ready.element).into() };
        return Err(ActionRefusal::NotFound { name: clip(part, TEXT_MAX), among }.into());
    };
    let start = text.get(..at).unwrap_or_default().chars().count();
    let end = start + part.chars().count();
    focus_element(desktop, &ready, limits).await?;
    let done = |evidence, route| {
        let act = ActionKind::SelectText { text: clip(part, TEXT_MAX) };
        ActionOutcome::new(act, Aim::element(&ready.element), evidence).by(route)
    };
    let target = &ready;
    let is_selected = || async move {
        let selected = patiently(|| desktop.text_selection(id)).await?;
        Ok::<_, Halt>(selected == Some((start, end)) && has_keyboard(desktop, target).await?)
    };
    let holds = || Evidence::from(ActionProof::Holds { already: false });
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(id, &ElementAction::SelectText { start, end }).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {
            if comes_within(desktop, (ready.surface.id, watch), limits.effect, is_selected).await?.holds {
                return Ok(done(holds(), ActionRoute::Semantic));
            }
        }
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    if end > STEPS_MAX {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::SelectingText }.into());
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    let key = |modifiers: &[KeyModifier], key| KeyChord {
        modifiers: modifiers.to_vec(),
        key: ChordKey::Named(key),
    };
    desktop.press(&key(&[KeyModifier::Ctrl], NamedKey::Home)).await?;
    for _ in 0..start {
        desktop.press(&key(&[], NamedKey::Right)).await?;
    }
    for _ in start..end {
        desktop.press(&key(&[KeyModifier::Shift], NamedKey::Right)).await?;
    }
    if comes_within(desktop, (ready.surface.id, watch), limits.effect, is_selected).await?.holds {
        return Ok(done(holds(), ActionRoute::Input));
    }
    Ok(done(Shortfall::NotReached { way: None }.into(), ActionRoute::Input))
}
