//! Types text into an element or the focused one, and reads it back. Nothing is ever typed twice.

use std::time::Duration;

use deskhand_desktop::{CancelScope, Desktop, DesktopError, DesktopResult, QuietLimits};
use deskhand_ui::{
    Element, ElementCapability, Role, State,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, Blindness, Evidence, Extent,
        ExtentUnit, InputCounts, Shortfall, TEXT_MAX, UiChange, Uncertainty, UnsupportedCapability,
    },
    ids::{ElementId, WindowId},
    secret::reference,
    text::clip,
};
use serde_json::json;

use crate::{
    before::{Before, Sign},
    checks::{CheckedTarget, TargetRequirement, check},
    effect::wait_for_effect,
    expected::{ExpectedText, ReadBackVerdict},
    focus::focus_element,
    hidden::{blindness, dots, hiding},
    patience::{handle_earlier, patiently, read_tree, watch_app},
    report::{ActLimits, ActionReport, Halt, cancelled, carry_out, report},
    surfaces::{bring_to_front, opened, surface_of, surfaces},
    text::{characters, clear, has_keyboard, present, read, read_when_done},
    type_drawn::{DrawnWindowText, TypedTextEvidence, is_told_by_pictures},
};

/// Text to type, and its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeTextOptions {
    /// The element; `None` for the focused one.
    pub element: Option<ElementId>,
    /// Its expected name.
    pub name: Option<String>,
    /// The text; `\n` is Return, `\t` is Tab.
    pub text: String,
    /// `true` to clear the existing text first.
    pub clear: bool,
}

impl TypeTextOptions {
    /// The act; a password is not part of it.
    fn act(&self, into: Option<&Element>) -> ActionKind {
        let is_secret = into.and_then(blindness) == Some(Blindness::Password);
        let text = if is_secret { dots(&self.text) } else { self.text.clone() };
        ActionKind::Type { text: clip(&text, TEXT_MAX) }
    }
}

/// Types text by keyboard, once. It replaces what is selected, else it goes to the caret. If the element's text is readable,
/// the text at that place decides the verdict, with what stands around it; likewise the text of a field that a list opens for what is
/// typed into it. Otherwise changes of the window decide, and where nothing but a picture shows the text, the words that are read there.
/// Terminals and password fields are not read back.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn type_text<D: Desktop>(
    desktop: &D,
    window: WindowId,
    request: &TypeTextOptions,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let target = match Box::pin(target_of(desktop, window, request, limits)).await {
        Ok(target) => target,
        Err(halt) => return report(request.act(None), Err::<ActionOutcome, _>(halt)),
    };
    let act = request.act(target.as_ref().map(|ready| &ready.element));
    let aim = target.as_ref().map_or(Aim::Unresolved, |ready| Aim::element(&ready.element));
    let cancelled_act = act.clone();
    let typing = async {
        let before = CancelScope::current().inputs();
        match type_and_check(desktop, window, target, request, limits).await {
            Err(halt) if halt.is_cancelled() => {
                Ok(cancelled(cancelled_act, aim, sent_of(&request.text, before)).into())
            }
            other => other,
        }
    };
    carry_out(act, typing).await
}

/// Returns the amount of a text that was sent since; `None` for a secret, whose length is not revealed.
pub(crate) fn sent_of(text: &str, before: InputCounts) -> Option<Extent> {
    let done = CancelScope::current().inputs().characters.saturating_sub(before.characters);
    let total = characters(&text.replace("\r\n", "\n"));
    let extent = Extent { unit: ExtentUnit::Characters, done, total, shown: false };
    reference(text).is_none().then_some(extent)
}

/// The element that takes the keys, focused.
async fn target_of<D: Desktop>(
    desktop: &D,
    window: WindowId,
    request: &TypeTextOptions,
    limits: &ActLimits,
) -> Result<Option<CheckedTarget>, Halt> {
    let Some(id) = request.element else { return focused_element(desktop, window).await };
    let ready = check(desktop, window, id, request.name.as_deref(), TargetRequirement::Act).await?;
    focus_element(desktop, &ready, limits).await?;
    if !has_keyboard(desktop, &ready).await? {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Focus }.into());
    }
    Ok(Some(ready))
}

async fn type_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: Option<CheckedTarget>,
    request: &TypeTextOptions,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let Some(ready) = target else { return type_by_effect(desktop, window, None, request, limits).await };
    match blindness(&ready.element) {
        // What the application says to Return or Tab decides.
        Some(Blindness::Password) if commits(&request.text) && !request.clear => {
            return type_by_effect(desktop, window, Some(ready), request, limits).await;
        }
        Some(why) => return type_unread(desktop, &ready, why, request, limits).await,
        None => {}
    }
    let is_readable =
        is_read_back(&ready.element, &request.text) && read(desktop, &ready.element).await?.is_some();
    if is_readable {
        type_readable(desktop, &ready, request, limits).await
    } else {
        type_by_effect(desktop, window, Some(ready), request, limits).await
    }
}

/// Returns `true` if a text ends with what takes it over or leaves the field.
fn commits(text: &str) -> bool {
    text.contains(['\n', '\t'])
}

/// Returns `true` if the text of an element shows what was typed: a line end activates or divides most elements, a tab leaves them,
/// and a cell of a table takes its text over later.
fn is_read_back(element: &Element, text: &str) -> bool {
    let keeps_lines = element.states.has(State::MultiLine) && element.role != Role::PARAGRAPH;
    let is_left = text.contains('\t') || (text.contains('\n') && !keeps_lines);
    !is_left && element.role != Role::TABLE_CELL
}

async fn type_readable<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    request: &TypeTextOptions,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let known = desktop.windows().await?;
    let done = |evidence: Evidence| {
        let act = hiding(request.act(Some(&ready.element)), &evidence);
        ActionOutcome::new(act, Aim::element(&ready.element), evidence).by(ActionRoute::Input)
    };
    if request.clear
        && let Some(left) = clear(desktop, ready, limits).await?
    {
        return Ok(done(Shortfall::NotCleared { text: clip(&left, TEXT_MAX) }.into()).into());
    }
    let Some(present) = present(desktop, ready).await? else {
        return Err(ActionRefusal::Unsupported {
            element: (&ready.element).into(),
            what: UnsupportedCapability::Text,
        }
        .into());
    };
    let (expected, stale) = (present.expected(), present.text);
    let before = CancelScope::current().inputs();
    let typing = type_pieces(desktop, ready, (&expected, &stale), &request.text, limits).await;
    let TypingOutcome { mut waited_ms, changes, stopped } = match typing {
        Err(halt) if halt.is_cancelled() => {
            let sent = sent_of(&request.text, before);
            let extent =
                CancelScope::shielded(shown_of(desktop, ready, (&expected, &stale), &request.text, sent));
            let (act, aim) = (request.act(Some(&ready.element)), Aim::element(&ready.element));
            return Ok(cancelled(act, aim, extent.await?).into());
        }
        other => other?,
    };
    if let Some((evidence, output)) = stopped {
        return Ok(ActionReport::from(done(evidence).after(waited_ms).with_changes(changes))
            .with_output(json!({ "text": output })));
    }
    let (evidence, output, more_ms) =
        read_back(desktop, ready, (&expected, &stale), &request.text, limits).await?;
    waited_ms += more_ms;
    Ok(ActionReport::from(done(evidence).after(waited_ms).with_changes(changes))
        .with_window(opened(desktop, &known).await?)
        .with_output(json!({ "text": output })))
}

/// The evidence for a typed text, once it has arrived or does not come; with the text around its place, and how long that took, in
/// milliseconds. `stale` is the text before.
async fn read_back<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    (expected, stale): (&ExpectedText, &str),
    typed: &str,
    limits: &ActLimits,
) -> Result<(Evidence, String, u64), Halt> {
    let judge = |found: &str| expected.judge(typed, stale, found);
    let (found, waited_ms) = read_when_done(desktop, ready, typed.chars().count(), &judge, limits).await?;
    let (mut evidence, output) = expected.evidence(typed, stale, &found);
    if judge(&found) != ReadBackVerdict::Met
        && let Some(proof) = completed(desktop, ready, (expected, typed), &found).await?
    {
        evidence = proof.into();
    }
    Ok((evidence, output, waited_ms))
}

/// The proof that the application completed the typed text behind the caret, with the completion selected.
async fn completed<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    (expected, typed): (&ExpectedText, &str),
    found: &str,
) -> Result<Option<ActionProof>, Halt> {
    let selected = patiently(|| desktop.text_selection(ready.element.id)).await?;
    let completion = expected.completion(typed, found, selected);
    Ok(completion.map(|completion| ActionProof::Reads {
        text: clip(found, TEXT_MAX),
        completion: Some(clip(&completion, TEXT_MAX)),
    }))
}

/// The most characters that are typed before they are read back.
const PIECE_MAX: usize = 200;

/// A text that was typed.
#[derive(Default)]
struct TypingOutcome {
    waited_ms: u64,
    changes: Vec<UiChange>,
    /// Why the rest was not typed, and the text around that place.
    stopped: Option<(Evidence, String)>,
}

/// Types a text into a readable element. Of a long text each piece is read back before the next one is typed: the first that does not
/// read as typed ends it.
async fn type_pieces<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    (expected, stale): (&ExpectedText, &str),
    text: &str,
    limits: &ActLimits,
) -> Result<TypingOutcome, Halt> {
    let letters: Vec<char> = text.replace("\r\n", "\n").chars().collect();
    let (mut typing, mut typed) = (TypingOutcome::default(), String::new());
    for piece in letters.chunks(PIECE_MAX) {
        let text: String = piece.iter().collect();
        let (waited_ms, changes) = type_once(desktop, ready, &text, limits).await?;
        typing.waited_ms += waited_ms;
        typing.changes.extend(changes);
        typed.push_str(&text);
        let done = typed.chars().count();
        if done == letters.len() {
            break;
        }
        let judge = |found: &str| expected.judge(&typed, stale, found);
        let (found, waited_ms) = read_when_done(desktop, ready, piece.len(), &judge, limits).await?;
        typing.waited_ms += waited_ms;
        let reads = judge(&found) == ReadBackVerdict::Met
            || completed(desktop, ready, (expected, typed.as_str()), &found).await?.is_some();
        if !reads {
            let (done, total) = (characters(&typed), u64::try_from(letters.len()).unwrap_or(u64::MAX));
            let extent = Extent { unit: ExtentUnit::Characters, done, total, shown: false };
            let (around, output) = ExpectedText::around(stale, &found);
            typing.stopped = Some((Shortfall::StoppedTyping { extent, around }.into(), output));
            break;
        }
    }
    Ok(typing)
}

/// Maximum number of reads of a field after a cancellation.
const LOOKS_MAX: usize = 10;
/// Maximum time for it to show the received text.
const SHOWS_WITHIN: Duration = Duration::from_millis(200);

/// Returns the amount of a text that an element shows after its typing was cancelled: read once the application
/// has handled what was sent.
pub(crate) async fn shown_of<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    (expected, stale): (&ExpectedText, &str),
    text: &str,
    sent: Option<Extent>,
) -> Result<Option<Extent>, Halt> {
    let Some(sent) = sent else { return Ok(None) };
    let text = text.replace("\r\n", "\n");
    let mut last = None;
    handle_earlier(desktop, ready.surface.id).await?;
    for _ in 0..LOOKS_MAX {
        let watch = watch_app(desktop, ready.surface.id).await?;
        let found = match read(desktop, &ready.element).await {
            Ok(found) => found.unwrap_or_default(),
            // What was sent is known all the same.
            Err(Halt::Failed(DesktopError::NotAnswering { .. } | DesktopError::NoElement(_))) => break,
            Err(halt) => return Err(halt),
        };
        let shown = expected.typed_of(&text, stale, &found, sent.done);
        if shown == Some(sent.done) {
            return Ok(Some(Extent { shown: true, ..sent }));
        }
        let is_same = last.replace(found.clone()) == Some(found);
        if is_same && let Some(done) = shown {
            return Ok(Some(Extent { done, shown: true, ..sent }));
        }
        if is_same {
            break;
        }
        let quiet = QuietLimits { first_change: SHOWS_WITHIN, bound: SHOWS_WITHIN, ..QuietLimits::default() };
        desktop.settle(watch, quiet).await?;
    }
    Ok(Some(sent))
}

async fn type_once<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    text: &str,
    limits: &ActLimits,
) -> Result<(u64, Vec<UiChange>), Halt> {
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.type_text(text).await?;
    let settled = desktop.settle(watch, limits.quiet).await?;
    Ok((settled.waited_ms, settled.changes))
}

/// Types into an element that is not read back. Of a password field the length is compared, where the application tells one.
async fn type_unread<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    why: Blindness,
    request: &TypeTextOptions,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let known = desktop.windows().await?;
    let done = |evidence: Evidence| {
        ActionOutcome::new(request.act(Some(&ready.element)), Aim::element(&ready.element), evidence)
            .by(ActionRoute::Input)
    };
    if request.clear && why == Blindness::Terminal {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Clearing }.into());
    }
    if request.clear
        && let Some(left) = clear(desktop, ready, limits).await?
    {
        return Ok(done(Shortfall::NotCleared { text: dots(&left) }.into()).into());
    }
    let compares = why == Blindness::Password && !commits(&request.text);
    let before = if compares { present(desktop, ready).await? } else { None };
    let (mut waited_ms, changes) = type_once(desktop, ready, &request.text, limits).await?;
    let mut evidence = Uncertainty::Blind { why }.into();
    if let Some(before) = before {
        let expected = before.length_after(&request.text);
        let judge = |found: &str| match found.chars().count() {
            length if length == expected => ReadBackVerdict::Met,
            // None may be all that it tells, or the keys have not arrived yet.
            _ => ReadBackVerdict::OnItsWay,
        };
        let keys = request.text.chars().count();
        let (found, more_ms) = read_when_done(desktop, ready, keys, &judge, limits).await?;
        waited_ms += more_ms;
        if !found.is_empty() {
            let expected = u64::try_from(expected).unwrap_or(u64::MAX);
            let characters = characters(&found);
            evidence = if characters == expected {
                ActionProof::HasLength.into()
            } else {
                Shortfall::OtherLength { characters, expected }.into()
            };
        }
    }
    Ok(ActionReport::from(done(evidence).after(waited_ms).with_changes(changes))
        .with_window(opened(desktop, &known).await?))
}

/// Types where the text cannot be read back, and judges by what changes.
async fn type_by_effect<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: Option<CheckedTarget>,
    request: &TypeTextOptions,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let front = bring_to_front(desktop, window).await?;
    let element = target.as_ref().map(|ready| &ready.element);
    let (act, aim) = (request.act(element), element.map_or_else(|| Aim::focus_of(&front), Aim::element));
    if let Some(ready) = target.as_ref().filter(|_| request.clear)
        && let Some(left) = clear(desktop, ready, limits).await?
    {
        let evidence = Shortfall::NotCleared { text: clip(&left, TEXT_MAX) };
        return Ok(ActionOutcome::new(act, aim, evidence).by(ActionRoute::Input).into());
    }
    let is_drawn = is_told_by_pictures(element) && element.and_then(blindness).is_none();
    let drawn = if is_drawn { DrawnWindowText::read(desktop, &front).await? } else { None };
    let before = Before::take(desktop, &front, element).await?.counting_focus().showing(Sign::Expected);
    let watch = watch_app(desktop, front.id).await?;
    desktop.type_text(&request.text).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let mut done = effect.to_done(act, aim, ActionRoute::Input).or_unknown(effect.damaged);
    if let Some(drawn) = drawn.filter(|_| !done.is_seen()) {
        let place = element.and_then(|element| element.bounds);
        let is_not_seen = matches!(done.action.evidence, Evidence::NotSeen { .. });
        match drawn.shows_typed(desktop, &front, &request.text, place).await? {
            TypedTextEvidence::Reads(text) => {
                done.action.evidence = ActionProof::Reads { text, completion: None }.into();
            }
            TypedTextEvidence::LooksOtherwise if is_not_seen => {
                done.action.evidence = Uncertainty::Pixels { in_picture: true }.into();
            }
            TypedTextEvidence::LooksOtherwise | TypedTextEvidence::Nothing => {}
        }
    }
    let Some(field) = opened_field(desktop, window, &before, element, request).await? else {
        return Ok(done.into());
    };
    let (evidence, output, more_ms) =
        read_back(desktop, &field, (&ExpectedText::whole(), ""), &request.text, limits).await?;
    done.action.evidence = evidence;
    done.action.waited_ms += more_ms;
    Ok(ActionReport::from(done).with_output(json!({ "text": output })))
}

/// The field that a list opened for what was typed into it, such as the one for a path in a file dialog.
async fn opened_field<D: Desktop>(
    desktop: &D,
    window: WindowId,
    before: &Before,
    element: Option<&Element>,
    request: &TypeTextOptions,
) -> Result<Option<CheckedTarget>, Halt> {
    const LISTS: &[Role] = &[Role::LIST, Role::TABLE, Role::TREE, Role::TREE_TABLE];
    let is_list = element.is_some_and(|element| LISTS.contains(&element.role));
    if !is_list || request.text.contains(['\n', '\t']) {
        return Ok(None);
    }
    let field = focused_element(desktop, window).await?;
    Ok(field.filter(|field| {
        field.element.offers(ElementCapability::EditableText)
            && blindness(&field.element).is_none()
            && before.tree.find(field.element.id).is_none()
    }))
}

/// The focused element of the topmost surface that has one.
async fn focused_element<D: Desktop>(desktop: &D, window: WindowId) -> Result<Option<CheckedTarget>, Halt> {
    let front = bring_to_front(desktop, window).await?;
    let tree = read_tree(desktop, front.id).await?;
    let Some(element) = tree.focused() else { return Ok(None) };
    // The viewport of a text may have the focus in place of the text.
    let text = tree.ancestors(element.id).next().filter(|one| one.offers(ElementCapability::EditableText));
    let element = text.filter(|_| element.role == Role::FILLER).unwrap_or(element).clone();
    let all = surfaces(desktop, window).await?;
    let surface = surface_of(desktop, &all, element.id).await?.unwrap_or(front);
    let point = element.bounds.map(|bounds| bounds.center());
    Ok(Some(CheckedTarget { surface, element, point }))
}
