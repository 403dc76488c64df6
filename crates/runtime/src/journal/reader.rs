//! Reads a whole journal.

use std::path::Path;

use deskhand_core::record::{Header, Line};

use super::{
    JournalError,
    lines::{Lines, Read},
};

/// A problem in a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalProblem {
    /// The last line is truncated, as after a crash during a write. It is left out.
    CutOff {
        /// The line number.
        seq: u64,
    },
    /// A line was modified.
    Changed {
        /// The line number.
        seq: u64,
    },
}

/// A whole journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// The header.
    pub header: Header,
    /// All lines, including the header.
    pub lines: Vec<Line>,
    /// The problems found.
    pub problems: Vec<JournalProblem>,
}

impl Journal {
    /// Reads a journal.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read, a line other than the last is invalid, the header is missing, or the
    /// format version is not supported.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let mut reader = Lines::open(path)?;
        let header = reader.header()?;
        let mut lines = Vec::new();
        let mut problems = Vec::new();
        while let Some(read) = reader.next()? {
            match read {
                Read::Line(line) => lines.push(*line),
                Read::Problem(problem) => problems.push(problem),
            }
        }
        Ok(Self { header, lines, problems })
    }
}
