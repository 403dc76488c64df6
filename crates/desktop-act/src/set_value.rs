//! Setting the text or the number of a control in one call.

use std::time::Duration;

use deskhand_core::{
    action::{Act, Action, Aim, Proof, Refusal, TEXT_MAX, Unsupported},
    command::Route,
    ids::{ElementId, WindowId},
    text::clip,
    ui::Pattern,
};
use deskhand_desktop::{Desktop, DesktopError, DesktopResult, ElementAction, QuietLimits};
use serde_json::json;

use crate::{
    checks::{Need, Ready, check},
    patience::{read_element, watch_app},
    report::{ActLimits, ActionReport, Halt, refused, report},
    text::{read, same_text},
    type_text::{TypeText, type_text},
};

/// What a control is set to.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// A text.
    Text(String),
    /// A number, for sliders, spin buttons and scroll bars.
    Number(f64),
}

impl NewValue {
    fn act(&self) -> Act {
        match self {
            Self::Text(text) => Act::SetText { text: clip(text, TEXT_MAX) },
            Self::Number(value) => Act::SetNumber { value: *value },
        }
    }
}

/// Sets the value of a control and reads it back: through the accessibility interface, else by typing it.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn set_value<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
    value: &NewValue,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let ready = match check(desktop, window, id, name, Need::Act).await {
        Ok(ready) => ready,
        Err(halt) => return report(value.act(), Err::<Action, _>(halt)),
    };
    let by_semantics = match value {
        NewValue::Text(text) => set_text(desktop, &ready, text, limits).await,
        NewValue::Number(number) => set_number(desktop, &ready, *number, limits).await,
    };
    match by_semantics {
        Ok(Some(done)) => return Ok(done),
        Ok(None) => {}
        Err(halt) => return report(value.act(), Err::<Action, _>(halt)),
    }
    let text = match value {
        NewValue::Text(text) => text.clone(),
        NewValue::Number(number) => number.to_string(),
    };
    if !ready.element.offers(Pattern::Text) && !ready.element.offers(Pattern::EditableText) {
        let element = (&ready.element).into();
        return Ok(refused(value.act(), Refusal::Unsupported { element, what: Unsupported::Value }));
    }
    let request = TypeText { element: Some(id), name: Some(ready.element.name.clone()), text, clear: true };
    type_text(desktop, window, &request, limits).await
}

async fn set_text<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    text: &str,
    limits: &ActLimits,
) -> Result<Option<ActionReport>, Halt> {
    if !ready.element.offers(Pattern::EditableText) {
        return Ok(None);
    }
    let Some(waited_ms) = send(desktop, ready, &ElementAction::SetText(text.to_owned()), limits).await?
    else {
        return Ok(None);
    };
    let found = read(desktop, &ready.element).await?.unwrap_or_default();
    Ok(same_text(&found, text).then(|| {
        let read = clip(&found, TEXT_MAX);
        let act = Act::SetText { text: clip(text, TEXT_MAX) };
        let proof = Proof::Reads { text: read.clone(), corrected: false };
        let action = Action::new(act, Aim::element(&ready.element), proof).by(Route::Semantic);
        ActionReport::from(action.after(waited_ms)).with_output(json!({ "text": read }))
    }))
}

/// How often a number is read back.
const LOOKS_MAX: usize = 20;

async fn set_number<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    number: f64,
    limits: &ActLimits,
) -> Result<Option<ActionReport>, Halt> {
    let Some(range) = ready.element.value else { return Ok(None) };
    if !(range.minimum..=range.maximum).contains(&number) && range.maximum > range.minimum {
        let what = Unsupported::Number { value: number, minimum: range.minimum, maximum: range.maximum };
        return Err(Refusal::Unsupported { element: (&ready.element).into(), what }.into());
    }
    let Some(mut waited_ms) = send(desktop, ready, &ElementAction::SetValue(number), limits).await? else {
        return Ok(None);
    };
    let tolerance = (range.increment / 2.0).clamp(1e-6, 0.5);
    for _ in 0..LOOKS_MAX {
        let watch = watch_app(desktop, ready.surface.id).await?;
        let now = read_element(desktop, ready.element.id).await?;
        let Some(current) = now.value.map(|value| value.current) else { return Ok(None) };
        if (current - number).abs() <= tolerance {
            let (act, proof) = (Act::SetNumber { value: number }, Proof::Number { value: current });
            let action = Action::new(act, Aim::element(&ready.element), proof).by(Route::Semantic);
            let output = json!({ "value": current });
            return Ok(Some(ActionReport::from(action.after(waited_ms)).with_output(output)));
        }
        // On a busy machine a page responds before it has handled the request.
        let left = limits.effect.saturating_sub(Duration::from_millis(waited_ms));
        if left.is_zero() {
            break;
        }
        let quiet = QuietLimits { first_change: left, ..limits.quiet };
        waited_ms += desktop.settle(watch, quiet).await?.waited_ms;
    }
    Ok(None)
}

/// Invokes an action and waits until idle; `None` if the toolkit does not offer it.
async fn send<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    action: &ElementAction,
    limits: &ActLimits,
) -> Result<Option<u64>, Halt> {
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(ready.element.id, action).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    Ok(Some(desktop.settle(watch, limits.quiet).await?.waited_ms))
}
