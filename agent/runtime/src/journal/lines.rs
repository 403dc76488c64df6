//! Reads the records of a journal, with one line in memory at a time, and reports its problems.

use std::collections::VecDeque;

use deskhand_machine::record::{JOURNAL_VERSION, JournalEntry, JournalHeader, JournalRecord};

use super::{
    JournalError, JournalProblem, SessionFolder,
    chain::{Chain, ChainEnd, Flaw, MissingEnd, SealProof},
    raw::{RawLine, RawLines},
    views::{StoredLine, ViewCache},
};

/// An item of [`JournalLines`].
#[derive(Debug)]
pub(crate) enum JournalItem {
    /// A line.
    Line(Box<JournalEntry>),
    /// A problem in the journal.
    Problem(JournalProblem),
}

/// The lines of a journal, in order, with their problems.
pub(crate) struct JournalLines {
    raw: RawLines,
    chain: Chain,
    /// A buffered item to return first.
    held: VecDeque<JournalItem>,
    /// The last line reported as modified.
    named: u64,
    /// Set once a forged line was reported; later ones are not reported.
    forged: bool,
    /// Set once the end was reported.
    ended: bool,
    /// The total size of the complete lines, in bytes.
    whole_bytes: u64,
    header: Option<JournalHeader>,
    /// The last view of each window, to decode views stored as changes.
    views: ViewCache,
}

impl JournalLines {
    /// Opens a journal and reads its header.
    ///
    /// # Errors
    /// [`JournalError`] if a file cannot be read, the header is missing, or the format version is not supported.
    pub(crate) fn open(folder: &SessionFolder) -> Result<Self, JournalError> {
        let path = &folder.journal_path();
        let raw = RawLines::open(path)?;
        let mut lines = Self {
            raw,
            chain: Chain::new(folder.seals().clone())?,
            held: VecDeque::new(),
            named: 0,
            forged: false,
            ended: false,
            whole_bytes: 0,
            header: None,
            views: ViewCache::default(),
        };
        let mut first = VecDeque::new();
        while !matches!(first.back(), Some(JournalItem::Line(_)))
            && let Some(read) = lines.next()?
        {
            first.push_back(read);
        }
        let header = match first.back() {
            Some(JournalItem::Line(line)) => {
                if let JournalRecord::Header(header) = &line.record {
                    Some(header.clone())
                } else {
                    None
                }
            }
            Some(JournalItem::Problem(_)) | None => None,
        };
        let header = match header {
            Some(header) => header,
            None if lines.whole_bytes == 0 => return Err(no_record(folder)?),
            None => return Err(JournalError::NoHeader { path: path.to_owned() }),
        };
        if header.version != JOURNAL_VERSION {
            return Err(JournalError::Version {
                path: path.to_owned(),
                found: header.version,
                known: JOURNAL_VERSION,
            });
        }
        lines.header = Some(*header);
        lines.held = first;
        Ok(lines)
    }

    /// The header, which is also the first line.
    pub(crate) fn header(&self) -> Result<JournalHeader, JournalError> {
        self.header.clone().ok_or_else(|| JournalError::NoHeader { path: self.raw.path().to_owned() })
    }

    /// Returns the proof given by the seals, once all lines were read without problems.
    pub(crate) fn proof(&self) -> SealProof {
        self.chain.proof()
    }

    /// The last line read, and the total size in bytes of the complete lines.
    pub(crate) fn end(&self) -> (ChainEnd, u64) {
        (self.chain.end(), self.whole_bytes)
    }

    /// The next line, or a problem that precedes it.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read, or a line other than the last is invalid.
    pub(crate) fn next(&mut self) -> Result<Option<JournalItem>, JournalError> {
        if let Some(read) = self.held.pop_front() {
            return Ok(Some(read));
        }
        match self.raw.next()? {
            Some(raw) if raw.ended => self.parse(&raw).map(Some),
            torn => Ok(self.at_end(torn.map(|raw| raw.seq))),
        }
    }

    /// The next complete line of a journal that may still grow, or a problem that precedes it; `None` if there is none yet.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read, or a line is invalid.
    pub(crate) fn next_so_far(&mut self) -> Result<Option<JournalItem>, JournalError> {
        if let Some(read) = self.held.pop_front() {
            return Ok(Some(read));
        }
        match self.raw.next()? {
            Some(raw) if raw.ended => self.parse(&raw).map(Some),
            Some(torn) => self.raw.put_back(&torn).map(|()| None),
            None => Ok(None),
        }
    }

    /// Takes in a complete line. If there is a problem, it is returned first.
    fn parse(&mut self, raw: &RawLine) -> Result<JournalItem, JournalError> {
        let seq = raw.seq;
        let line: StoredLine = serde_json::from_slice(&raw.bytes).map_err(|source| JournalError::Record {
            path: self.raw.path().to_owned(),
            seq,
            source,
        })?;
        self.whole_bytes += raw.bytes.len() as u64 + 1;
        let link = self.chain.link(raw, &line)?;
        let line = line
            .try_map_observation(|stored| self.views.decode(stored))
            .map_err(|source| JournalError::View { path: self.raw.path().to_owned(), seq, source })?;
        let problem = match link {
            Some(Flaw::Changed) => Some(JournalProblem::Changed { seq }),
            Some(Flaw::Forged | Flaw::Replaced) => {
                (!std::mem::replace(&mut self.forged, true)).then_some(JournalProblem::Forged { seq })
            }
            // The previous line may have been reported already.
            Some(Flaw::OutOfPlace | Flaw::Unlinked) => Some(seq.saturating_sub(1))
                .filter(|before| *before > self.named)
                .map(|seq| JournalProblem::Changed { seq }),
            None => None,
        };
        if matches!(link, Some(Flaw::Changed | Flaw::Forged | Flaw::Replaced)) {
            self.named = seq;
        }
        let line = JournalItem::Line(Box::new(line));
        let Some(problem) = problem else { return Ok(line) };
        self.held.push_back(line);
        Ok(JournalItem::Problem(problem))
    }

    /// Reports the end, once: an incomplete line, and records that were anchored and are missing.
    fn at_end(&mut self, torn: Option<u64>) -> Option<JournalItem> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let missing = self.chain.missing_end();
        let cut_off = torn.map(|seq| JournalProblem::CutOff { seq });
        let problems = match missing {
            // A line that was once complete was not torn by a crash.
            Some(MissingEnd { from, to, may_be_lost: false }) => {
                [Some(JournalProblem::Truncated { from, to }), None]
            }
            Some(MissingEnd { from, to, may_be_lost: true }) => {
                [cut_off, Some(JournalProblem::Lost { from, to })]
            }
            None => [cut_off, None],
        };
        self.held.extend(problems.into_iter().flatten().map(JournalItem::Problem));
        self.held.pop_front()
    }
}

/// The error of a journal without a complete record.
///
/// # Errors
/// [`JournalError`] if the key or the anchor cannot be read.
fn no_record(folder: &SessionFolder) -> Result<JournalError, JournalError> {
    let path = folder.journal_path();
    Ok(match folder.anchored_records()? {
        0 => JournalError::NoRecord { path },
        last => JournalError::Emptied { path, last },
    })
}
