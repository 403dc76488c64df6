//! Patterns of rules.

use crate::{fold_name, keys::KeyChord};

/// Returns `true` if a name matches a pattern. Both are compared in the form in which elements are found by name: without case,
/// mnemonics, invisible characters and a trailing `…` or `:`.
pub fn matches_name(pattern: &str, name: &str) -> bool {
    NameGlobs::new(&[pattern]).have(&folded(name))
}

/// Patterns of names, ready to be compared: for those that many names are compared with.
pub struct NameGlobs(Vec<Vec<char>>);

impl NameGlobs {
    /// Patterns, each with alternatives between `|`.
    pub fn new(patterns: &[&str]) -> Self {
        Self(patterns.iter().flat_map(|pattern| pattern.split('|')).map(folded).collect())
    }

    /// Returns `true` if one of them matches a name that was [`folded`].
    pub fn have(&self, name: &[char]) -> bool {
        self.0.iter().any(|pattern| glob(pattern, name))
    }
}

/// A name in the form in which names are compared.
pub fn folded(name: &str) -> Vec<char> {
    lower(&fold_name(name))
}

/// Returns `true` if key chords match a pattern: as text, or, where the pattern is one chord, as the same chord in any spelling:
/// `control+S` and `ctrl+s`, `del` and `Delete`.
pub fn matches_keys(pattern: &str, keys: &str) -> bool {
    let chord = chord(keys);
    let same = |pattern: &str| chord.is_some() && self::chord(pattern) == chord;
    matches(pattern, keys) || pattern.split('|').any(same)
}

/// The canonical form of a key chord in any spelling.
fn chord(text: &str) -> Option<String> {
    let chord: KeyChord = text.trim().parse().ok()?;
    Some(chord.canonical().to_string().to_lowercase())
}

/// Returns `true` if a text matches a pattern: `|` separates alternatives, `*` matches any text, `?` one character;
/// case-insensitive.
pub fn matches(pattern: &str, text: &str) -> bool {
    let text = lower(text);
    pattern.split('|').any(|pattern| glob(&lower(pattern), &text))
}

fn lower(text: &str) -> Vec<char> {
    text.trim().chars().flat_map(char::to_lowercase).collect()
}

/// Backtracks to the last `*` only, so that the time is bounded by pattern times text.
pub fn glob(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0_usize, 0_usize);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match (pattern.get(p), text.get(t)) {
            (Some('*'), _) => {
                back = Some((p, t));
                p += 1;
            }
            (Some(wanted), Some(found)) if *wanted == '?' || wanted == found => {
                p += 1;
                t += 1;
            }
            _ => match &mut back {
                Some((star, from)) => {
                    *from += 1;
                    p = *star + 1;
                    t = *from;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_none_or(|rest| rest.iter().all(|c| *c == '*'))
}
