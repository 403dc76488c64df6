//! Extracts the JSON from a model reply and repairs what has a single possible reading.
//!
//! Steps, each tried only if the one before found nothing:
//!
//! 1. Strip a byte order mark and parse the whole text as strict JSON. Valid JSON is returned unchanged, with one
//!    exception (see [`Repair::WindowsPath`]).
//! 2. Scan the text for top-level objects: prose, code fences and `<think>` blocks are skipped, strings are
//!    respected. Each candidate is parsed strictly, then leniently with the repairs of [`Repair`]. The last
//!    non-empty object wins. If the last candidate cannot be parsed, that is the error: an earlier object may be a
//!    draft, and acting on a draft is worse than asking again. Inside an unclosed `<think>` block an object counts
//!    only if nothing follows it.
//! 3. Scan the text after the last `</think>` in the same way.
//!
//! Pure, bounded in size, depth and work, and never panics. The value still has to be checked against a schema.

use std::fmt;

use serde_json::Value;

use super::{
    search::{Search, after_reasoning},
    windows_path,
};

/// The longest reply that is parsed, in bytes.
pub(super) const TEXT_MAX: usize = 512 * 1024;

/// The longest excerpt of the reply in an error, in characters.
const QUOTE_MAX: usize = 60;

/// A repair that was needed to read a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repair {
    /// A byte order mark was removed.
    ByteOrderMark,
    /// A `<think>` block was skipped.
    Reasoning,
    /// Prose or code fences around the object were skipped.
    Surroundings,
    /// There were several objects; the last was taken.
    SeveralObjects,
    /// Comments were skipped.
    Comment,
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// A comma between two members was added.
    MissingComma,
    /// A full-width colon or comma was read as the ASCII one.
    WidePunctuation,
    /// Single or typographic quotes were read as double quotes.
    Quotes,
    /// An unquoted key was accepted.
    UnquotedKey,
    /// `True`, `False`, `None` and the like were read as `true`, `false` and `null`.
    ForeignLiteral,
    /// Literal line breaks and tabs inside a string were kept.
    RawControl,
    /// A backslash that starts no valid escape was kept.
    Backslash,
    /// Backslashes inside a Windows path were kept: `C:\temp\new` has no tab and no line break. In a string that
    /// starts with a drive and a single backslash (`"C:\temp"`) or with a server path (`"\\server\share"`), this
    /// applies to the whole string; elsewhere to the end of the word. Strict JSON is corrected too if a whole string
    /// is a path (two parts or an extension) with a control character after its drive letter. Drives A, B and Q are
    /// excluded there, because `Q:` and `A:` start questions and answers.
    WindowsPath,
    /// An unescaped quote inside a string was kept, because the string could not end there.
    InnerQuote,
    /// Missing closing brackets were added.
    MissingCloser,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByteOrderMark => "byte order mark removed",
            Self::Reasoning => "reasoning skipped",
            Self::Surroundings => "text around the object skipped",
            Self::SeveralObjects => "last of several objects taken",
            Self::Comment => "comments skipped",
            Self::TrailingComma => "trailing comma dropped",
            Self::MissingComma => "missing comma added",
            Self::WidePunctuation => "full-width punctuation read as ASCII",
            Self::Quotes => "non-JSON quotes accepted",
            Self::UnquotedKey => "unquoted key accepted",
            Self::ForeignLiteral => "non-JSON literal accepted",
            Self::RawControl => "literal line break or tab in a string kept",
            Self::Backslash => "unescaped backslash kept",
            Self::WindowsPath => "backslashes of a Windows path kept",
            Self::InnerQuote => "unescaped quote in a string kept",
            Self::MissingCloser => "missing closing bracket added",
        })
    }
}

/// The JSON extracted from a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The value.
    pub value: Value,
    /// The repairs, each once, in order of first use; empty for strict JSON.
    pub repaired: Vec<Repair>,
}

/// Why no JSON could be extracted. The messages are written for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// The reply has only white space.
    #[error("the reply is empty; it must be one JSON object")]
    Empty,
    /// The reply has only reasoning.
    #[error("the reply contains only a reasoning block; the JSON object must follow it")]
    OnlyReasoning,
    /// There is no object.
    #[error("no JSON object in the reply, which starts with `{start}`")]
    NoObject {
        /// Start of the reply.
        start: String,
    },
    /// The reply is truncated.
    #[error(
        "the JSON is truncated {place}, at line {line} column {column}; write it again, complete and shorter"
    )]
    Truncated {
        /// Where in the structure: `inside the string that starts with "…"`.
        place: String,
        /// Last line, from 1.
        line: usize,
        /// Last column in characters, from 1.
        column: usize,
    },
    /// The JSON is invalid and has no single possible reading.
    #[error("invalid JSON at line {line} column {column}: {problem}, near `{near}`")]
    Syntax {
        /// The problem.
        problem: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The text at that position.
        near: String,
    },
    /// The JSON is nested too deeply.
    #[error("the JSON is nested deeper than {max} levels")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// The reply is too long.
    #[error("the reply is {bytes} bytes long; the limit is {max}")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        max: usize,
    },
}

/// Extracts the JSON from a reply. Strict JSON of any kind is returned unchanged; otherwise the last object (or list
/// of objects) in the text, repaired if it has a single possible reading.
///
/// # Errors
/// If there is none, or the last one cannot be read; the message says what is wrong and where.
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
            // Reasoning whose opening tag was in the prompt can contain anything, such as an unclosed quote.
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

/// A set of repairs in insertion order.
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

/// The start of `text` on one line.
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
