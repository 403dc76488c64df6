//! Bounded look-ahead in almost-JSON.

/// Look-ahead limit for the end of a key, in characters.
pub(super) const KEY_MAX: usize = 200;

/// Look-ahead limit after a quote, in bytes.
const AHEAD_MAX: usize = 2048;

/// The start of `text`, up to the look-ahead limit.
pub(super) fn prefix(text: &str) -> &str {
    let mut end = AHEAD_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Returns `true` if `text`, which starts with a bracket, continues like an object: with a quoted key and a colon, or a prefix
/// of one.
pub(super) fn looks_like_object(text: &str) -> bool {
    let text = prefix(text);
    let inner = text.trim_start_matches(['{', '[']).trim_start();
    let Some(opener) = inner.chars().next().and_then(Quote::opened_by) else { return false };
    let mut rest = inner.chars().skip(1).take(KEY_MAX);
    if !pass_key(&mut rest, opener) {
        return inner.chars().nth(KEY_MAX).is_none();
    }
    let after: String = rest.collect();
    after.trim_start().chars().next().is_none_or(|character| matches!(character, ':' | '：'))
}

/// The length of the balanced bracketed text at the start of `text`; brackets in double-quoted strings do not count.
pub(super) fn naive_end(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth += 1,
            '}' | ']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + character.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
}

/// A quotation style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    TypographicDouble,
    TypographicSingle,
}

impl Quote {
    pub(super) fn opened_by(character: char) -> Option<Self> {
        Some(match character {
            '"' => Self::Double,
            '\'' => Self::Single,
            '“' | '”' | '„' => Self::TypographicDouble,
            '‘' | '’' => Self::TypographicSingle,
            _ => return None,
        })
    }

    pub(super) fn closed_by(self, character: char) -> bool {
        match self {
            Self::Double => character == '"',
            Self::Single => character == '\'',
            Self::TypographicDouble => matches!(character, '”' | '“' | '"'),
            Self::TypographicSingle => matches!(character, '’' | '‘' | '\''),
        }
    }
}

pub(super) struct SkippedTrivia {
    pub(super) length: usize,
    pub(super) comment: bool,
    pub(super) unclosed: bool,
}

/// The white space and comments at the start of `text`.
pub(super) fn skip_space(text: &str) -> SkippedTrivia {
    let mut skipped = SkippedTrivia { length: 0, comment: false, unclosed: false };
    loop {
        let rest = text.get(skipped.length..).unwrap_or_default();
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        skipped.length += rest.len() - trimmed.len();
        let comment = if trimmed.starts_with("//") || trimmed.starts_with('#') {
            Some(trimmed.find('\n').unwrap_or(trimmed.len()))
        } else if trimmed.starts_with("/*") {
            let end = trimmed.get(2..).and_then(|inner| inner.find("*/")).map(|at| at + 4);
            skipped.unclosed = end.is_none();
            Some(end.unwrap_or(trimmed.len()))
        } else {
            None
        };
        let Some(length) = comment else { return skipped };
        skipped.comment = true;
        skipped.length += length;
    }
}

/// Skips the end of a key; false if there is none.
fn pass_key(characters: &mut impl Iterator<Item = char>, quotes: Quote) -> bool {
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if quotes.closed_by(character) {
            return true;
        }
    }
    false
}

/// Returns `true` if `text` starts with a key and a colon, within the look-ahead limit.
pub(super) fn starts_with_key(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let mut ahead = text.chars().take(KEY_MAX).peekable();
    if let Some(quotes) = Quote::opened_by(first) {
        ahead.next();
        if !pass_key(&mut ahead, quotes) {
            // The text may be truncated inside the key.
            return text.chars().nth(KEY_MAX).is_none() && !text.contains('\n');
        }
    } else {
        if !(first.is_alphabetic() || matches!(first, '_' | '$')) {
            return false;
        }
        while ahead.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-')).is_some() {}
    }
    ahead.find(|character| !character.is_whitespace()).is_some_and(|next| matches!(next, ':' | '：'))
}

/// Returns `true` if `text` can be the next item of a list or its end.
pub(super) fn starts_with_value(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return true };
    let literal =
        ["true", "false", "null", "True", "False", "None"].iter().any(|word| text.starts_with(word));
    literal || first.is_ascii_digit() || "-{[]}".contains(first) || Quote::opened_by(first).is_some()
}
