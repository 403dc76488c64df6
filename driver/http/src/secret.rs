//! Keys and tokens. They go into a request's header and nowhere else.

use std::{env, ffi::OsString, fmt, fs};

use deskhand_secret::{SecretError, SecretSource};
use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

/// Placeholder for a secret.
const REDACTED: &str = "[redacted]";

/// A key or token. It has no `Display`, and its `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpCredential {
    text: Zeroizing<String>,
    /// The value of the header `Authorization`.
    bearer: HeaderValue,
}

impl HttpCredential {
    /// Takes the first line of a text, without surrounding space.
    ///
    /// # Errors
    /// If the line is empty or contains anything but ASCII letters, digits and punctuation.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let line = text.trim().lines().next().unwrap_or_default().trim();
        if line.is_empty() {
            return Err(SecretError::Empty);
        }
        if !line.chars().all(|letter| letter.is_ascii_graphic()) {
            return Err(SecretError::Invalid);
        }
        let mut bearer = HeaderValue::try_from(format!("Bearer {line}")).map_err(|_| SecretError::Invalid)?;
        bearer.set_sensitive(true);
        Ok(Self { text: Zeroizing::new(line.to_owned()), bearer })
    }

    /// Reads a secret.
    ///
    /// # Errors
    /// If there is none, or it is invalid.
    pub fn read(source: &SecretSource) -> Result<Self, SecretError> {
        let text = Zeroizing::new(match source {
            SecretSource::Environment(name) => env::var(name).map_err(|_| SecretError::NotSet)?,
            SecretSource::File(path) => fs::read_to_string(path).map_err(SecretError::Unreadable)?,
        });
        Self::new(&text)
    }

    /// The value of the header `Authorization`, marked as sensitive.
    #[must_use]
    pub fn bearer(&self) -> HeaderValue {
        self.bearer.clone()
    }

    /// The secret alone as the value of a header, marked as sensitive.
    #[must_use]
    pub fn plain(&self) -> HeaderValue {
        // It is printable ASCII, which every header takes.
        let mut value = HeaderValue::from_str(&self.text).unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }

    /// The secret as the value of an environment variable, for a program that the user configured it for.
    #[must_use]
    pub fn to_variable(&self) -> OsString {
        self.text.as_str().into()
    }

    /// Removes the secret from external text: a server may quote what it was sent.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        text.replace(self.text.as_str(), REDACTED)
    }
}

impl fmt::Debug for HttpCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_word_on_the_first_line() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = HttpCredential::new(text)
                .map(|secret| secret.text.to_string())
                .map_err(|error| error.to_string());
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{text:?}");
        };
        check(" canary-7f3a \nwritten in May\n", Ok("canary-7f3a"));
        check("\n \n", Err("is empty"));
        check("two words", Err("contains characters that are invalid in a key"));
        check("a\u{1}b", Err("contains characters that are invalid in a key"));
        check("schlüssel", Err("contains characters that are invalid in a key"));
    }

    #[test]
    fn secrets_come_from_variables_and_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let read = |source: &SecretSource| HttpCredential::read(source).map(|secret| secret.text.to_string());
        let source = SecretSource::File(file.clone());
        assert!(matches!(read(&source), Err(SecretError::Unreadable(_))));
        fs::write(&file, "canary-7f3a\n").unwrap();
        assert_eq!(read(&source).unwrap(), "canary-7f3a");
        assert_eq!(read(&SecretSource::Environment("CARGO_PKG_NAME".to_owned())).unwrap(), "deskhand-http");
        let missing = SecretSource::Environment("DESKHAND_TEST_NO_SUCH_KEY".to_owned());
        let error = HttpCredential::read(&missing).unwrap_err();
        assert_eq!(
            format!("{missing} {error}"),
            "the environment variable DESKHAND_TEST_NO_SUCH_KEY is not set"
        );
    }

    #[test]
    fn a_secret_is_shown_in_its_header_only() {
        let secret = HttpCredential::new("canary-7f3a").unwrap();
        assert_eq!(secret.bearer().to_str().unwrap(), "Bearer canary-7f3a");
        assert_eq!(format!("{secret:?} {:?}", secret.bearer()), "Secret Sensitive");
        assert_eq!(secret.redact("no key canary-7f3a here"), "no key [redacted] here");
    }
}
