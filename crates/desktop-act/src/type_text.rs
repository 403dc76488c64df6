//! Types text into an element or the focused one, and reads it back.

use std::time::Duration;

use deskhand_core::{
    command::Verdict,
    ids::{ElementId, WindowId},
    ui::{Element, Pattern, State},
};
use deskhand_desktop::{
    Button, Desktop, DesktopError, DesktopResult, ElementAction, QuietLimits,
    keys::{Key, KeyChord, Modifier, NamedKey},
};

use crate::{
    clipboard::paste_here,
    effect::{Before, wait_for_effect, watch_app},
    patience::{patiently, read_element, read_tree},
    report::{ActLimits, ActionReport, Halt, Route, report},
    verdict::{Need, Ready, bring_to_front, check, surface_of, surfaces},
};

/// The most characters read back.
const READ_BACK_MAX: usize = 100_000;
/// How long a busy application may take per key without showing any progress.
const KEY_BOUND: Duration = Duration::from_millis(10);

/// What to type, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeText {
    /// The element; `None` for the focused one.
    pub element: Option<ElementId>,
    /// Its expected name.
    pub name: Option<String>,
    /// The text; `\n` is Return, `\t` is Tab.
    pub text: String,
    /// Whether to clear the existing text first.
    pub clear: bool,
}

/// Types text by keyboard. If the element's text is readable, it is read back and corrected once, and decides the verdict;
/// otherwise changes of the window decide.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn type_text<D: Desktop>(
    desktop: &D,
    window: WindowId,
    request: &TypeText,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    report(type_and_check(desktop, window, request, limits).await)
}

async fn type_and_check<D: Desktop>(
    desktop: &D,
    window: WindowId,
    request: &TypeText,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let target = match request.element {
        Some(id) => {
            let ready = check(desktop, window, id, request.name.as_deref(), Need::Act).await?;
            focus_element(desktop, &ready, limits).await?;
            Some(ready)
        }
        None => focused_element(desktop, window).await?,
    };
    let readable = match &target {
        Some(ready) => read(desktop, &ready.element).await?,
        None => None,
    };
    let commits = request.text.contains(['\n', '\t']);
    match (target, readable) {
        (Some(ready), Some(present)) if !commits => {
            let expected = if request.clear { Expected::Whole } else { Expected::Added(present) };
            type_readable(desktop, &ready, request, &expected, limits).await
        }
        (target, _) => type_blindly(desktop, window, target, request, limits).await,
    }
}

/// The expected text.
enum Expected {
    /// Exactly the typed text.
    Whole,
    /// The earlier text with the typed text inserted somewhere.
    Added(String),
}

/// The result of comparing the text read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// It matches.
    Met,
    /// It may still match: it is unchanged, or a prefix of the typed text.
    OnItsWay,
    /// Further keys cannot make it match.
    Wrong,
}

impl Expected {
    fn judge(&self, typed: &str, stale: &str, found: &str) -> Reading {
        let (typed, stale, found) = (plain(typed), plain(stale), plain(found));
        let (is_met, has_begun) = match self {
            Self::Whole => (found == typed, typed.starts_with(&found)),
            Self::Added(before) => {
                let before = plain(before);
                let is_in = |part: &str| typed == part;
                let begins = |part: &str| typed.starts_with(part);
                (adds(&before, &found, is_in), adds(&before, &found, begins))
            }
        };
        match (is_met, has_begun || found == stale) {
            (true, _) => Reading::Met,
            (false, true) => Reading::OnItsWay,
            (false, false) => Reading::Wrong,
        }
    }
}

/// Whether `found` is `before` with an inserted part that `fits`.
fn adds(before: &str, found: &str, fits: impl Fn(&str) -> bool) -> bool {
    let Some(length) = found.len().checked_sub(before.len()) else { return false };
    before.char_indices().map(|(at, _)| at).chain([before.len()]).any(|at| {
        let part = found.get(at..at + length);
        let (head, rest) = (found.get(..at), found.get(at + length..));
        head == before.get(..at) && rest == before.get(at..) && part.is_some_and(&fits)
    })
}

/// Whether two texts are equal except for a trailing line end, which toolkits add.
pub(crate) fn same_text(found: &str, meant: &str) -> bool {
    plain(found) == plain(meant)
}

fn plain(text: &str) -> String {
    text.trim_end_matches('\n').replace('\u{a0}', " ")
}

async fn type_readable<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    request: &TypeText,
    expected: &Expected,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let what = format!("type {:?} into {}", shorten(&request.text), ready.element.label());
    let before = Before::take(desktop, &ready.surface, Some(&ready.element)).await?;
    let stale = read(desktop, &ready.element).await?.unwrap_or_default();
    if request.clear {
        clear(desktop, ready, limits).await?;
    }
    let (mut waited_ms, mut changes) = type_once(desktop, ready, &request.text, limits).await?;
    let judge = |found: &str| expected.judge(&request.text, &stale, found);
    let keys = request.text.chars().count();
    let (mut found, more_ms) = read_when_done(desktop, ready, keys, &judge, limits).await?;
    waited_ms += more_ms;
    let mut met = judge(&found) == Reading::Met;
    let corrected = !met;
    if corrected {
        let meant = match expected {
            Expected::Whole => request.text.clone(),
            Expected::Added(before) => format!("{}{}", plain(before), request.text),
        };
        clear(desktop, ready, limits).await?;
        // A busy machine may drop keys; the clipboard does not.
        let (paste_ms, taken) = paste_here(desktop, ready, &meant, limits).await?;
        waited_ms += paste_ms;
        if !taken {
            // It does not support pasting.
            let (more_ms, more) = type_once(desktop, ready, &meant, limits).await?;
            waited_ms += more_ms;
            changes.extend(more);
        }
        let wrong = found.clone();
        let judge = |found: &str| Expected::Whole.judge(&meant, &wrong, found);
        found = read_when_done(desktop, ready, meant.chars().count(), &judge, limits).await?.0;
        met = judge(&found) == Reading::Met;
    }
    let summary = match (met, corrected) {
        (true, false) => format!("{what}: it reads so"),
        (true, true) => format!("{what}: it reads so after a correction"),
        (false, _) => format!("{what}: it reads {:?} instead, also after a correction", shorten(&found)),
    };
    let opened = desktop.windows().await?;
    let opened = opened.into_iter().find(|info| before.windows.iter().all(|known| known.id != info.id));
    Ok(ActionReport {
        changes,
        settled_ms: waited_ms,
        ..ActionReport::new(if met { Verdict::Seen } else { Verdict::NotSeen }, Route::Input, summary)
    }
    .with_window(opened)
    .with_output(serde_json::json!({ "text": shorten(&found) })))
}

/// Waits until the element has the expected text or stops changing: on a busy machine an application handles keys long after
/// they were sent. Chromium's window responds before its page has handled most of them, and shows none until it has, so
/// the wait is extended for each of the `keys`.
async fn read_when_done<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    keys: usize,
    judge: &(impl Fn(&str) -> Reading + Sync),
    limits: &ActLimits,
) -> Result<(String, u64), Halt> {
    const LOOKS_MAX: usize = 2_000;
    let patience = limits.effect + KEY_BOUND.saturating_mul(u32::try_from(keys).unwrap_or(u32::MAX));
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
            Some(Reading::Met) => true,
            Some(Reading::OnItsWay) => is_same && left.is_zero(),
            Some(Reading::Wrong) => is_same,
            None => false,
        };
        if is_done {
            return Ok((found.unwrap_or_default(), waited_ms));
        }
        last = found;
        let quiet = match reading {
            Some(Reading::OnItsWay) => QuietLimits { first_change: left, bound: left, ..limits.quiet },
            Some(Reading::Met | Reading::Wrong) | None => {
                QuietLimits { quiet: limits.quiet.first_change, ..limits.quiet }
            }
        };
        let settled_ms = desktop.settle(watch, quiet).await?.waited_ms.max(1);
        waited_ms += settled_ms;
        same_ms += settled_ms;
    }
    Ok((last.unwrap_or_default(), waited_ms))
}

async fn type_once<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    text: &str,
    limits: &ActLimits,
) -> Result<(u64, Vec<deskhand_desktop::Change>), Halt> {
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.type_text(text).await?;
    let settled = desktop.settle(watch, limits.quiet).await?;
    Ok((settled.waited_ms, settled.changes))
}

async fn type_blindly<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: Option<Ready>,
    request: &TypeText,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let front = bring_to_front(desktop, window).await?;
    let what = match &target {
        Some(ready) => format!("type {:?} into {}", shorten(&request.text), ready.element.label()),
        None => format!("type {:?} into the focus of {}", shorten(&request.text), front.label()),
    };
    if let Some(ready) = target.as_ref().filter(|_| request.clear) {
        clear(desktop, ready, limits).await?;
    }
    let element = target.as_ref().map(|ready| &ready.element);
    let before = Before { focus_counts: true, ..Before::take(desktop, &front, element).await? };
    let watch = watch_app(desktop, front.id).await?;
    desktop.type_text(&request.text).await?;
    let effect = wait_for_effect(desktop, watch, &before, limits).await?;
    let mut report = effect.to_report(&what, Route::Input);
    if report.effect == Verdict::NotSeen && effect.damaged {
        report.effect = Verdict::Unknown;
        report.summary = format!("{what}: pixels changed, and the application tells nothing about them");
    }
    Ok(report)
}

/// Focuses an element: through its accessibility interface, else by a click.
pub(crate) async fn focus_element<D: Desktop>(
    desktop: &D,
    ready: &Ready,
    limits: &ActLimits,
) -> Result<Route, Halt> {
    bring_to_front(desktop, ready.surface.id).await?;
    let is_focused = |element: &Element| element.states.has(State::Focused);
    if is_focused(&read_element(desktop, ready.element.id).await?) {
        return Ok(Route::None);
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    match desktop.perform(ready.element.id, &ElementAction::Focus).await {
        Ok(()) => {
            desktop.settle(watch, limits.quiet).await?;
            if is_focused(&read_element(desktop, ready.element.id).await?) {
                return Ok(Route::Semantic);
            }
        }
        Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let Some(point) = ready.point else {
        return Err(Halt::Refused(format!("{} does not take the focus", ready.element.label())));
    };
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.click(point, Button::Left, 1).await?;
    desktop.settle(watch, limits.quiet).await?;
    Ok(Route::Input)
}

/// The focused element of the topmost surface that has one.
async fn focused_element<D: Desktop>(desktop: &D, window: WindowId) -> Result<Option<Ready>, Halt> {
    let front = bring_to_front(desktop, window).await?;
    let tree = read_tree(desktop, front.id).await?;
    let focused = tree.elements.into_iter().rev().find(|element| element.states.has(State::Focused));
    let Some(element) = focused else { return Ok(None) };
    let all = surfaces(desktop, window).await?;
    let surface = surface_of(desktop, &all, element.id).await?.unwrap_or(front);
    let point = element.bounds.map(|bounds| bounds.center());
    Ok(Some(Ready { surface, element, point }))
}

/// The text of an element, if readable.
pub(crate) async fn read<D: Desktop>(desktop: &D, element: &Element) -> Result<Option<String>, Halt> {
    if !element.offers(Pattern::Text) && !element.offers(Pattern::EditableText) {
        return Ok(None);
    }
    match patiently(|| desktop.text(element.id, READ_BACK_MAX)).await {
        Ok(text) => Ok(Some(text)),
        Err(DesktopError::NotOffered { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Clears the focused element by keyboard, or through the accessibility interface if that fails.
pub(crate) async fn clear<D: Desktop>(desktop: &D, ready: &Ready, limits: &ActLimits) -> Result<(), Halt> {
    let before = read(desktop, &ready.element).await?;
    if before.as_deref().is_some_and(|text| plain(text).is_empty()) {
        return Ok(());
    }
    let watch = watch_app(desktop, ready.surface.id).await?;
    desktop.press(&KeyChord { modifiers: vec![Modifier::Ctrl], key: Key::Char('a') }).await?;
    desktop.press(&KeyChord { modifiers: Vec::new(), key: Key::Named(NamedKey::Delete) }).await?;
    desktop.settle(watch, limits.quiet).await?;
    let Some(before) = before else { return Ok(()) };
    let judge = |found: &str| Expected::Whole.judge("", &before, found);
    let (left, _) = read_when_done(desktop, ready, 2, &judge, limits).await?;
    if judge(&left) != Reading::Met && ready.element.offers(Pattern::EditableText) {
        let watch = watch_app(desktop, ready.surface.id).await?;
        match desktop.perform(ready.element.id, &ElementAction::SetText(String::new())).await {
            Ok(()) | Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        desktop.settle(watch, limits.quiet).await?;
    }
    Ok(())
}

/// The text, clipped for a sentence.
pub(crate) fn shorten(text: &str) -> String {
    const LENGTH_MAX: usize = 80;
    if text.chars().count() > LENGTH_MAX {
        let head: String = text.chars().take(LENGTH_MAX).collect();
        format!("{head}…")
    } else {
        text.to_owned()
    }
}
