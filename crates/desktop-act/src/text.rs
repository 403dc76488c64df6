//! The text of an element: reading it back, judging it, clearing it.

use std::time::Duration;

use deskhand_core::{
    action::{Evidence, Proof, Shortfall, TEXT_MAX},
    text::clip,
    ui::{Element, Pattern},
};
use deskhand_desktop::{
    Desktop, DesktopError, ElementAction, QuietLimits,
    keys::{Key, KeyChord, Modifier, NamedKey},
};

use crate::{
    checks::Ready,
    patience::{patiently, watch_app},
    report::{ActLimits, Halt},
};

/// The most characters read back.
const READ_BACK_MAX: usize = 100_000;
/// How long a busy application may take per key without showing any progress.
const KEY_BOUND: Duration = Duration::from_millis(10);

/// The expected text.
pub(crate) enum Expected {
    /// Exactly the typed text.
    Whole,
    /// The earlier text with the typed text inserted somewhere.
    Added(String),
}

/// The result of comparing the text read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// It matches.
    Met,
    /// It may still match: it is unchanged, or a prefix of the typed text.
    OnItsWay,
    /// Further keys cannot make it match.
    Wrong,
}

impl Expected {
    pub(crate) fn judge(&self, typed: &str, stale: &str, found: &str) -> Reading {
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

pub(crate) fn plain(text: &str) -> String {
    text.trim_end_matches('\n').replace('\u{a0}', " ")
}

/// The length of a text in characters.
pub(crate) fn characters(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// The evidence of a text that was read back after it was written, once or twice (`corrected`).
pub(crate) fn read_back(found: &str, met: bool, corrected: bool) -> Evidence {
    let text = clip(found, TEXT_MAX);
    if met {
        Proof::Reads { text, corrected }.into()
    } else {
        Shortfall::ReadsOtherwise { text, corrected }.into()
    }
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

/// Waits until the element has the expected text or stops changing: on a busy machine an application handles keys long after
/// they were sent. Chromium's window responds before its page has handled most of them, and shows none until it has, so
/// the wait is extended for each of the `keys`.
pub(crate) async fn read_when_done<D: Desktop>(
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
