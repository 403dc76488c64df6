//! Reads a journal back.

use std::{fs, path::Path};

use deskhand_core::{
    observation::{DesktopView, Observation},
    record::{Header, JOURNAL_VERSION, Line, Record},
    session::Event,
    ui::DiffError,
    views::Views,
};

use super::{JournalError, store::sha256_hex};

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
        let bytes = fs::read(path).map_err(|source| JournalError::file("read", path, source))?;
        let mut lines: Vec<Line> = Vec::new();
        let mut problems = Vec::new();
        let mut prev = String::new();
        let mut views = Views::default();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let seq = lines.len() as u64 + 1;
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after.get(1..).unwrap_or_default();
            match serde_json::from_slice::<Line>(text) {
                Ok(line) => {
                    if line.prev != prev {
                        problems.push(JournalProblem::Changed { seq: seq.saturating_sub(1) });
                    }
                    prev = sha256_hex(text);
                    let whole = make_whole(line, &mut views).map_err(|source| JournalError::View {
                        path: path.to_owned(),
                        seq,
                        source,
                    });
                    lines.push(whole?);
                }
                Err(_) if end.is_none() => problems.push(JournalProblem::CutOff { seq }),
                Err(source) => return Err(JournalError::Record { path: path.to_owned(), seq, source }),
            }
        }
        let header = match lines.first().map(|line| &line.record) {
            Some(Record::Header(header)) => header.as_ref().clone(),
            _ => return Err(JournalError::NoHeader { path: path.to_owned() }),
        };
        if header.version > JOURNAL_VERSION {
            return Err(JournalError::Version {
                path: path.to_owned(),
                found: header.version,
                known: JOURNAL_VERSION,
            });
        }
        Ok(Self { header, lines, problems })
    }
}

/// A line with its view put together again.
fn make_whole(mut line: Line, views: &mut Views) -> Result<Line, DiffError> {
    if let Record::Event(event) = &mut line.record
        && let Event::Observed { observation } = &mut event.event
    {
        let stored = std::mem::replace(observation, Observation::Desktop(DesktopView::default()));
        *observation = views.decode(stored)?;
    }
    Ok(line)
}
