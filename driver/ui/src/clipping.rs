//! Limits of texts that come from applications.
//!
//! A text is clipped where it enters, so that no application makes a prompt, a record or a report arbitrarily long. A cut is
//! marked with `…`. Clipping twice changes nothing.

use crate::text::clip;

/// The longest name or description of an element, and the longest title of a window, in characters.
pub const NAME_CHARS_MAX: usize = 1_000;
/// The longest message or notice, and the longest text in the report of a call, in characters.
pub const MESSAGE_CHARS_MAX: usize = 20_000;

/// A text of at most `max` characters, [clipped](clip).
pub fn within(text: String, max: usize) -> String {
    // No text has more characters than bytes.
    if text.len() <= max { text } else { clip(&text, max) }
}

/// A name or title within [`NAME_CHARS_MAX`].
pub fn name(text: String) -> String {
    within(text, NAME_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_clipped_once() {
        let long = "ä".repeat(NAME_CHARS_MAX + 1);
        let clipped = name(long.clone());
        assert_eq!(clipped, format!("{}…", "ä".repeat(NAME_CHARS_MAX)));
        assert_eq!(name(clipped.clone()), clipped);
        assert_eq!(name("ä".repeat(NAME_CHARS_MAX)), "ä".repeat(NAME_CHARS_MAX));
    }
}
