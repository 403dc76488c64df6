//! Reads a journal line by line. No more than one line is in memory.

use std::{
    collections::VecDeque,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use deskhand_core::record::{Header, JOURNAL_VERSION, Line, Record};

use super::{
    JournalError, JournalProblem,
    seal::{Seal, check},
    store::sha256_hex,
    views::{StoredLine, Views},
};

/// The longest line that is read, in bytes.
const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// One line as its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawLine {
    /// Its number, from 1.
    pub(crate) seq: u64,
    /// Its bytes, without the end of the line.
    pub(crate) bytes: Vec<u8>,
    /// Whether the end of the line is there. Only the last line can be without.
    pub(crate) ended: bool,
}

/// The lines of a journal as bytes, in order.
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

    /// The next line; none at the end.
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

/// What the lines of a journal say of each other while they are read in order.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The hash of the last line.
    pub(crate) prev: String,
    /// The number of the last line, as it says itself.
    last: u64,
    /// Whether lines are sealed here; from the first sealed one on, all are.
    sealed: bool,
}

/// What is wrong with a line, as far as its bytes and the line before it say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Its bytes are not those that were written.
    Changed,
    /// Its number follows, but the line before it is not the one that it names.
    Unlinked,
    /// Its number does not follow.
    OutOfPlace,
}

impl Chain {
    /// Takes the next line.
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

/// What [`Lines`] gives.
#[derive(Debug)]
pub(crate) enum Read {
    /// A line.
    Line(Box<Line>),
    /// Something about the journal that a reader should know.
    Problem(JournalProblem),
}

/// The lines of a journal, in order, with what is wrong with them.
pub(crate) struct Lines {
    raw: RawLines,
    chain: Chain,
    /// What was read and is to be given out first.
    held: VecDeque<Read>,
    /// The last line that was named as changed.
    named: u64,
    /// How many bytes the lines have that are whole.
    whole_bytes: u64,
    header: Option<Header>,
    /// The last view of each window, to decode those that were stored as changes.
    views: Views,
}

impl Lines {
    /// Opens a journal and reads its header.
    ///
    /// # Errors
    /// [`JournalError`] when the file cannot be read, the header is missing, or the format is a later one.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let raw = RawLines::open(path)?;
        let mut lines = Self {
            raw,
            chain: Chain::default(),
            held: VecDeque::new(),
            named: 0,
            whole_bytes: 0,
            header: None,
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

    /// The header; it is also the first line.
    pub(crate) fn header(&self) -> Result<Header, JournalError> {
        self.header.clone().ok_or_else(|| JournalError::NoHeader { path: self.raw.path.clone() })
    }

    /// The hash of the last line that was read.
    pub(crate) fn last_hash(&self) -> &str {
        &self.chain.prev
    }

    /// How many lines were read that are whole, and how many bytes they have with their ends.
    pub(crate) fn whole(&self) -> (u64, u64) {
        (self.raw.seq, self.whole_bytes)
    }

    /// The next line, or what is wrong with it before it.
    ///
    /// # Errors
    /// [`JournalError`] when the file cannot be read, or a line other than the last is no record.
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
        let line = line
            .try_map_observation(|stored| self.views.decode(stored))
            .map_err(|source| JournalError::View { path: self.raw.path.clone(), seq, source })?;
        let named = match link {
            Some(Flaw::Changed) => Some(seq),
            // The line before it may have been named already.
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
