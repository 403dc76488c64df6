//! A value that must not be shown.

use std::fmt;

use zeroize::Zeroizing;

use crate::{SecretError, error};

/// A password or a similar value. It has no `Display` and no `Serialize`, and its `Debug` hides it; it is overwritten
/// when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    /// The fewest characters. A shorter value could not be hidden without hiding half of every text.
    pub const CHARACTERS_MIN: usize = error::CHARACTERS_MIN;
    /// The most characters.
    pub const CHARACTERS_MAX: usize = error::CHARACTERS_MAX;

    /// Takes a text, without the line break at its end.
    ///
    /// # Errors
    /// If it has a line break or another control character, or fewer than [`Self::CHARACTERS_MIN`] or more than
    /// [`Self::CHARACTERS_MAX`] characters.
    pub fn new(text: impl Into<String>) -> Result<Self, SecretError> {
        let text = Zeroizing::new(text.into());
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            return Err(SecretError::Empty);
        }
        if line.chars().any(char::is_control) {
            return Err(SecretError::Control);
        }
        let characters = line.chars().filter(|c| !c.is_whitespace()).count();
        if characters < Self::CHARACTERS_MIN || line.chars().count() > Self::CHARACTERS_MAX {
            return Err(SecretError::Length);
        }
        Ok(Self(Zeroizing::new(line.to_owned())))
    }

    /// Takes a password that was typed without a reference, of any length up to [`Self::CHARACTERS_MAX`]; `None` if it is empty, longer, or
    /// has a control character.
    pub fn typed(text: impl Into<String>) -> Option<Self> {
        let text = Zeroizing::new(text.into());
        let fits = (1..=Self::CHARACTERS_MAX).contains(&text.chars().count());
        (fits && !text.chars().any(char::is_control)).then_some(Self(text))
    }

    /// The same with what is pressed behind it, such as a line break.
    #[must_use]
    pub fn followed_by(self, keys: &str) -> Self {
        if keys.is_empty() { self } else { Self(Zeroizing::new(format!("{}{keys}", *self.0))) }
    }

    /// The text, for the one place that it is meant for. It must not be copied, stored or printed.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line_of_some_length() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = SecretValue::new(text).map(|value| value.expose().to_owned());
            assert_eq!(
                found.map_err(|error| error.to_string()),
                expected.map(str::to_owned).map_err(str::to_owned)
            );
        };
        check("canary 7f3a\r\n", Ok("canary 7f3a"));
        check(" schlüssel ", Ok(" schlüssel "));
        check("\n", Err("is empty"));
        check("abc", Err("must have 4 to 1000 characters"));
        check("a\u{a0}b c", Err("must have 4 to 1000 characters"));
        check("two\nlines", Err("has a line break or another control character"));
        check("a\ttab", Err("has a line break or another control character"));
    }

    #[test]
    fn a_value_is_in_no_debug_output() {
        assert_eq!(format!("{:?}", SecretValue::new("canary-7f3a").unwrap()), "SecretValue");
    }
}
