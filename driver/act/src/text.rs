//! The text of an element: reading it, waiting for what was typed, clearing it.

use std::time::Duration;

use deskhand_desktop::{
    Desktop, DesktopError, ElementAction, QuietLimits,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::{
    Element, ElementCapability, Role, State,
    action::{
        ActionProof, ActionRefusal, Blindness, Evidence, Shortfall, Uncertainty, UnsupportedCapability,
    },
    ids::{ElementId, WindowId},
};

use crate::{
    checks::CheckedTarget,
    expected::{EditableText, ExpectedText, InsertionPoint, ReadBackVerdict, plain},
    patience::{comes_within, handle_earlier, handled, patiently, read_element, read_tree, watch_app},
    report::{ActLimits, Halt},
};

/// The most characters read back.
const READ_BACK_MAX: usize = 100_000;
/// Maximum time per key for a busy application that shows no progress.
const KEY_BOUND: Duration = Duration::from_millis(10);

/// The length of a text in characters.
pub(crate) fn characters(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// The text of an element, if readable.
pub(crate) async fn read<D: Desktop>(desktop: &D, element: &Element) -> Result<Option<String>, Halt> {
    if !element.offers(ElementCapability::Text) && !element.offers(ElementCapability::EditableText) {
        return Ok(None);
    }
    match patiently(|| desktop.text(element.id, READ_BACK_MAX)).await {
        Ok(text) => Ok(Some(text)),
        Err(DesktopError::NotOffered { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The text of an element with the place where typed text goes, once the application has handled every input; `None` if
/// it is not readable.
pub(crate) async fn present<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
) -> Result<Option<EditableText>, Halt> {
    handle_earlier(desktop, ready.surface.id).await?;
    let id = ready.element.id;
    let Some(text) = read(desktop, &ready.element).await? else { return Ok(None) };
    let length = text.chars().count();
    let place = match patiently(|| desktop.text_selection(id)).await? {
        Some((start, end)) if start < end && end <= length => InsertionPoint::Selected(start, end),
        Some(_) => InsertionPoint::Unknown,
        None => match patiently(|| desktop.caret(id)).await? {
            Some(at) if at <= length => InsertionPoint::Caret(at),
            Some(_) | None => InsertionPoint::Unknown,
        },
    };
    Ok(Some(EditableText { text, place }))
}

/// Returns `true` if keys reach an element: it has the keyboard focus, or the focused element contains it or is
/// a part of it. Also `true` where nothing reports the focus.
pub(crate) async fn has_keyboard<D: Desktop>(desktop: &D, ready: &CheckedTarget) -> Result<bool, Halt> {
    let id = ready.element.id;
    if read_element(desktop, id).await?.states.has(State::Focused) {
        return Ok(true);
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.settle(watch, QuietLimits::UP_TO_DATE).await?;
    let tree = read_tree(desktop, ready.surface.id).await?;
    let mut is_elsewhere = false;
    for focused in tree.elements.iter().filter(|element| element.states.has(State::Focused)) {
        let is_related = focused.id == id
            || patiently(|| desktop.is_within(id, focused.id)).await?
            || patiently(|| desktop.is_within(focused.id, id)).await?;
        if is_related {
            return Ok(true);
        }
        is_elsewhere = true;
    }
    Ok(!is_elsewhere)
}

/// Returns `true` if an element is one of several parts of a text or table, so that select-all selects more than it.
fn is_part_of_more(element: &Element) -> bool {
    [Role::PARAGRAPH, Role::HEADING, Role::SECTION, Role::LIST_ITEM, Role::TREE_ITEM, Role::TABLE_CELL]
        .contains(&element.role)
}

/// Maximum time for which a text may be shown once its deletion was handled.
const CLEARED_WITHIN: Duration = Duration::from_millis(400);

fn select_all() -> KeyChord {
    KeyChord { modifiers: vec![KeyModifier::Ctrl], key: ChordKey::Char('a') }
}

fn delete() -> KeyChord {
    NamedKey::Delete.into()
}

/// Clears the element that has the keyboard: selects its text, makes sure that nothing else is selected, and deletes it.
/// Returns what is left of the text, if anything is; nothing may be typed then.
///
/// # Errors
/// [`ActionRefusal::Unsupported`] if its text cannot be selected without that of its neighbours.
pub(crate) async fn clear<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    limits: &ActLimits,
) -> Result<Option<String>, Halt> {
    let is_empty = |text: &str| plain(text).is_empty();
    let before = read(desktop, &ready.element).await?;
    // An application may keep it to itself whether there is a password.
    let is_hidden = before.is_none() || ready.element.role == Role::PASSWORD_TEXT;
    let before = before.unwrap_or_default();
    if is_empty(&before) && !is_hidden {
        return Ok(None);
    }
    let length = plain(&before).chars().count();
    let place = (ready.surface.id, ready.element.id);
    if !(select_by_keys(desktop, ready, length).await?
        || select_by_semantics(desktop, place, length, Duration::ZERO).await?)
    {
        let element = (&ready.element).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Clearing }.into());
    }
    desktop.press(&delete()).await?;
    // A field that has handled the key and still shows its text keeps it, as one for dates.
    let limits = &ActLimits { effect: limits.effect.min(CLEARED_WITHIN), ..*limits };
    let judge = |found: &str| ExpectedText::whole().judge("", &before, found);
    let (left, _) = read_when_done(desktop, ready, 2, &judge, limits).await?;
    Ok((!is_empty(&left)).then_some(left))
}

/// Selects all by keys; false if that selects something else, or may.
async fn select_by_keys<D: Desktop>(desktop: &D, ready: &CheckedTarget, length: usize) -> Result<bool, Halt> {
    if is_part_of_more(&ready.element) {
        return Ok(false);
    }
    handled(desktop, ready.surface.id, async || desktop.press(&select_all()).await).await?;
    let selected = patiently(|| desktop.text_selection(ready.element.id)).await?;
    // Not every toolkit reports the selection.
    Ok(selected.is_none_or(|(start, end)| start == 0 && end >= length))
}

/// Selects the first `length` characters of an element in `window` through the accessibility interface; whether they are
/// selected within `bound` once the application has handled that.
pub(crate) async fn select_by_semantics<D: Desktop>(
    desktop: &D,
    (window, id): (WindowId, ElementId),
    length: usize,
    bound: Duration,
) -> Result<bool, Halt> {
    let watch = watch_app(desktop, window).await?;
    match desktop.perform(id, &ElementAction::SelectText { start: 0, end: length }).await {
        Ok(()) | Err(DesktopError::NotAnswering { .. }) => {}
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let is_selected = async || {
        let selected = patiently(|| desktop.text_selection(id)).await?;
        Ok::<_, Halt>(selected == Some((0, length)))
    };
    Ok(comes_within(desktop, (window, watch), bound, is_selected).await?.holds)
}

/// Waits until the element has the expected text or stops changing: on a busy machine an application handles keys long after
/// they were sent. Chromium's window responds before its page has handled most of them, and shows none until it has, so
/// the wait is extended for each of the `keys`.
pub(crate) async fn read_when_done<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    keys: usize,
    judge: &(impl Fn(&str) -> ReadBackVerdict + Sync),
    limits: &ActLimits,
) -> Result<(String, u64), Halt> {
    const LOOKS_MAX: usize = 2_000;
    // A long text has begun to arrive long before a busy page shows the rest.
    const LONG_KEYS: usize = 20;
    const LONG: Duration = Duration::from_secs(5);
    let base = if keys > LONG_KEYS { limits.effect.max(LONG) } else { limits.effect };
    let patience = base + KEY_BOUND.saturating_mul(u32::try_from(keys).unwrap_or(u32::MAX));
    let (mut last, mut waited_ms, mut same_ms) = (None, 0, 0);
    for _ in 0..LOOKS_MAX {
        let watch = watch_app(desktop, ready.surface.id).await?;
        let found = match read(desktop, &ready.element).await {
            Err(Halt::Failed(DesktopError::NotAnswering { .. })) => None,
            other => Some(other?.unwrap_or_default()),
        };
        let reading = found.as_deref().map(judge);
        let is_same = found.is_some() && found == last;
        same_ms = if is_same { same_ms } else { 0 };
        let left = patience.saturating_sub(Duration::from_millis(same_ms));
        // It may draw the text long before it reports it.
        let is_done = match reading {
            Some(ReadBackVerdict::Met) => true,
            Some(ReadBackVerdict::OnItsWay) => is_same && left.is_zero(),
            Some(ReadBackVerdict::Wrong) => is_same,
            None => false,
        };
        if is_done {
            return Ok((found.unwrap_or_default(), waited_ms));
        }
        last = found;
        let quiet = match reading {
            Some(ReadBackVerdict::OnItsWay) => {
                QuietLimits { first_change: left, bound: left, ..limits.quiet }
            }
            Some(ReadBackVerdict::Met | ReadBackVerdict::Wrong) | None => {
                QuietLimits { quiet: limits.quiet.first_change, ..limits.quiet }
            }
        };
        let settled_ms = desktop.settle(watch, quiet).await?.waited_ms.max(1);
        waited_ms += settled_ms;
        same_ms += settled_ms;
    }
    Ok((last.unwrap_or_default(), waited_ms))
}

/// The evidence for a password that replaced what was in its field, and how long that took, in milliseconds: its length, where the
/// application tells that.
pub(crate) async fn length_evidence<D: Desktop>(
    desktop: &D,
    ready: &CheckedTarget,
    typed: &str,
    why: Blindness,
    limits: &ActLimits,
) -> Result<(Evidence, u64), Halt> {
    let blind = || Evidence::from(Uncertainty::Blind { why });
    if why != Blindness::Password || read(desktop, &ready.element).await?.is_none() {
        return Ok((blind(), 0));
    }
    let expected = typed.chars().count();
    let judge = |found: &str| match found.chars().count() {
        length if length == expected => ReadBackVerdict::Met,
        // None may be all that it tells, or the keys have not arrived yet.
        _ => ReadBackVerdict::OnItsWay,
    };
    let (found, waited_ms) = read_when_done(desktop, ready, expected, &judge, limits).await?;
    let (characters, expected) = (characters(&found), characters(typed));
    let evidence = match characters {
        0 => blind(),
        length if length == expected => ActionProof::HasLength.into(),
        _ => Shortfall::OtherLength { characters, expected }.into(),
    };
    Ok((evidence, waited_ms))
}
