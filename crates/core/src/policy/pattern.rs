//! Patterns of rules.

use crate::{keys::KeyChord, ui::fold_name};

/// Whether a name matches a pattern. Both are compared in the form in which elements are found by name: without case,
/// mnemonics, invisible characters and a trailing `…` or `:`.
pub fn matches_name(pattern: &str, name: &str) -> bool {
    let folded = fold_name(name);
    pattern.split('|').any(|pattern| matches(&fold_name(pattern), &folded))
}

/// Whether key chords match a pattern: as text, or, where the pattern is one chord, as the same chord in any spelling:
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

/// Whether a text matches a pattern: `|` separates alternatives, `*` matches any text, `?` one character;
/// case-insensitive.
pub fn matches(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.trim().chars().flat_map(char::to_lowercase).collect();
    pattern.split('|').any(|pattern| {
        let pattern: Vec<char> = pattern.trim().chars().flat_map(char::to_lowercase).collect();
        glob(&pattern, &text)
    })
}

/// Backtracks to the last `*` only, so that the time is bounded by pattern times text.
fn glob(pattern: &[char], text: &[char]) -> bool {
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
