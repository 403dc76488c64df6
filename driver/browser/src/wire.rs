//! Requests and answers: one line of JSON each.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest request, in bytes.
pub(crate) const REQUEST_BYTES_MAX: usize = 1 << 20;
/// The longest answer, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 << 20;

/// One call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BrowserCallRequest {
    pub(crate) id: u64,
    pub(crate) window: BrowserWindowSelector,
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
}

/// The window whose page is meant.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BrowserWindowSelector {
    #[serde(default)]
    pub(crate) xid: u32,
    #[serde(default)]
    pub(crate) title: String,
}

/// Result of a successful call.
#[derive(Debug, Serialize)]
pub(crate) struct BrowserCallOutput {
    /// One sentence.
    pub(crate) said: String,
    pub(crate) output: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<BrowserCallEffect>,
}

/// State read back after an action.
#[derive(Debug, Serialize)]
pub(crate) struct BrowserCallEffect {
    pub(crate) seen: bool,
    pub(crate) proof: String,
}

/// Why a call returns nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BrowserCallError {
    /// The browser does not answer questions about its pages.
    NoPages(String),
    /// No page belongs to the window.
    NoDocument(String),
    /// The arguments are wrong, or do not fit the state of the page.
    Invalid(String),
    /// The page does not answer now.
    Busy(String),
    /// The browser refused.
    Failed(String),
    /// A dialog of the page stops its scripts. Tools answer it with the dialog; it never gets onto the wire as an error of its own.
    Dialog,
}

impl BrowserCallError {
    pub(crate) fn message(self) -> String {
        self.parts().1
    }

    fn parts(self) -> (&'static str, String) {
        match self {
            Self::NoPages(message) => ("no_pages", message),
            Self::NoDocument(message) => ("no_document", message),
            Self::Invalid(message) => ("invalid", message),
            Self::Busy(message) => ("busy", message),
            Self::Failed(message) => ("failed", message),
            Self::Dialog => {
                ("busy", "a dialog of the page is open; answer it with answer_dialog first".to_owned())
            }
        }
    }
}

#[derive(Serialize)]
struct BrowserCallReply<'a> {
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<&'a BrowserCallOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<BrowserErrorReply>,
}

#[derive(Serialize)]
struct BrowserErrorReply {
    kind: &'static str,
    message: String,
}

/// The line of an answer. One that is too long becomes an error.
pub(crate) fn answer_line(id: Option<u64>, result: Result<&BrowserCallOutput, BrowserCallError>) -> Vec<u8> {
    let answer = match result {
        Ok(good) => BrowserCallReply { id, ok: Some(good), error: None },
        Err(trouble) => {
            let (kind, message) = trouble.parts();
            BrowserCallReply { id, ok: None, error: Some(BrowserErrorReply { kind, message }) }
        }
    };
    match serde_json::to_vec(&answer) {
        Ok(mut line) if line.len() < ANSWER_BYTES_MAX => {
            line.push(b'\n');
            line
        }
        Ok(line) => {
            let message =
                format!("the answer has {} bytes, more than {ANSWER_BYTES_MAX}; ask for less", line.len());
            answer_line(id, Err(BrowserCallError::Failed(message)))
        }
        // Values of JSON always serialize.
        Err(_) => {
            b"{\"id\":null,\"error\":{\"kind\":\"failed\",\"message\":\"the answer is no JSON\"}}\n".to_vec()
        }
    }
}

/// A text of a page or browser without characters that control terminals or the direction of text.
pub(crate) fn cleaned(text: &str) -> String {
    text.chars().filter(|character| !is_control(*character)).collect()
}

fn is_control(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// At most `characters_max` characters of a text, with a mark where it is cut.
pub(crate) fn cut(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_one_line_each() {
        let good = BrowserCallOutput { said: "Read.".to_owned(), output: Value::from("a\nb"), effect: None };
        assert_eq!(
            String::from_utf8(answer_line(Some(1), Ok(&good))).unwrap(),
            "{\"id\":1,\"ok\":{\"said\":\"Read.\",\"output\":\"a\\nb\"}}\n"
        );
        assert_eq!(
            String::from_utf8(answer_line(None, Err(BrowserCallError::Invalid("no".to_owned())))).unwrap(),
            "{\"id\":null,\"error\":{\"kind\":\"invalid\",\"message\":\"no\"}}\n"
        );
    }

    #[test]
    fn an_answer_that_is_too_long_is_an_error() {
        let good = BrowserCallOutput {
            said: String::new(),
            output: Value::from("x".repeat(ANSWER_BYTES_MAX)),
            effect: None,
        };
        let line = String::from_utf8(answer_line(Some(2), Ok(&good))).unwrap();
        assert!(line.starts_with("{\"id\":2,\"error\":{\"kind\":\"failed\""), "{line}");
    }

    #[test]
    fn control_and_direction_characters_are_removed() {
        assert_eq!(cleaned("a\u{202e}b\u{1b}[31m\u{2066}c\n\u{e0041}"), "ab[31mc\n");
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
