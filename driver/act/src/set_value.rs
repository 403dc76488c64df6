//! Setting the text or the number of a control in one call.

use std::time::Duration;

use deskhand_desktop::{
    CancelScope, Desktop, DesktopError, DesktopResult, ElementAction, QuietLimits, keys::NamedKey,
};
use deskhand_ui::{
    Element, ElementCapability, Role, State,
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
    date::set_date,
    date_sections::set_sections,
    expected::{ExpectedText, excerpt},
    focus::focus_element,
    hidden::{blindness, dots, hiding},
    meaning::{Likeness, likeness, number},
    patience::{comes_within, read_element, read_tree, watch_app},
    report::{ActLimits, ActionReport, Halt, cancelled, refused, report},
    text::{clear, has_keyboard, length_evidence, read, read_when_done},
    type_text::{TypeTextOptions, sent_of, shown_of, type_text},
};

/// New value of a control.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// A text.
    Text(String),
    /// A number, for sliders, spin buttons and scroll bars.
    Number(f64),
}

impl NewValue {
    /// The act; a password is not part of it.
    fn act(&self, of: Option<&Element>) -> ActionKind {
        let is_secret = of.and_then(blindness) == Some(Blindness::Password);
        match self {
            Self::Text(text) if is_secret => ActionKind::SetText { text: clip(&dots(text), TEXT_MAX) },
            Self::Text(text) => ActionKind::SetText { text: clip(text, TEXT_MAX) },
            Self::Number(value) => ActionKind::SetNumber { value: *value },
        }
    }

    /// Returns the text to type for it.
    fn typed(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value) => value.to_string(),
        }
    }
}

/// Sets the value of a control, once, and reads it back: the entry of a spin button and a field of one line by keyboard,
/// since not every application takes over what the accessibility interface sets there; everything else through that
/// interface, or by typing where it is not offered.
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
    let ready = match check(desktop, window, id, name, TargetRequirement::Act).await {
        Ok(ready) => ready,
        Err(halt) => return report(value.act(None), Err::<ActionOutcome, _>(halt)),
    };
    let act = || value.act(Some(&ready.element));
    match Box::pin(set_and_check(desktop, &ready, value, limits)).await {
        Ok(Some(done)) => return Ok(done),
        Ok(None) => {}
        Err(halt) => return report(act(), Err::<ActionOutcome, _>(halt)),
    }
    let takes_text = ready.element.offers(ElementCapability::Text)
        || ready.element.offers(ElementCapability::EditableText);
    if !takes_text || blindness(&ready.element) == Some(Blindness::Terminal) {
        let element = (&ready.element).into();
        return Ok(refused(
            act(),
            ActionRefusal::Unsupported { element, what: UnsupportedCapability::Value },
        ));
    }
    let name = Some(ready.element.name.clone());
    let request = TypeTextOptions { element: Some(id), name, text: value.typed(), clear: true };
    type_text(desktop, window, &request, limits).await
}

/// Sets it by the way that suits the control; `None` if that way is not offered.
async fn set_and_check<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    value: &NewValue,
    limits: &ActLimits,
) -> Result<Option<ActionReport>, Halt> {
    match value {
        NewValue::Number(number) => check_range(&ready.element, *number)?,
        NewValue::Text(text) => {
            if let Some(done) = set_date(desktop, ready, text, limits).await? {
                return Ok(Some(done));
            }
            if let Some(done) = set_sections(desktop, ready, text, limits).await? {
                return Ok(Some(done));
            }
        }
    }
    if let Some(inner) = inner_field(desktop, ready).await? {
        return enter(desktop, &inner, value, limits).await.map(Some);
    }
    let is_text_of_spin = ready.element.role == Role::SPIN_BUTTON && matches!(value, NewValue::Text(_));
    if is_text_of_spin || has_entry(desktop, ready).await? || is_field(&ready.element, &value.typed()) {
        match enter(desktop, ready, value, limits).await {
            // Nothing was typed.
            Err(Halt::Refused(refusal)) if is_unfocusable(&refusal) => {}
            other => return other.map(Some),
        }
    }
    match value {
        NewValue::Text(text) => set_text(desktop, ready, text, limits).await,
        NewValue::Number(number) => set_number(desktop, ready, *number, limits).await,
    }
}

/// The field inside of a control that takes no text itself: a box to choose from in which something else can be typed, or a spin button
/// of a toolkit where that accepts a value and drops it.
async fn inner_field<D: Desktop>(desktop: &D, ready: &CheckedTarget) -> Result<Option<CheckedTarget>, Halt> {
    let element = &ready.element;
    let takes_text =
        element.offers(ElementCapability::Text) || element.offers(ElementCapability::EditableText);
    let is_around = (element.role == Role::COMBO_BOX && !takes_text)
        || (element.role == Role::SPIN_BUTTON && desktop.quirks(element.id).drops_values);
    if !is_around {
        return Ok(None);
    }
    let tree = read_tree(desktop, ready.surface.id).await?;
    let is_field = |one: &&Element| {
        [Role::ENTRY, Role::TEXT].contains(&one.role)
            && one.offers(ElementCapability::EditableText)
            && one.states.takes_input()
    };
    let inner = tree.descendants(element.id).find(is_field).cloned();
    Ok(inner.map(|element| {
        let point = element.bounds.map(|bounds| bounds.center());
        CheckedTarget { surface: ready.surface.clone(), element, point }
    }))
}

/// Returns `true` if an element was refused because it does not take the focus, as a spin button of GTK 4.
fn is_unfocusable(refusal: &ActionRefusal) -> bool {
    matches!(refusal, ActionRefusal::Unsupported { what: UnsupportedCapability::Focus, .. })
}

fn check_range(element: &Element, number: f64) -> Result<(), Halt> {
    let Some(range) = element.value else { return Ok(()) };
    if (range.minimum..=range.maximum).contains(&number) || range.maximum <= range.minimum {
        return Ok(());
    }
    let what =
        UnsupportedCapability::Number { value: number, minimum: range.minimum, maximum: range.maximum };
    Err(ActionRefusal::Unsupported { element: element.into(), what }.into())
}

/// Returns `true` if an element is a field of one line that is left with Tab once `text` was typed.
fn is_field(element: &Element, text: &str) -> bool {
    [Role::ENTRY, Role::TEXT].contains(&element.role)
        && !element.states.has(State::MultiLine)
        && element.offers(ElementCapability::EditableText)
        && blindness(element).is_none()
        && !text.contains(['\n', '\t'])
}

/// Returns `true` if an element is a spin button that shows its value as it would be typed: without a unit, and
/// of a number the same number that its value is.
async fn has_entry<D: Desktop>(desktop: &D, ready: &CheckedTarget) -> Result<bool, Halt> {
    if ready.element.role != Role::SPIN_BUTTON {
        return Ok(false);
    }
    let Some(shown) = read(desktop, &ready.element).await? else { return Ok(false) };
    Ok(match (ready.element.value, number(shown.trim())) {
        (Some(range), Some(_)) => likeness(&range.current.to_string(), &shown) >= Likeness::Rounded,
        (Some(_), None) => false,
        (None, _) => true,
    })
}

/// Replaces the text of the entry, leaves it with Tab so that the application takes it over, and reads value and text.
async fn enter<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    value: &NewValue,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let done = |evidence: Evidence| {
        let act = hiding(value.act(Some(&ready.element)), &evidence);
        ActionOutcome::new(act, Aim::element(&ready.element), evidence).by(ActionRoute::Input)
    };
    focus_element(desktop, ready, limits).await?;
    if !has_keyboard(desktop, ready).await? {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Focus }.into());
    }
    let begun = CancelScope::current().inputs();
    let stale = read(desktop, &ready.element).await?.unwrap_or_default();
    if let Some(left) = clear(desktop, ready, limits).await?
        && number(left.trim()).is_none()
    {
        return Ok(done(Shortfall::NotCleared { text: clip(&left, TEXT_MAX) }.into()).into());
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    if let Err(error) = desktop.enter(&value.typed(), &[NamedKey::Tab.into()]).await {
        if !matches!(error, DesktopError::Cancelled { .. }) {
            return Err(error.into());
        }
        let (typed, sent) = (value.typed(), sent_of(&value.typed(), begun));
        let expected = ExpectedText::whole();
        let shown = CancelScope::shielded(shown_of(desktop, ready, (&expected, &stale), &typed, sent));
        let (act, aim) = (value.act(Some(&ready.element)), Aim::element(&ready.element));
        return Ok(cancelled(act, aim, shown.await?).into());
    }
    let judge = |now: &Element, shown: &str| match value {
        NewValue::Number(number) if now.value.is_some() => judge_number(*number, now, Some(shown)),
        NewValue::Number(_) | NewValue::Text(_) => judge_text(&value.typed(), shown),
    };
    let look = async || {
        let now = read_element(desktop, ready.element.id).await?;
        let shown = read(desktop, &ready.element).await?.unwrap_or_default();
        Ok::<_, Halt>((judge(&now, &shown), shown, now.value.map(|value| value.current)))
    };
    let holds = async || Ok::<_, Halt>(matches!(look().await?.0, Evidence::Seen { .. }));
    let came = comes_within(desktop, (ready.surface.id, watch), limits.effect, holds).await?;
    let (evidence, shown, current) = look().await?;
    let output = json!({ "text": excerpt(&shown, (0, 0), TEXT_MAX), "value": current });
    let action = came.of(done(evidence));
    Ok(ActionReport::from(action).with_output(output))
}

/// The evidence for a number: the value and, where it shows one, the text of the control.
fn judge_number(meant: f64, now: &Element, shown: Option<&str>) -> Evidence {
    let is_meant = |found: f64| (found - meant).abs() <= meant.abs().max(1.0) * 1e-6;
    let current = now.value.map(|value| value.current);
    let shown_number = shown.and_then(|text| number(text.trim()));
    match (current, shown_number) {
        (Some(current), Some(_))
            if is_meant(current)
                && shown.is_none_or(|text| likeness(&meant.to_string(), text) >= Likeness::Rounded) =>
        {
            ActionProof::Number { value: current }.into()
        }
        (Some(current), None) if is_meant(current) => ActionProof::Number { value: current }.into(),
        (None, Some(found)) if is_meant(found) => ActionProof::Number { value: found }.into(),
        (value, _) => {
            let text = shown.filter(|text| !text.is_empty()).map(|text| clip(text, TEXT_MAX));
            Shortfall::OtherNumber { value: value.or(shown_number), text }.into()
        }
    }
}

/// The evidence for a text that the control may show in a format of its own, such as a date.
fn judge_text(meant: &str, shown: &str) -> Evidence {
    if ExpectedText::whole().hidden_length(meant, shown).is_some() {
        return ExpectedText::whole().evidence(meant, "", shown).0;
    }
    if likeness(meant, shown) >= Likeness::Reformatted {
        return ActionProof::Reads { text: clip(shown, TEXT_MAX), completion: None }.into();
    }
    Shortfall::ReadsOtherwise { text: clip(shown, TEXT_MAX), around: None }.into()
}

async fn set_text<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    text: &str,
    limits: &ActLimits,
) -> Result<Option<ActionReport>, Halt> {
    let why = blindness(&ready.element);
    if !ready.element.offers(ElementCapability::EditableText) || why == Some(Blindness::Terminal) {
        return Ok(None);
    }
    let stale = read(desktop, &ready.element).await?.unwrap_or_default();
    let Some(mut waited_ms) = send(desktop, ready, &ElementAction::SetText(text.to_owned()), limits).await?
    else {
        return Ok(None);
    };
    let act = NewValue::Text(text.to_owned()).act(Some(&ready.element));
    let done = |evidence: Evidence| {
        let act = hiding(act, &evidence);
        ActionOutcome::new(act, Aim::element(&ready.element), evidence).by(ActionRoute::Semantic)
    };
    if let Some(why) = why {
        let (evidence, more_ms) = length_evidence(desktop, ready, text, why, limits).await?;
        return Ok(Some(done(evidence).after(waited_ms + more_ms).into()));
    }
    let expected = ExpectedText::whole();
    let judge = |found: &str| expected.judge(text, &stale, found);
    let (found, more_ms) = read_when_done(desktop, ready, 1, &judge, limits).await?;
    waited_ms += more_ms;
    let (evidence, output) = expected.evidence(text, &stale, &found);
    Ok(Some(ActionReport::from(done(evidence).after(waited_ms)).with_output(json!({ "text": output }))))
}

/// Maximum number of times a number is read back.
const LOOKS_MAX: usize = 20;

async fn set_number<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    number: f64,
    limits: &ActLimits,
) -> Result<Option<ActionReport>, Halt> {
    if ready.element.value.is_none() {
        return Ok(None);
    }
    let Some(mut waited_ms) = send(desktop, ready, &ElementAction::SetValue(number), limits).await? else {
        return Ok(None);
    };
    let mut judged = None;
    for _ in 0..LOOKS_MAX {
        let watch = watch_app(desktop, ready.surface.id).await?;
        let now = read_element(desktop, ready.element.id).await?;
        let shown = read(desktop, &ready.element).await?;
        let evidence = judge_number(number, &now, shown.as_deref());
        let is_met = matches!(evidence, Evidence::Seen { .. });
        judged = Some((evidence, now.value.map(|value| value.current)));
        // On a busy machine a page responds before it has handled the request.
        let left = limits.effect.saturating_sub(Duration::from_millis(waited_ms));
        if is_met || left.is_zero() {
            break;
        }
        let quiet = QuietLimits { first_change: left, ..limits.quiet };
        waited_ms += desktop.settle(watch, quiet).await?.waited_ms.max(1);
    }
    Ok(judged.map(|(evidence, current)| {
        let act = ActionKind::SetNumber { value: number };
        let action =
            ActionOutcome::new(act, Aim::element(&ready.element), evidence).by(ActionRoute::Semantic);
        ActionReport::from(action.after(waited_ms)).with_output(json!({ "value": current }))
    }))
}

/// Invokes an action and waits until idle; `None` if the toolkit does not offer it.
async fn send<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
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
