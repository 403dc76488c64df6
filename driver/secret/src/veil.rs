//! Hides the values that were used in every text that goes on.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    ops::Range,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{SecretValue, forms::forms};

/// The prefix of a reference.
const PREFIX: &str = "secret:";
/// The prefix of the mark for a password that was typed without a reference; its number follows.
const DOTS: &str = "••••••••";
/// Number of consecutive characters of a value that count as a part of it.
const PART: usize = 3;
/// The most fields that are remembered; then the oldest is forgotten.
const FIELDS_MAX: usize = 1_000;

/// The secrets that were used, and what hides them. Clones share them.
#[derive(Clone, Default)]
pub struct Veil(Arc<RwLock<VeilState>>);

#[derive(Default)]
struct VeilState {
    secrets: Vec<KnownSecret>,
    /// The secret that each field has last been given, by the number of its id.
    fields: BTreeMap<u32, usize>,
}

struct KnownSecret {
    mark: String,
    value: SecretValue,
    /// Each form as it is compared: in lower case, without spaces. Empty if the value is hidden in its fields alone.
    folded: Vec<Zeroizing<Vec<char>>>,
    /// `true` if the value is a word, which may be part of other words that are no secret.
    is_word: bool,
}

/// Returns the mark for a secret of this name: `secret:NAME`, or the name itself if it starts with dots.
fn mark_of(name: &str) -> String {
    if name.starts_with(DOTS) { name.to_owned() } else { format!("{PREFIX}{name}") }
}

/// The handling of words and numbers in data: hidden as well, or left unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordRedaction {
    Hidden,
    Kept,
}

/// A text with marks in place of values, and which part of it was which part of the text before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRedaction {
    /// The text with marks.
    pub text: String,
    /// `true` if the text contains a mark.
    pub is_changed: bool,
    /// The replacements, in characters: the replaced range, and the length of its replacement.
    replaced: Vec<(Range<usize>, usize)>,
}

impl Veil {
    /// The veil over everything that this process has read, for what a process has one of: its log, its errors.
    #[must_use]
    pub fn of_process() -> Self {
        static VEIL: LazyLock<Veil> = LazyLock::new(Veil::default);
        VEIL.clone()
    }

    /// Returns `true` if no secret was used so far, so that there is nothing to hide.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.with(|known| known.secrets.is_empty())
    }

    /// Hides a value from now on.
    pub fn add(&self, name: &str, value: &SecretValue) {
        let folded = forms(value.expose()).iter().map(|form| Zeroizing::new(fold(form).0)).collect();
        self.know(name, value, folded, /*is_word*/ false);
    }

    /// Hides a password that was typed without a reference: everywhere, or in its fields alone if it is too short or too common for that.
    /// One that is a word is hidden where it stands as a whole.
    pub fn add_typed(&self, mark: &str, value: &SecretValue, everywhere: bool) {
        let long =
            value.expose().chars().filter(|c| !c.is_whitespace()).count() >= SecretValue::CHARACTERS_MIN;
        let forms = if everywhere && long { forms(value.expose()) } else { Vec::new() };
        let folded = forms.iter().map(|form| Zeroizing::new(fold(form).0)).collect();
        let is_word = value.expose().chars().all(char::is_alphabetic);
        self.know(mark, value, folded, is_word);
    }

    fn know(&self, name: &str, value: &SecretValue, folded: Vec<Zeroizing<Vec<char>>>, is_word: bool) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mark = mark_of(name);
        if known.secrets.iter().any(|one| one.mark == mark && one.value == *value) {
            return;
        }
        known.secrets.push(KnownSecret { mark, value: value.clone(), folded, is_word });
    }

    /// Notes that a field was given a secret, so that a part of it is hidden there as well.
    pub fn typed_into(&self, field: u32, name: &str) {
        let mark = mark_of(name);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = known.secrets.iter().rposition(|one| one.mark == mark) else { return };
        while known.fields.len() >= FIELDS_MAX {
            known.fields.pop_first();
        }
        known.fields.insert(field, at);
    }

    /// Returns `true` if a field was given a secret.
    #[must_use]
    pub fn was_typed_into(&self, field: u32) -> bool {
        self.with(|known| known.fields.contains_key(&field))
    }

    /// Returns `true` if a text shows a secret.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.with(|known| !known.secrets.is_empty() && !find(known, text).is_empty())
    }

    /// The text with `secret:NAME` in place of every value. Hiding twice changes nothing.
    #[must_use]
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let is_plain = self.with(|known| known.secrets.is_empty() || text.is_empty());
        if is_plain {
            return Cow::Borrowed(text);
        }
        let hidden = self.hide_with_places(text);
        if hidden.is_changed { Cow::Owned(hidden.text) } else { Cow::Borrowed(text) }
    }

    /// The same, with what stood where.
    #[must_use]
    pub fn hide_with_places(&self, text: &str) -> TextRedaction {
        self.with(|known| replace(text, &find(known, text)))
    }

    /// The text of a field. Where the field was given a secret, a part of that is hidden too, and how many dots stand for it.
    #[must_use]
    pub fn hide_in_field(&self, field: u32, text: &str) -> TextRedaction {
        let hidden = self.hide_with_places(text);
        self.with(|known| {
            let typed = known.fields.get(&field).and_then(|at| known.secrets.get(*at));
            let Some(secret) = typed.filter(|_| !text.is_empty()) else { return hidden };
            let length = text.chars().count();
            let whole = |now: String| {
                let shown = now.chars().count();
                TextRedaction { text: now, is_changed: true, replaced: vec![(0..length, shown)] }
            };
            if let Some(dot) = dots(text) {
                // As many more or fewer than the mark has letters as there are than the value has.
                let value = secret.value.expose().chars().count();
                let shown = (secret.mark.chars().count() + length).saturating_sub(value).max(1);
                return whole(dot.to_string().repeat(shown));
            }
            if !has_part(&hidden.text, &secret.mark, secret.value.expose()) && !is_begun(text, secret) {
                return hidden;
            }
            let begun = beginning(&hidden.text, secret);
            whole(begun.unwrap_or_else(|| format!("[part of {}]", secret.mark)))
        })
    }

    /// Data without the values: in every text of it, names of fields included. Where that makes it other data, as with a value
    /// that is also a word of its format, words and numbers stay.
    ///
    /// # Errors
    /// It is no such data any more.
    pub fn hide_in<T: Serialize + DeserializeOwned>(&self, data: T) -> Result<T, serde_json::Error> {
        if self.is_empty() {
            return Ok(data);
        }
        let whole = serde_json::to_value(&data)?;
        let mut hidden = whole.clone();
        if !self.hide_in_json(&mut hidden, WordRedaction::Hidden) {
            return Ok(data);
        }
        if let Ok(hidden) = serde_json::from_value(hidden) {
            return Ok(hidden);
        }
        let mut hidden = whole;
        self.hide_in_json(&mut hidden, WordRedaction::Kept);
        serde_json::from_value(hidden)
    }

    fn hide_in_json(&self, value: &mut Value, words: WordRedaction) -> bool {
        match value {
            Value::String(text) if words == WordRedaction::Kept && is_word(text) => false,
            Value::Number(_) if words == WordRedaction::Kept => false,
            Value::String(text) => {
                let hidden = self.hide_with_places(text);
                if hidden.is_changed {
                    *text = hidden.text;
                }
                hidden.is_changed
            }
            Value::Array(items) => {
                items.iter_mut().map(|item| self.hide_in_json(item, words)).fold(false, |a, b| a | b)
            }
            Value::Object(fields) => {
                let is_named = fields.keys().any(|key| self.is_in(key));
                if is_named {
                    let all = std::mem::take(fields);
                    *fields =
                        all.into_iter().map(|(key, value)| (self.hide(&key).into_owned(), value)).collect();
                }
                fields.values_mut().map(|field| self.hide_in_json(field, words)).fold(is_named, |a, b| a | b)
            }
            Value::Number(number) => {
                let text = number.to_string();
                let is_shown = self.is_in(&text);
                if is_shown {
                    *value = Value::String(self.hide(&text).into_owned());
                }
                is_shown
            }
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn with<T>(&self, read: impl FnOnce(&VeilState) -> T) -> T {
        read(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Veil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Veil")
    }
}

/// Two that share what they hide are equal.
impl PartialEq for Veil {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl TextRedaction {
    /// The place in the text with marks of a place in the text before, both as the number of characters before it. What
    /// is inside of a value is at its end.
    #[must_use]
    pub fn place_now(&self, place: usize) -> usize {
        let mut moved = place;
        for (was, shown) in &self.replaced {
            if place >= was.end {
                moved = (moved + shown).saturating_sub(was.len());
            } else if place > was.start {
                return (moved + shown).saturating_sub(place - was.start);
            }
        }
        moved
    }

    /// The place in the text before of a place in the text with marks.
    #[must_use]
    pub fn place_before(&self, place: usize) -> usize {
        let (mut now, mut before) = (0, 0);
        for (was, shown) in &self.replaced {
            let start = now + (was.start - before);
            if place <= start {
                break;
            }
            if place < start + shown {
                return was.end;
            }
            (now, before) = (start + shown, was.end);
        }
        before + place.saturating_sub(now)
    }
}

impl KnownSecret {
    /// Returns `true` if letters are the value itself; a page may show other spaces.
    fn is(&self, letters: &[char]) -> bool {
        let plain = |c: char| if c == '\u{a0}' { ' ' } else { c };
        letters.iter().map(|c| plain(*c)).eq(self.value.expose().chars().map(plain))
    }

    /// Returns the mark for another form of the value, which is not the same text.
    fn other_mark(&self) -> String {
        format!("[{} in another form]", self.mark)
    }

    /// Returns the prefix of the mark, for a value that is being typed.
    fn mark_begun(&self) -> &'static str {
        if self.mark.starts_with(DOTS) { DOTS } else { PREFIX }
    }

    /// Returns `true` if the value may stand at a place of a text: a word only as a whole.
    fn may_stand(&self, letters: &[char], range: &Range<usize>) -> bool {
        let before = range.start.checked_sub(1).and_then(|at| letters.get(at));
        let is_apart = |c: Option<&char>| c.is_none_or(|c| !c.is_alphanumeric());
        !self.is_word || (is_apart(before) && is_apart(letters.get(range.end)))
    }
}

/// A text as it is compared (in lower case, without spaces and what cannot be seen), with the character that each is from.
fn fold(text: &str) -> (Vec<char>, Vec<usize>) {
    let is_skipped = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    let kept = text.chars().enumerate().filter(|(_, c)| !is_skipped(*c));
    kept.flat_map(|(at, c)| c.to_lowercase().map(move |lower| (lower, at))).unzip()
}

/// Finds the secrets in a text, with their marks, as ranges of characters; in order, without overlaps.
fn find(known: &VeilState, text: &str) -> Vec<(Range<usize>, String)> {
    if known.secrets.is_empty() {
        return Vec::new();
    }
    let (folded, places) = fold(text);
    let marks = marks(known, text);
    let letters: Vec<char> = text.chars().collect();
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    for secret in &known.secrets {
        for form in &secret.folded {
            for at in matches(&folded, form) {
                let first = places.get(at).copied();
                let last = places.get(at + form.len() - 1).copied();
                let Some((first, last)) = first.zip(last) else { continue };
                let range = first..last + 1;
                let is_free = |taken: &Range<usize>| range.end <= taken.start || range.start >= taken.end;
                if secret.may_stand(&letters, &range) && marks.iter().all(is_free) {
                    let there = letters.get(range.clone()).unwrap_or_default();
                    let mark = if secret.is(there) { secret.mark.clone() } else { secret.other_mark() };
                    found.push((range, mark));
                }
            }
        }
    }
    // What overlaps is hidden as one.
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut joined: Vec<(Range<usize>, String)> = Vec::new();
    for (range, mark) in found {
        match joined.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push((range, mark)),
        }
    }
    joined
}

/// Finds the marks already in a text, as ranges of characters.
fn marks(known: &VeilState, text: &str) -> Vec<Range<usize>> {
    let places = known.secrets.iter().flat_map(|secret| {
        text.match_indices(secret.mark.as_str()).map(|(at, mark)| {
            let start = text.get(..at).map_or(0, |head| head.chars().count());
            start..start + mark.chars().count()
        })
    });
    places.collect()
}

/// Finds the starts of a form in a text, without overlaps.
fn matches(text: &[char], form: &[char]) -> Vec<usize> {
    let mut found = Vec::new();
    let Some(first) = form.first() else { return found };
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.iter().position(|c| c == first)) {
        let start = at + next;
        let is_there = text.get(start..start + form.len()).is_some_and(|part| part == form);
        if is_there {
            found.push(start);
        }
        at = start + if is_there { form.len() } else { 1 };
    }
    found
}

fn replace(text: &str, found: &[(Range<usize>, String)]) -> TextRedaction {
    let letters: Vec<char> = text.chars().collect();
    let mut now = String::with_capacity(text.len());
    let (mut at, mut replaced) = (0, Vec::new());
    for (range, mark) in found {
        now.extend(letters.get(at..range.start).unwrap_or_default());
        now.push_str(mark);
        replaced.push((range.clone(), mark.chars().count()));
        at = range.end;
    }
    now.extend(letters.get(at..).unwrap_or_default());
    TextRedaction { text: now, is_changed: !found.is_empty(), replaced }
}

/// Returns `true` if a text may be a word or an id of a format.
fn is_word(text: &str) -> bool {
    const LONG: usize = 40;
    text.len() <= LONG && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The sign that a text repeats in place of its letters, as fields for passwords do.
fn dots(text: &str) -> Option<char> {
    let first = text.chars().next()?;
    let is_mask =
        matches!(first, '•' | '●' | '∙' | '·' | '*' | '＊' | '\u{26ab}' | '\u{2b24}' | '?' | '\u{fffc}');
    (is_mask && text.chars().all(|c| c == first)).then_some(first)
}

/// Returns `true` if a text is the beginning of a value, of any length, and not all of it.
fn is_begun(text: &str, secret: &KnownSecret) -> bool {
    let value = secret.value.expose();
    value.len() > text.len() && value.starts_with(text)
}

/// A text with the beginning of the mark in place of the beginning of a value: it is being typed. `None` if there is more of the
/// value in it.
fn beginning(text: &str, secret: &KnownSecret) -> Option<String> {
    const WHOLE: &str = "\0";
    let (mark, value) = (secret.mark.as_str(), secret.value.expose());
    if is_begun(text, secret) {
        return Some(secret.mark_begun().to_owned());
    }
    // What stands for the whole value already is left alone.
    let apart = text.replace(mark, WHOLE);
    let ends: Vec<usize> = value.char_indices().map(|(at, _)| at).skip(PART).collect();
    let longest =
        ends.into_iter().rev().filter_map(|end| value.get(..end)).find(|part| apart.contains(part))?;
    let begun = apart.replacen(longest, WHOLE, 1);
    let is_all = !has_part(&begun, WHOLE, value);
    is_all.then(|| apart.replacen(longest, secret.mark_begun(), 1).replace(WHOLE, mark))
}

/// Returns `true` if a text, apart from marks, has a part of a value.
fn has_part(text: &str, mark: &str, value: &str) -> bool {
    let (rest, _) = fold(&text.replace(mark, "\n"));
    let (value, _) = fold(value);
    let part = PART.min(value.len());
    value.windows(part).any(|piece| rest.windows(part).any(|other| other == piece))
}

#[cfg(test)]
#[path = "veil_tests.rs"]
mod tests;
