//! Follows the lines of a journal: their hashes, their seals, and the anchor.

use std::path::PathBuf;

use deskhand_machine::record::JournalRecord;

use super::{
    JournalError,
    anchor::{AnchorContent, JournalHead, boot},
    key::{SealFolder, SealKey},
    raw::RawLine,
    seal::{LineHash, LineSeal, check},
    store::sha256_hex,
    views::StoredLine,
};

/// Result of checking the seals of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealProof {
    /// This machine wrote the journal: it is sealed with its key, and its end is the anchored one.
    Sealed {
        /// The first sealed record. Its seal covers the records before it, as they were when it was written.
        since: u64,
    },
    /// The journal is consistent with itself. This proves nothing against someone who recomputes the hashes.
    Consistent(Unproven),
}

/// Why a journal is not proven.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// There is no key.
    #[error("its seals cannot be checked: there is no key at {}", key.display())]
    NoKey {
        /// Path of the missing anchor.
        key: PathBuf,
    },
    /// The journal is sealed with another key.
    #[error("it is sealed with another key than {}, on another machine or before that key was created", key.display())]
    OtherKey {
        /// The key of this machine.
        key: PathBuf,
    },
    /// Its last record is not known.
    #[error("its seals hold, but its end may be missing: there is no anchor at {}", anchor.display())]
    NoAnchor {
        /// Path of the missing key.
        anchor: PathBuf,
    },
}

/// A defect of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The bytes were modified.
    Changed,
    /// The hash matches and the seal does not: it was written without the key.
    Forged,
    /// The line was sealed with the key, but another one was anchored.
    Replaced,
    /// The number follows, but the hash of the previous line does not match.
    Unlinked,
    /// The number does not follow.
    OutOfPlace,
}

/// Records that are missing at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingEnd {
    /// The first one.
    pub(crate) from: u64,
    /// The last one.
    pub(crate) to: u64,
    /// `true` if a power failure may have lost the records: they were not synced, and the machine restarted since.
    pub(crate) may_be_lost: bool,
}

/// Checks lines read in order.
#[derive(Debug)]
pub(crate) struct Chain {
    seals: SealFolder,
    key: Option<SealKey>,
    /// Anchored state of the session, once its header was read.
    anchored: Option<AnchorContent>,
    session: String,
    /// The hash of the previous line.
    prev: String,
    /// The last line, with its seal.
    head: JournalHead,
    /// The first line sealed with the key; after it, all must be.
    since: Option<u64>,
}

impl Chain {
    /// A chain before its first line.
    ///
    /// # Errors
    /// [`JournalError`] if the key cannot be read.
    pub(crate) fn new(seals: SealFolder) -> Result<Self, JournalError> {
        let key = seals.key()?;
        Ok(Self {
            seals,
            key,
            anchored: None,
            session: String::new(),
            prev: String::new(),
            head: JournalHead::default(),
            since: None,
        })
    }

    /// Checks the next line.
    ///
    /// # Errors
    /// [`JournalError`] if the anchor cannot be read.
    pub(crate) fn link(&mut self, raw: &RawLine, line: &StoredLine) -> Result<Option<Flaw>, JournalError> {
        if let (1, JournalRecord::Header(header)) = (raw.seq, &line.record) {
            self.session.clone_from(&header.session.0);
            if let Some(key) = &self.key {
                self.anchored = self.seals.anchored(key, &self.session)?;
            }
        }
        let (hash, seal) = check(&raw.bytes, self.key.as_ref());
        let (in_order, linked) = (line.seq == self.head.seq.saturating_add(1), line.prev == self.prev);
        let must_hold = self.since.or(self.anchored.as_ref().map(|anchored| anchored.since));
        let must_hold = must_hold.is_some_and(|since| line.seq >= since);
        let is_forged = match &seal {
            LineSeal::Held(_) => false,
            LineSeal::Broken | LineSeal::Missing => true,
            LineSeal::Foreign(_) => must_hold,
        };
        let seal = if let LineSeal::Held(seal) = seal { seal } else { String::new() };
        if self.since.is_none() && !seal.is_empty() {
            self.since = Some(line.seq);
        }
        self.prev = sha256_hex(&raw.bytes);
        self.head = JournalHead { seq: line.seq, seal };
        Ok(match hash {
            LineHash::Broken | LineHash::Missing => Some(Flaw::Changed),
            LineHash::Whole if !in_order => Some(Flaw::OutOfPlace),
            LineHash::Whole if !linked => Some(Flaw::Unlinked),
            LineHash::Whole if is_forged => Some(Flaw::Forged),
            LineHash::Whole => self.is_replaced().then_some(Flaw::Replaced),
        })
    }

    /// Returns `true` if another line than this one was anchored.
    fn is_replaced(&self) -> bool {
        let Some(anchored) = &self.anchored else { return false };
        [&anchored.written, &anchored.synced]
            .into_iter()
            .any(|head| head.seq == self.head.seq && head.seal != self.head.seal)
    }

    /// Takes a line that is no record.
    pub(crate) fn pass_over(&mut self, raw: &RawLine) {
        self.prev = sha256_hex(&raw.bytes);
        self.head = JournalHead { seq: self.head.seq.saturating_add(1), seal: String::new() };
    }

    /// The records that are missing after the last line; `None` if there are none, or if they are not known.
    pub(crate) fn missing_end(&self) -> Option<MissingEnd> {
        let anchored = self.anchored.as_ref()?;
        let (from, to) = (self.head.seq.saturating_add(1), anchored.written.seq);
        let may_be_lost = self.head.seq >= anchored.synced.seq && anchored.may_have_lost(&boot());
        (from <= to).then_some(MissingEnd { from, to, may_be_lost })
    }

    /// Returns the proof that the seals give, after the last line and if there were no flaws.
    pub(crate) fn proof(&self) -> SealProof {
        let key = self.seals.key_path();
        SealProof::Consistent(match (self.since, &self.key) {
            (Some(since), _) if self.anchored.is_some() => return SealProof::Sealed { since },
            (Some(_), _) => Unproven::NoAnchor { anchor: self.seals.anchor_path(&self.session) },
            (None, Some(_)) => Unproven::OtherKey { key },
            (None, None) => Unproven::NoKey { key },
        })
    }

    /// Returns the data that a writer needs to continue after the last line.
    pub(crate) fn end(&self) -> ChainEnd {
        let since = self.since.unwrap_or_else(|| self.head.seq.saturating_add(1));
        ChainEnd { session: self.session.clone(), since, head: self.head.clone(), prev: self.prev.clone() }
    }
}

/// The end of a journal, after which a writer goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainEnd {
    /// The session.
    pub(crate) session: String,
    /// The first record that is or will be sealed with the key.
    pub(crate) since: u64,
    /// The last record.
    pub(crate) head: JournalHead,
    /// The hash of its line.
    pub(crate) prev: String,
}
