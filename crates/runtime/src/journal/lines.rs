//! Reads a journal line by line, with one line in memory at a time.

use std::{
    collections::VecDeque,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use deskhand_core::record::{Header, JOURNAL_VERSION, Line, Record};

use super::{
    JournalError, JournalProblem,
    declared::declare,
    seal::{Seal, check},
    store::sha256_hex,
    views::{StoredLine, Views},
};

/// The maximum line length, in bytes.
const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The bytes of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawLine {
    /// The line number, from 1.
    pub(crate) seq: u64,
    /// The bytes without the line break.
    pub(crate) bytes: Vec<u8>,
    /// Whether the line ends with a line break. Only the last line may not.
    pub(crate) ended: bool,
}

/// The raw lines of a journal, in order.
pub(crate) struct RawLines {
    path: PathBuf,
    reader: BufReader<fs::File>,
    seq: u64,
}

impl RawLines {
    /// Opens a journal.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let file = fs::File::open(path).map_err(|source| JournalError::file("read", path, source))?;
        Ok(Self { path: path.to_owned(), reader: BufReader::new(file), seq: 0 })
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<RawLine>, JournalError> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
        let read = read.map_err(|source| JournalError::file("read", &self.path, source))?;
        if read == 0 {
            return Ok(None);
        }
        self.seq += 1;
        let ended = bytes.last() == Some(&b'\n');
        if ended {
            bytes.pop();
        }
        Ok(Some(RawLine { seq: self.seq, bytes, ended }))
    }
}

/// Checks the hash chain of lines read in order.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The hash of the previous line.
    pub(crate) prev: String,
    /// The number in the previous line.
    last: u64,
    /// Whether lines are sealed; after the first sealed line, all must be.
    sealed: bool,
}

/// A defect in the hash chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The bytes were modified.
    Changed,
    /// The number follows, but the hash of the previous line does not match.
    Unlinked,
    /// The number does not follow.
    OutOfPlace,
}

impl Chain {
    /// Checks the next line.
    pub(crate) fn link(&mut self, raw: &RawLine, line: &StoredLine) -> Option<Flaw> {
        let seal = check(&raw.bytes);
        let version = if let Record::Header(header) = &line.record { header.version } else { 0 };
        self.sealed |= seal != Seal::Missing || version >= 2;
        let (in_order, linked) = (line.seq == self.last.saturating_add(1), line.prev == self.prev);
        self.prev = sha256_hex(&raw.bytes);
        self.last = line.seq;
        match seal {
            Seal::Broken => Some(Flaw::Changed),
            Seal::Missing if self.sealed => Some(Flaw::Changed),
            Seal::Missing | Seal::Whole if !in_order => Some(Flaw::OutOfPlace),
            Seal::Missing | Seal::Whole if !linked => Some(Flaw::Unlinked),
            Seal::Missing | Seal::Whole => None,
        }
    }

    /// Takes a line that is no record.
    pub(crate) fn pass_over(&mut self, raw: &RawLine) {
        self.prev = sha256_hex(&raw.bytes);
        self.last = self.last.saturating_add(1);
    }
}

/// An item of [`Lines`].
#[derive(Debug)]
pub(crate) enum Read {
    /// A line.
    Line(Box<Line>),
    /// A problem in the journal.
    Problem(JournalProblem),
}

/// The lines of a journal, in order, with their problems.
pub(crate) struct Lines {
    raw: RawLines,
    chain: Chain,
    /// A buffered item to return first.
    held: VecDeque<Read>,
    /// The last line reported as modified.
    named: u64,
    /// The total size of the complete lines, in bytes.
    whole_bytes: u64,
    header: Option<Header>,
    /// The format version that the header names.
    version: u32,
    /// The last view of each window, to decode views stored as changes.
    views: Views,
}

impl Lines {
    /// Opens a journal and reads its header.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read, the header is missing, or the format version is not supported.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let raw = RawLines::open(path)?;
        let mut lines = Self {
            raw,
            chain: Chain::default(),
            held: VecDeque::new(),
            named: 0,
            whole_bytes: 0,
            header: None,
            version: 0,
            views: Views::default(),
        };
        let mut first = VecDeque::new();
        while !matches!(first.back(), Some(Read::Line(_)))
            && let Some(read) = lines.next()?
        {
            first.push_back(read);
        }
        let header = match first.back() {
            Some(Read::Line(line)) => {
                if let Record::Header(header) = &line.record {
                    Some(header.clone())
                } else {
                    None
                }
            }
            Some(Read::Problem(_)) | None => None,
        };
        let header = header.ok_or_else(|| JournalError::NoHeader { path: path.to_owned() })?;
        if header.version > JOURNAL_VERSION {
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
    pub(crate) fn header(&self) -> Result<Header, JournalError> {
        self.header.clone().ok_or_else(|| JournalError::NoHeader { path: self.raw.path.clone() })
    }

    /// The hash of the last line read.
    pub(crate) fn last_hash(&self) -> &str {
        &self.chain.prev
    }

    /// The number and total size in bytes of the complete lines read.
    pub(crate) fn whole(&self) -> (u64, u64) {
        (self.raw.seq, self.whole_bytes)
    }

    /// The next line, or a problem that precedes it.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read, or a line other than the last is invalid.
    pub(crate) fn next(&mut self) -> Result<Option<Read>, JournalError> {
        if let Some(read) = self.held.pop_front() {
            return Ok(Some(read));
        }
        let Some(raw) = self.raw.next()? else { return Ok(None) };
        let seq = raw.seq;
        if !raw.ended {
            self.raw.seq = seq.saturating_sub(1);
            return Ok(Some(Read::Problem(JournalProblem::CutOff { seq })));
        }
        let line: StoredLine = serde_json::from_slice(&raw.bytes).map_err(|source| JournalError::Record {
            path: self.raw.path.clone(),
            seq,
            source,
        })?;
        self.whole_bytes += raw.bytes.len() as u64 + 1;
        let link = self.chain.link(&raw, &line);
        let mut line = line
            .try_map_observation(|stored| self.views.decode(stored))
            .map_err(|source| JournalError::View { path: self.raw.path.clone(), seq, source })?;
        match &mut line.record {
            Record::Header(header) => {
                self.version = header.version;
                declare(&mut header.config, self.version);
            }
            Record::Changed(change) => declare(&mut change.config, self.version),
            Record::Effect(_) | Record::Event(_) => {}
        }
        let named = match link {
            Some(Flaw::Changed) => Some(seq),
            // The previous line may have been reported already.
            Some(Flaw::OutOfPlace | Flaw::Unlinked) => {
                Some(seq.saturating_sub(1)).filter(|before| *before > self.named)
            }
            None => None,
        };
        let Some(changed) = named else { return Ok(Some(Read::Line(Box::new(line)))) };
        self.named = changed;
        self.held.push_back(Read::Line(Box::new(line)));
        Ok(Some(Read::Problem(JournalProblem::Changed { seq: changed })))
    }
}
