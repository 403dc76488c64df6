//! Reads a whole journal back.

use std::path::Path;

use deskhand_core::record::{Header, Line};

use super::{
    JournalError,
    lines::{Lines, Read},
};

/// Something about a journal that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalProblem {
    /// The last line was cut off, as by a crash while it was written. It is not among the lines.
    CutOff {
        /// Its number.
        seq: u64,
    },
    /// A line is not as it was written.
    Changed {
        /// Its number.
        seq: u64,
    },
}

/// A whole journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// The header.
    pub header: Header,
    /// Every line, the header's included.
    pub lines: Vec<Line>,
    /// What is wrong with it, if anything.
    pub problems: Vec<JournalProblem>,
}

impl Journal {
    /// Reads a journal.
    ///
    /// # Errors
    /// [`JournalError`] when the file cannot be read, a line other than the last is no record, the header is
    /// missing, or the format is a later one.
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
