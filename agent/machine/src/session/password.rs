//! Passwords that a model wrote in clear, as events and callers name them.

use serde::{Deserialize, Serialize};

/// A password that a model wrote in clear, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedPassword {
    /// The dots that stand for it.
    pub dots: String,
    /// The application that it may be typed into, by its short name.
    pub application: String,
    /// The host of the page that it may be typed into; `None` if it was in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Origin of the password, if the user has not provided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `true` if it is hidden in every text. A password that occurs in text of the application is not hidden: it is
    /// no secret there.
    pub everywhere: bool,
    /// Position in the session's plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<SessionTextSpan>,
}

/// A text that was withheld and is no password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisclosedText {
    /// The dots that stood for it.
    pub dots: String,
    /// The text.
    pub text: String,
}

/// A part of a text that a session has: of the words of the user in order, then of the sub-task and its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTextSpan {
    /// The index of the text.
    pub text: usize,
    /// Start, in bytes.
    pub start: usize,
    /// Length, in bytes.
    pub length: usize,
}

/// The texts that this process keeps behind dots.
#[derive(Clone, Copy)]
pub struct KeptTexts<'a> {
    /// The dots that stand for a text.
    pub dots_of: &'a dyn Fn(&str) -> Option<String>,
    /// The text behind dots.
    pub value_of: &'a dyn Fn(&str) -> Option<String>,
}

impl KeptTexts<'_> {
    /// No texts.
    pub const NONE: KeptTexts<'static> = KeptTexts { dots_of: &|_| None, value_of: &|_| None };
}

/// Texts hidden in a reply that have no dots so far, with their values, which must not be displayed or stored.
#[derive(Default)]
pub struct ConcealedTexts {
    /// Passwords.
    pub passwords: Vec<(TypedPassword, String)>,
    /// Texts whose field is not known yet, by their dots.
    pub withheld: Vec<(String, String)>,
}
