//! Reads a whole journal.

use std::fmt;

use deskhand_machine::record::{JournalEntry, JournalHeader};

use super::{
    JournalError, SessionFolder,
    lines::{JournalItem, JournalLines},
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
    /// A line was written without the key: its hash matches, its seal does not. The lines after it are not trusted either.
    Forged {
        /// The line number.
        seq: u64,
    },
    /// The last records were removed.
    Truncated {
        /// The first missing record.
        from: u64,
        /// The last missing record.
        to: u64,
    },
    /// The last records are missing, which a power failure explains: they were not synced, and the machine restarted since.
    Lost {
        /// The first missing record.
        from: u64,
        /// The last missing record.
        to: u64,
    },
}

impl fmt::Display for JournalProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff { seq } => write!(f, "record {seq} was cut off while it was written"),
            Self::Changed { seq } => write!(f, "record {seq} was modified"),
            Self::Forged { seq } => write!(f, "record {seq} was forged: its seal does not match"),
            Self::Truncated { from, to } => write!(f, "{} removed", records(*from, *to, "was", "were")),
            Self::Lost { from, to } => {
                write!(f, "{} lost when the machine restarted", records(*from, *to, "was", "were"))
            }
        }
    }
}

/// `record 7 is` or `records 7 to 9 are`.
pub(crate) fn records(from: u64, to: u64, one: &str, several: &str) -> String {
    if from == to { format!("record {from} {one}") } else { format!("records {from} to {to} {several}") }
}

/// A whole journal.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionJournal {
    /// The header.
    pub header: JournalHeader,
    /// All lines, including the header.
    pub lines: Vec<JournalEntry>,
    /// The problems found.
    pub problems: Vec<JournalProblem>,
}

impl SessionJournal {
    /// Reads a journal.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read, a line other than the last is invalid, the header is missing, or the
    /// format version is not supported.
    pub fn read(folder: &SessionFolder) -> Result<Self, JournalError> {
        let mut reader = JournalLines::open(folder)?;
        let header = reader.header()?;
        let mut lines = Vec::new();
        let mut problems = Vec::new();
        while let Some(read) = reader.next()? {
            match read {
                JournalItem::Line(line) => lines.push(*line),
                JournalItem::Problem(problem) => problems.push(problem),
            }
        }
        Ok(Self { header, lines, problems })
    }
}
