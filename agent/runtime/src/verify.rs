//! Verifies the integrity of a session: journal, prompts and pictures.

use std::{collections::BTreeMap, fmt, fs, io};

use deskhand_machine::record::{JOURNAL_VERSION, JournalRecord};
use serde_json::Value;

use crate::journal::{
    Chain, Flaw, JournalError, MissingEnd, RawLine, RawLines, SealProof, SessionFolder, StoredLine, records,
    sha256_hex,
};

/// An integrity problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntegrityFinding {
    /// A line was modified.
    Changed {
        /// The record number.
        seq: u64,
    },
    /// Lines were written without the key: their hashes match, their seals do not.
    Forged {
        /// The first record.
        seq: u64,
        /// The last record of this run: a record that is resealed changes the hash that the next one names.
        last: u64,
    },
    /// A sealed line is not the one that was anchored: the journal was replaced by another state of it.
    Replaced {
        /// The record number.
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
    /// A line does not parse as a record.
    Unreadable {
        /// The record number.
        seq: u64,
        /// The parse error.
        reason: String,
    },
    /// A line does not follow the previous one: lines were removed, inserted or replaced.
    OutOfPlace {
        /// The line number.
        seq: u64,
        /// The record number in the line.
        says: u64,
    },
    /// The last line is incomplete, as after a crash during a write.
    CutOff {
        /// The record number.
        seq: u64,
    },
    /// The first line is not a header, or another line is.
    Header {
        /// The record number.
        seq: u64,
    },
    /// A picture is missing.
    PictureMissing {
        /// The first record that refers to it.
        seq: u64,
        /// Its hash, which is also its name.
        sha256: String,
    },
    /// A picture was modified.
    PictureChanged {
        /// The first record that refers to it.
        seq: u64,
        /// Its hash, which is also its name.
        sha256: String,
    },
    /// The prompt set is missing.
    PromptsMissing {
        /// Its hash, which is also its name.
        sha256: String,
    },
    /// The prompt set was modified.
    PromptsChanged {
        /// Its hash, which is also its name.
        sha256: String,
    },
}

impl fmt::Display for IntegrityFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { seq } => {
                write!(f, "record {seq}: modified: the hash does not match")
            }
            Self::Forged { seq, last } => write!(
                f,
                "{} forged: the hash matches, the seal does not",
                records(*seq, *last, "was", "were")
            ),
            Self::Replaced { seq } => {
                write!(f, "record {seq}: replaced: another one was anchored; the journal is an earlier copy")
            }
            Self::Truncated { from, to } => {
                write!(f, "{} missing: the end of the journal was removed", records(*from, *to, "is", "are"))
            }
            Self::Lost { from, to } => write!(
                f,
                "{} missing: lost when the machine restarted before they were on the disk, or removed",
                records(*from, *to, "is", "are")
            ),
            Self::Unreadable { seq, reason } => {
                write!(f, "record {seq}: modified: not a valid record: {reason}")
            }
            Self::OutOfPlace { seq, says } => write!(
                f,
                "record {seq}: does not follow the previous line (its number is {says}); lines were removed, inserted or \
                 replaced"
            ),
            Self::CutOff { seq } => {
                write!(f, "record {seq}: truncated during a write; `deskhand resume` removes it")
            }
            Self::Header { seq: 1 } => write!(f, "record 1: not a session header"),
            Self::Header { seq } => write!(f, "record {seq}: unexpected second header"),
            Self::PictureMissing { seq, sha256 } => {
                write!(f, "record {seq}: picture {sha256} is missing")
            }
            Self::PictureChanged { seq, sha256 } => {
                write!(f, "record {seq}: picture {sha256} was modified: its hash does not match")
            }
            Self::PromptsMissing { sha256 } => write!(f, "record 1: prompt set {sha256} is missing"),
            Self::PromptsChanged { sha256 } => {
                write!(f, "record 1: prompt set {sha256} was modified: its hash does not match")
            }
        }
    }
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The number of records checked.
    pub records: u64,
    /// The number of pictures checked.
    pub pictures: u64,
    /// The problems, in record order.
    pub findings: Vec<IntegrityFinding>,
    /// The proof given by the seals, if there are no problems.
    pub proof: SealProof,
}

/// The most findings reported.
const FINDINGS_MAX: usize = 100;

/// Verifies a session, line by line in constant memory: hashes, seals, the anchored end, prompts and pictures.
///
/// # Errors
/// [`JournalError`] if the journal, the key or the anchor cannot be read, a line exceeds the limit, or the journal has a later
/// format version.
pub fn verify(folder: &SessionFolder) -> Result<Verification, JournalError> {
    let mut chain = Chain::new(folder.seals().clone())?;
    let mut found = Verification { records: 0, pictures: 0, findings: Vec::new(), proof: chain.proof() };
    let mut pictures: BTreeMap<String, u64> = BTreeMap::new();
    let mut cut_off = None;
    let mut lines = RawLines::open(&folder.journal_path())?;
    while let Some(raw) = lines.next()? {
        let seq = raw.seq;
        if !raw.ended {
            cut_off = Some(IntegrityFinding::CutOff { seq });
            break;
        }
        found.records = seq;
        let line: StoredLine = match serde_json::from_slice(&raw.bytes) {
            Ok(line) => line,
            Err(error) => {
                found.note(IntegrityFinding::Unreadable { seq, reason: error.to_string() });
                chain.pass_over(&raw);
                continue;
            }
        };
        found.line(&mut chain, &raw, &line, folder)?;
        // References in a modified line are not trusted.
        if !found.findings.iter().any(|finding| finding.names(seq))
            && let Ok(value) = serde_json::from_slice::<Value>(&raw.bytes)
        {
            for_each_picture(&value, &mut |sha256| {
                pictures.entry(sha256.to_owned()).or_insert(seq);
            });
        }
    }
    if found.records == 0 {
        match folder.anchored_records()? {
            0 => return Err(JournalError::NoRecord { path: folder.journal_path() }),
            last => found.note(IntegrityFinding::Truncated { from: 1, to: last }),
        }
        return Ok(found);
    }
    found.end(chain.missing_end(), cut_off);
    found.proof = chain.proof();
    for (sha256, seq) in pictures {
        found.pictures += 1;
        match hash_of(&folder.picture_path(&sha256))? {
            None => found.note(IntegrityFinding::PictureMissing { seq, sha256 }),
            Some(hash) if hash != sha256 => found.note(IntegrityFinding::PictureChanged { seq, sha256 }),
            Some(_) => {}
        }
    }
    Ok(found)
}

impl Verification {
    fn note(&mut self, finding: IntegrityFinding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// Notes a line without a valid seal. A run of them is one finding.
    fn forged(&mut self, seq: u64) {
        match self.findings.last_mut() {
            Some(IntegrityFinding::Forged { last, .. }) if *last == seq.saturating_sub(1) => *last = seq,
            Some(_) | None => self.note(IntegrityFinding::Forged { seq, last: seq }),
        }
    }

    /// Notes what is wrong with the end.
    fn end(&mut self, missing: Option<MissingEnd>, cut_off: Option<IntegrityFinding>) {
        match missing {
            // A line that was once complete was not cut off by a crash.
            Some(MissingEnd { from, to, may_be_lost: false }) => {
                self.note(IntegrityFinding::Truncated { from, to });
            }
            Some(MissingEnd { from, to, may_be_lost: true }) => {
                cut_off.into_iter().for_each(|finding| self.note(finding));
                self.note(IntegrityFinding::Lost { from, to });
            }
            None => cut_off.into_iter().for_each(|finding| self.note(finding)),
        }
    }

    fn line(
        &mut self,
        chain: &mut Chain,
        raw: &RawLine,
        line: &StoredLine,
        folder: &SessionFolder,
    ) -> Result<(), JournalError> {
        let seq = raw.seq;
        // A modified line is reported once, not again by its successor.
        let named = self.findings.iter().any(|finding| finding.names(seq.saturating_sub(1)));
        let unreadable = matches!(
            self.findings.last(),
            Some(IntegrityFinding::Unreadable { seq: last, .. }) if *last == seq.saturating_sub(1)
        );
        match chain.link(raw, line)? {
            Some(Flaw::Changed) => self.note(IntegrityFinding::Changed { seq }),
            Some(Flaw::Forged) => self.forged(seq),
            Some(Flaw::Replaced) => self.note(IntegrityFinding::Replaced { seq }),
            Some(Flaw::Unlinked) if named => {}
            // Without its own seal, a modified line is detected by its successor's hash.
            Some(Flaw::Unlinked) if seq > 1 => {
                self.note(IntegrityFinding::Changed { seq: seq.saturating_sub(1) });
            }
            // A modified line break joins two lines; a modified number is not that of its line.
            Some(Flaw::OutOfPlace) if unreadable || (named && line.seq == seq) => {}
            Some(Flaw::OutOfPlace | Flaw::Unlinked) => {
                self.note(IntegrityFinding::OutOfPlace { seq, says: line.seq });
            }
            None => {}
        }
        match &line.record {
            JournalRecord::Header(header) if seq == 1 => {
                if header.version != JOURNAL_VERSION {
                    return Err(JournalError::Version {
                        path: folder.journal_path(),
                        found: header.version,
                        known: JOURNAL_VERSION,
                    });
                }
                self.prompts(folder, &header.prompts_sha256)?;
            }
            JournalRecord::Header(_) => self.note(IntegrityFinding::Header { seq }),
            JournalRecord::Effect(_) | JournalRecord::Event(_) | JournalRecord::Changed(_) if seq == 1 => {
                self.note(IntegrityFinding::Header { seq });
            }
            JournalRecord::Effect(_) | JournalRecord::Event(_) | JournalRecord::Changed(_) => {}
        }
        Ok(())
    }

    fn prompts(&mut self, folder: &SessionFolder, sha256: &str) -> Result<(), JournalError> {
        let sha256 = sha256.to_owned();
        match hash_of(&folder.prompts_path(&sha256))? {
            None => self.note(IntegrityFinding::PromptsMissing { sha256 }),
            Some(hash) if hash != sha256 => self.note(IntegrityFinding::PromptsChanged { sha256 }),
            Some(_) => {}
        }
        Ok(())
    }
}

impl IntegrityFinding {
    /// Returns `true` if it reports this record as modified.
    fn names(&self, record: u64) -> bool {
        match self {
            Self::Changed { seq }
            | Self::Replaced { seq }
            | Self::Unreadable { seq, .. }
            | Self::OutOfPlace { seq, .. } => *seq == record,
            Self::Forged { seq, last } => (*seq..=*last).contains(&record),
            Self::Truncated { .. }
            | Self::Lost { .. }
            | Self::CutOff { .. }
            | Self::Header { .. }
            | Self::PictureMissing { .. }
            | Self::PictureChanged { .. }
            | Self::PromptsMissing { .. }
            | Self::PromptsChanged { .. } => false,
        }
    }
}

/// The hash of a file; `None` if it is missing.
fn hash_of(path: &std::path::Path) -> Result<Option<String>, JournalError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(sha256_hex(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(JournalError::file("read", path, source)),
    }
}

/// Calls `visit` with the hash of every picture in a record, at any depth.
pub(crate) fn for_each_picture(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            if let (Some(Value::String(sha256)), Some(_)) = (fields.get("sha256"), fields.get("media_type")) {
                visit(sha256);
            }
            fields.values().for_each(|field| for_each_picture(field, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| for_each_picture(item, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
