//! Expected text after typing. Pure.

use std::cmp::Ordering;

use deskhand_ui::action::{ActionProof, Evidence, Shortfall, TEXT_MAX, TextContextDiff};

use crate::hidden::dots;

/// Maximum length of the text returned around the written place, in characters.
pub(crate) const OUTPUT_MAX: usize = 400;

/// A text that can be typed into, as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditableText {
    pub(crate) text: String,
    pub(crate) place: InsertionPoint,
}

/// Place where typed text goes, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InsertionPoint {
    /// Replaces the selection.
    Selected(usize, usize),
    /// Inserted at the caret.
    Caret(usize),
    /// The application does not tell.
    Unknown,
}

/// The expected text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExpectedText {
    /// The typed text between these two.
    Between(String, String),
    /// The earlier text with the typed text inserted somewhere.
    Somewhere(String),
}

/// The result of comparing the text read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadBackVerdict {
    /// The text matches.
    Met,
    /// The text may still match: it is unchanged, or only a first part of the typed text has arrived.
    OnItsWay,
    /// Further keys cannot make it match.
    Wrong,
}

impl EditableText {
    /// Returns the number of characters once the typed ones have taken their place.
    pub(crate) fn length_after(&self, typed: &str) -> usize {
        let length = self.text.chars().count() + typed.chars().count();
        match self.place {
            InsertionPoint::Selected(start, end) => length.saturating_sub(end - start),
            InsertionPoint::Caret(_) | InsertionPoint::Unknown => length,
        }
    }

    /// The text once the typed one has taken its place.
    pub(crate) fn expected(&self) -> ExpectedText {
        let between = |start, end| {
            ExpectedText::Between(
                characters_of(&self.text, 0, start),
                characters_of(&self.text, end, usize::MAX),
            )
        };
        match self.place {
            InsertionPoint::Selected(start, end) => between(start, end),
            InsertionPoint::Caret(at) => between(at, at),
            InsertionPoint::Unknown if plain(&self.text).is_empty() => between(0, 0),
            InsertionPoint::Unknown => ExpectedText::Somewhere(self.text.clone()),
        }
    }
}

impl ExpectedText {
    /// Exactly the typed text.
    pub(crate) const fn whole() -> Self {
        Self::Between(String::new(), String::new())
    }

    /// Compares `found` with what is expected after `typed`; `stale` is the text before.
    pub(crate) fn judge(&self, typed: &str, stale: &str, found: &str) -> ReadBackVerdict {
        let (is_met, has_begun) = match self {
            Self::Between(head, tail) => {
                let is_met = same_after(typed, found, &format!("{head}{typed}{tail}"));
                (is_met, is_begun(head, typed, tail, found))
            }
            Self::Somewhere(before) => {
                let (typed, before, found) = (spaced(typed), plain(before), plain(found));
                let is_in = |part: &str| typed == part;
                let begins = |part: &str| typed.starts_with(part);
                (adds(&before, &found, is_in), adds(&before, &found, begins))
            }
        };
        if let Some(length) = self.hidden_length(typed, found).filter(|_| !is_met) {
            return match length.cmp(&found.chars().count()) {
                Ordering::Equal => ReadBackVerdict::Met,
                Ordering::Greater => ReadBackVerdict::OnItsWay,
                Ordering::Less => ReadBackVerdict::Wrong,
            };
        }
        match (is_met, has_begun || plain(found) == plain(stale)) {
            (true, _) => ReadBackVerdict::Met,
            (false, true) => ReadBackVerdict::OnItsWay,
            (false, false) => ReadBackVerdict::Wrong,
        }
    }

    /// Returns the expected number of characters if the field hides its text, as one for passwords.
    pub(crate) fn hidden_length(&self, typed: &str, found: &str) -> Option<usize> {
        let length = |text: &str| text.chars().count();
        let around = match self {
            Self::Between(head, tail) => length(head) + length(tail),
            Self::Somewhere(before) => length(before),
        };
        (is_hidden(found) && !is_hidden(typed)).then(|| around + length(typed))
    }

    /// The selected completion behind the typed text, if `found` is what is expected apart from it.
    pub(crate) fn completion(
        &self,
        typed: &str,
        found: &str,
        selected: Option<(usize, usize)>,
    ) -> Option<String> {
        let (Self::Between(head, _), Some((start, end))) = (self, selected) else { return None };
        let begins_there = start == head.chars().count() + typed.chars().count();
        let without = format!("{}{}", characters_of(found, 0, start), characters_of(found, end, usize::MAX));
        let fits = begins_there && self.judge(typed, "", &without) == ReadBackVerdict::Met;
        fits.then(|| characters_of(found, start, end))
    }

    /// The evidence for a text that the field hides.
    fn evidence_of_length(&self, typed: &str, stale: &str, found: &str) -> Option<Evidence> {
        let expected = self.hidden_length(typed, found)?;
        let length = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Some(match self.judge(typed, stale, found) {
            ReadBackVerdict::Met => ActionProof::HasLength.into(),
            ReadBackVerdict::OnItsWay | ReadBackVerdict::Wrong => {
                let characters = length(found.chars().count());
                Shortfall::OtherLength { characters, expected: length(expected) }.into()
            }
        })
    }

    /// The evidence for the text `found` after `typed`, and the part of it around that place.
    pub(crate) fn evidence(&self, typed: &str, stale: &str, found: &str) -> (Evidence, String) {
        if let Some(evidence) = self.evidence_of_length(typed, stale, found) {
            return (evidence, dots(found));
        }
        let length = typed.chars().count();
        if self.judge(typed, stale, found) == ReadBackVerdict::Met {
            let start = match self {
                Self::Between(head, _) => head.chars().count(),
                Self::Somewhere(before) => changed_part(before, found).1.0,
            };
            let proof = ActionProof::Reads {
                text: excerpt(found, (start, start + length), TEXT_MAX),
                completion: None,
            };
            return (proof.into(), excerpt(found, (start, start + length), OUTPUT_MAX));
        }
        let (around, output) = Self::around(stale, found);
        let text = around.after.clone();
        let shortfall = Shortfall::ReadsOtherwise { text, around: Some(around) };
        (shortfall.into(), output)
    }

    /// Returns the surroundings of the place where two texts differ, and the part of `found` there.
    pub(crate) fn around(stale: &str, found: &str) -> (TextContextDiff, String) {
        let (was, is) = changed_part(stale, found);
        let around =
            TextContextDiff { before: excerpt(stale, was, TEXT_MAX), after: excerpt(found, is, TEXT_MAX) };
        (around, excerpt(found, is, OUTPUT_MAX))
    }

    /// Returns the number of characters of `text`, from the first one on, that `found` shows as typed: the most
    /// likely number if they were `sent`. `None` if it shows something else.
    pub(crate) fn typed_of(&self, text: &str, stale: &str, found: &str, sent: u64) -> Option<u64> {
        let length = |text: &str| text.chars().count();
        let around = match self {
            Self::Between(head, tail) => length(head) + length(tail),
            Self::Somewhere(before) => length(before),
        };
        let added = length(found).saturating_sub(around);
        let sent = usize::try_from(sent).unwrap_or(usize::MAX);
        // Toolkits add a line end, or take it away.
        let likely = [sent, added, added.saturating_sub(1), added + 1];
        let is_shown = |count: &usize| {
            let typed: String = text.chars().take(*count).collect();
            // Without a key, what was selected is still there.
            let untouched = *count == 0 && plain(found) == plain(stale);
            untouched || (*count <= length(text) && self.judge(&typed, stale, found) == ReadBackVerdict::Met)
        };
        likely.into_iter().find(is_shown).and_then(|count| u64::try_from(count).ok())
    }
}

/// Returns `true` if a text is one sign over and over that stands for other letters.
fn is_hidden(text: &str) -> bool {
    const SIGNS: [char; 7] = ['•', '●', '∙', '*', '＊', '\u{26ab}', '\u{2b24}'];
    let text = plain(text);
    let Some(first) = text.chars().next().filter(|first| SIGNS.contains(first)) else { return false };
    text.chars().all(|c| c == first)
}

/// The part in which two texts differ, in the characters of each.
fn changed_part(before: &str, after: &str) -> ((usize, usize), (usize, usize)) {
    let (before, after): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let shorter = before.len().min(after.len());
    let head = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let rest = before.iter().rev().zip(after.iter().rev()).take(shorter - head);
    let tail = rest.take_while(|(one, other)| one == other).count();
    ((head, before.len() - tail), (head, after.len() - tail))
}

/// At most `max` characters of a text, around a part of it; `…` stands for what is cut off.
pub(crate) fn excerpt(text: &str, (start, end): (usize, usize), max: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(2);
    let middle = usize::midpoint(start.min(letters.len()), end.min(letters.len()));
    let from = middle.saturating_sub(room / 2).min(letters.len().saturating_sub(room));
    let to = (from + room).min(letters.len());
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let kept: String = letters.get(from..to).unwrap_or_default().iter().collect();
    format!("{}{kept}{}", cut(from > 0), cut(to < letters.len()))
}

fn characters_of(text: &str, start: usize, end: usize) -> String {
    text.chars().skip(start).take(end.saturating_sub(start)).collect()
}

/// Returns `true` if a part of `typed` stands between `head` and `tail` so far.
fn is_begun(head: &str, typed: &str, tail: &str, found: &str) -> bool {
    let (head, typed, tail, found) = (spaced(head), spaced(typed), spaced(tail), spaced(found));
    let rest = found.strip_prefix(head.as_str());
    let tail = tail.trim_end_matches('\n');
    rest.and_then(|rest| rest.trim_end_matches('\n').strip_suffix(tail))
        .is_some_and(|part| typed.starts_with(part))
}

/// Returns `true` if `found` is `meant`, except for the line end at the end of a text that toolkits add or take away. After a typed
/// line end they may only add one.
fn same_after(typed: &str, found: &str, meant: &str) -> bool {
    let (found, meant) = (spaced(found), spaced(meant));
    if typed.ends_with('\n') {
        found == meant || found.strip_suffix('\n') == Some(&meant)
    } else {
        found.trim_end_matches('\n') == meant.trim_end_matches('\n')
    }
}

/// Returns `true` if `found` is `before` with an inserted part that `fits`.
fn adds(before: &str, found: &str, fits: impl Fn(&str) -> bool) -> bool {
    let Some(length) = found.len().checked_sub(before.len()) else { return false };
    before.char_indices().map(|(at, _)| at).chain([before.len()]).any(|at| {
        let part = found.get(at..at + length);
        let (head, rest) = (found.get(..at), found.get(at + length..));
        head == before.get(..at) && rest == before.get(at..) && part.is_some_and(&fits)
    })
}

/// A text without the line end that toolkits add to it.
pub(crate) fn plain(text: &str) -> String {
    spaced(text.trim_end_matches('\n'))
}

/// The text with ordinary spaces: pages show others at the end of a line.
fn spaced(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

#[cfg(test)]
#[path = "expected_tests.rs"]
mod tests;
