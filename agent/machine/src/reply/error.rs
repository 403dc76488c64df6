//! Errors of reading JSON, written for the model.

use deskhand_ui::text::excerpt;

/// The longest reply that is parsed, in bytes.
pub(super) const TEXT_MAX: usize = 512 * 1024;

/// The longest excerpt of the reply in an error, in characters.
const QUOTE_MAX: usize = 60;

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
        /// Position in the structure: `inside the string that starts with "…"`.
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

/// The start of `text` on one line.
pub(super) fn quote(text: &str) -> String {
    excerpt(text, QUOTE_MAX)
}
