//! Finds the JSON in a reply, whatever a model wrote around it, and repairs what can be repaired without
//! guessing.
//!
//! The order, each step only when the one before gave nothing:
//!
//! 1. A byte order mark goes; the whole text is read as strict JSON. What is valid stays exactly as it is, with
//!    one exception (see [`Repair::WindowsPath`]).
//! 2. The text is searched for objects from its start: prose, code fences and `<think>` blocks are passed over,
//!    strings are respected, what lies inside an object is not a candidate. Each is read strictly, then leniently
//!    with the repairs of [`Repair`]. The last one that is not empty wins. When the last thing that looks like an
//!    object cannot be read, that is the error: an earlier object may be a draft, and acting on it is worse than
//!    asking again. In a `<think>` block that is never closed, an object counts only as the very last thing.
//! 3. What follows the last `</think>` is searched in the same way.
//!
//! Pure, bounded in size, depth and work, and never panics. The value still has to be checked against a schema.

use std::fmt;

use serde_json::Value;

use super::{
    search::{Search, after_reasoning},
    windows_path,
};

/// The longest reply that is looked at, in bytes.
pub(super) const TEXT_MAX: usize = 512 * 1024;

/// The longest piece of the reply that an error quotes, in characters.
const QUOTE_MAX: usize = 60;

/// What had to be done to read a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repair {
    /// A byte order mark was taken off.
    ByteOrderMark,
    /// A `<think>` block was passed over.
    Reasoning,
    /// Prose or code fences around the object were passed over.
    Surroundings,
    /// There were several objects; the last was taken.
    SeveralObjects,
    /// Comments were passed over.
    Comment,
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// A comma between two members was added.
    MissingComma,
    /// A full-width colon or comma was read as the plain one.
    WidePunctuation,
    /// Single or typographic quotes were read as double quotes.
    Quotes,
    /// A key without quotes was read as a key.
    UnquotedKey,
    /// `True`, `False`, `None` and the like were read as `true`, `false` and `null`.
    ForeignLiteral,
    /// Line breaks and tabs inside a string were kept as such.
    RawControl,
    /// A backslash that starts no escape was kept as a backslash.
    Backslash,
    /// Backslashes inside a Windows path were kept: `C:\temp\new` has no tab and no line break. Where a string
    /// begins with a single backslash after the drive (`"C:\temp"`) or is a server path (`"\\server\share"`), this
    /// holds to its end; inside other text to the end of the word. Strict JSON is re-read
    /// too if a string that is all path (two parts or an extension) has a control character after its drive letter; the drives A, B
    /// and Q are left alone there, because `Q:` and `A:` begin questions and answers.
    WindowsPath,
    /// A quote inside a string was kept, because the string could not end there.
    InnerQuote,
    /// Closing brackets were added.
    MissingCloser,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByteOrderMark => "byte order mark removed",
            Self::Reasoning => "reasoning passed over",
            Self::Surroundings => "text around the object passed over",
            Self::SeveralObjects => "the last of several objects taken",
            Self::Comment => "comments passed over",
            Self::TrailingComma => "trailing comma dropped",
            Self::MissingComma => "missing comma added",
            Self::WidePunctuation => "full-width punctuation read as plain",
            Self::Quotes => "quotes of another kind accepted",
            Self::UnquotedKey => "key without quotes accepted",
            Self::ForeignLiteral => "literal of another language accepted",
            Self::RawControl => "raw line break or tab in a string kept",
            Self::Backslash => "single backslash kept",
            Self::WindowsPath => "backslashes of a path kept",
            Self::InnerQuote => "quote inside a string kept",
            Self::MissingCloser => "missing closing bracket added",
        })
    }
}

/// The JSON of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The value.
    pub value: Value,
    /// What had to be done to read it, each kind once, in the order in which it was first needed; empty for strict JSON.
    pub repaired: Vec<Repair>,
}

/// Why a reply has no readable JSON. The messages are meant for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Nothing but white space.
    #[error("the reply is empty; it must be one JSON object")]
    Empty,
    /// The reply never gets past its reasoning.
    #[error("the reply is only a reasoning block; the JSON object must follow it")]
    OnlyReasoning,
    /// No object anywhere.
    #[error("no JSON object in the reply, which begins with `{start}`")]
    NoObject {
        /// The first words of the reply.
        start: String,
    },
    /// The reply breaks off.
    #[error(
        "the JSON breaks off {place}, at line {line} column {column}; write it again, complete and shorter"
    )]
    Truncated {
        /// Where in the structure: `inside the string that begins with "…"`.
        place: String,
        /// Line of the end, from 1.
        line: usize,
        /// Column of the end in characters, from 1.
        column: usize,
    },
    /// Not JSON, and not repairable without guessing.
    #[error("the JSON is not valid at line {line} column {column}: {problem}, near `{near}`")]
    Syntax {
        /// What is wrong.
        problem: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The text at that place.
        near: String,
    },
    /// Brackets nested deeper than any reply needs.
    #[error("the JSON is nested deeper than {max} levels")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// Longer than any reply needs.
    #[error("the reply has {bytes} bytes; at most {max} are read")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        max: usize,
    },
}

/// Reads the JSON in a reply. Strict JSON of any kind is returned as it is; otherwise the last object (or list of
/// objects) in the text is, repaired where that needs no guess.
///
/// # Errors
///
/// When there is none, or the last one cannot be read; the message says what and where.
pub fn extract_json(text: &str) -> Result<Extracted, ExtractError> {
    if text.len() > TEXT_MAX {
        return Err(ExtractError::TooLong { bytes: text.len(), max: TEXT_MAX });
    }
    let mut repairs = Repairs::default();
    let body = match text.trim_start().strip_prefix('\u{feff}') {
        Some(rest) => {
            repairs.note(Repair::ByteOrderMark);
            rest
        }
        None => text,
    };
    if body.trim().is_empty() {
        return Err(ExtractError::Empty);
    }
    if let Ok(value) = serde_json::from_str::<Value>(body) {
        return Ok(finish(value, repairs));
    }
    let found = match Search::new(body).run() {
        Ok(found) => found,
        Err(error) => {
            // Reasoning whose opening tag was in the prompt may hold anything, such as a quote that never ends.
            let Some(Ok(found)) = after_reasoning(body).map(|rest| Search::new(rest).run()) else {
                return Err(error);
            };
            repairs.note(Repair::Reasoning);
            found
        }
    };
    repairs.extend(found.repairs);
    Ok(finish(found.value, repairs))
}

fn finish(mut value: Value, mut repairs: Repairs) -> Extracted {
    if windows_path::restore_paths(&mut value) {
        repairs.note(Repair::WindowsPath);
    }
    Extracted { value, repaired: repairs.0 }
}

/// A set of repairs that keeps the order.
#[derive(Debug, Clone, Default)]
pub(super) struct Repairs(Vec<Repair>);

impl Repairs {
    pub(super) fn note(&mut self, repair: Repair) {
        if !self.0.contains(&repair) {
            self.0.push(repair);
        }
    }

    pub(super) fn extend(&mut self, others: Self) {
        for repair in others.0 {
            self.note(repair);
        }
    }
}

/// The first words of `text` on one line.
pub(super) fn quote(text: &str) -> String {
    let mut characters =
        text.trim().chars().map(|character| if character.is_control() { ' ' } else { character });
    let mut head: String = characters.by_ref().take(QUOTE_MAX).collect();
    if characters.next().is_some() {
        head.push('…');
    }
    head
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
