//! Checks that a session is as it was written: every byte of the journal, the prompts, and the pictures.

use std::{collections::BTreeMap, fmt, fs, io};

use deskhand_core::record::{JOURNAL_VERSION, Record};
use serde_json::Value;

use crate::journal::{Chain, Flaw, JournalError, RawLine, RawLines, SessionFolder, StoredLine, sha256_hex};

/// What is wrong with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A line is not the one that was written.
    Changed {
        /// Its number.
        seq: u64,
    },
    /// A line is no record any more.
    Unreadable {
        /// Its number.
        seq: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A line does not follow the one before it: lines were taken out, put in or replaced.
    OutOfPlace {
        /// Its number in the file.
        seq: u64,
        /// The number that it gives itself.
        says: u64,
    },
    /// The last line has no end, as after a crash while it was written.
    CutOff {
        /// Its number.
        seq: u64,
    },
    /// The first line is no header, or another line is one.
    Header {
        /// Its number.
        seq: u64,
    },
    /// A picture is not there.
    PictureMissing {
        /// The first record that names it.
        seq: u64,
        /// Its hash, which it is called by.
        sha256: String,
    },
    /// A picture is not the one that was taken.
    PictureChanged {
        /// The first record that names it.
        seq: u64,
        /// Its hash, which it is called by.
        sha256: String,
    },
    /// The prompt set is not there.
    PromptsMissing {
        /// Its hash, which it is called by.
        sha256: String,
    },
    /// The prompt set is not the one that was in force.
    PromptsChanged {
        /// Its hash, which it is called by.
        sha256: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { seq } => {
                write!(f, "record {seq}: it was changed after it was written; its hash does not match")
            }
            Self::Unreadable { seq, reason } => {
                write!(f, "record {seq}: it was changed after it was written; it is no record: {reason}")
            }
            Self::OutOfPlace { seq, says } => write!(
                f,
                "record {seq}: it does not follow the line before it, and calls itself record {says}; lines were \
                 taken out, put in or replaced"
            ),
            Self::CutOff { seq } => {
                write!(f, "record {seq}: it was cut off while it was written; `deskhand resume` removes it")
            }
            Self::Header { seq: 1 } => write!(f, "record 1: it is not the header of a session"),
            Self::Header { seq } => write!(f, "record {seq}: a second header"),
            Self::PictureMissing { seq, sha256 } => {
                write!(f, "record {seq}: its picture {sha256} is not there")
            }
            Self::PictureChanged { seq, sha256 } => {
                write!(f, "record {seq}: its picture {sha256} was changed; its hash does not match")
            }
            Self::PromptsMissing { sha256 } => write!(f, "record 1: the prompt set {sha256} is not there"),
            Self::PromptsChanged { sha256 } => {
                write!(f, "record 1: the prompt set {sha256} was changed; its hash does not match")
            }
        }
    }
}

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// How many records were checked.
    pub records: u64,
    /// How many pictures were checked.
    pub pictures: u64,
    /// What is wrong, in the order of the records.
    pub findings: Vec<Finding>,
}

/// The most findings that are listed.
const FINDINGS_MAX: usize = 100;

/// Checks a session. Reads line by line, so that a long session costs no memory.
///
/// # Errors
/// [`JournalError`] when the journal cannot be read, or is of a later version.
pub fn verify(folder: &SessionFolder) -> Result<Verification, JournalError> {
    let mut found = Verification::default();
    let mut chain = Chain::default();
    let mut pictures: BTreeMap<String, u64> = BTreeMap::new();
    let mut lines = RawLines::open(&folder.journal_path())?;
    while let Some(raw) = lines.next()? {
        let seq = raw.seq;
        if !raw.ended {
            found.note(Finding::CutOff { seq });
            break;
        }
        found.records = seq;
        let line: StoredLine = match serde_json::from_slice(&raw.bytes) {
            Ok(line) => line,
            Err(error) => {
                found.note(Finding::Unreadable { seq, reason: error.to_string() });
                chain.pass_over(&raw);
                continue;
            }
        };
        found.line(&mut chain, &raw, &line, folder)?;
        // What a changed line names is nothing to go by.
        if !found.findings.iter().any(|finding| finding.names(seq))
            && let Ok(value) = serde_json::from_slice::<Value>(&raw.bytes)
        {
            name_pictures(&value, &mut |sha256| {
                pictures.entry(sha256.to_owned()).or_insert(seq);
            });
        }
    }
    if found.records == 0 {
        return Err(JournalError::NoHeader { path: folder.journal_path() });
    }
    for (sha256, seq) in pictures {
        found.pictures += 1;
        match hash_of(&folder.picture_path(&sha256))? {
            None => found.note(Finding::PictureMissing { seq, sha256 }),
            Some(hash) if hash != sha256 => found.note(Finding::PictureChanged { seq, sha256 }),
            Some(_) => {}
        }
    }
    Ok(found)
}

impl Verification {
    fn note(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
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
        // What was changed is named once, not again by the line that follows it.
        let named = self.findings.iter().any(|finding| finding.names(seq.saturating_sub(1)));
        let unreadable = matches!(
            self.findings.last(),
            Some(Finding::Unreadable { seq: last, .. }) if *last == seq.saturating_sub(1)
        );
        match chain.link(raw, line) {
            Some(Flaw::Changed) => self.note(Finding::Changed { seq }),
            Some(Flaw::Unlinked) if named => {}
            // Without a seal of its own, a changed line is known by what the next one says of it.
            Some(Flaw::Unlinked) if seq > 1 => self.note(Finding::Changed { seq: seq.saturating_sub(1) }),
            // Where the end of a line was changed, it holds the next one too.
            Some(Flaw::OutOfPlace) if unreadable => {}
            Some(Flaw::OutOfPlace | Flaw::Unlinked) => {
                self.note(Finding::OutOfPlace { seq, says: line.seq });
            }
            None => {}
        }
        match &line.record {
            Record::Header(header) if seq == 1 => {
                if header.version > JOURNAL_VERSION {
                    return Err(JournalError::Version {
                        path: folder.journal_path(),
                        found: header.version,
                        known: JOURNAL_VERSION,
                    });
                }
                self.prompts(folder, &header.prompts_sha256)?;
            }
            Record::Header(_) => self.note(Finding::Header { seq }),
            Record::Effect(_) | Record::Event(_) | Record::Changed(_) if seq == 1 => {
                self.note(Finding::Header { seq });
            }
            Record::Effect(_) | Record::Event(_) | Record::Changed(_) => {}
        }
        Ok(())
    }

    fn prompts(&mut self, folder: &SessionFolder, sha256: &str) -> Result<(), JournalError> {
        let sha256 = sha256.to_owned();
        match hash_of(&folder.prompts_path(&sha256))? {
            None => self.note(Finding::PromptsMissing { sha256 }),
            Some(hash) if hash != sha256 => self.note(Finding::PromptsChanged { sha256 }),
            Some(_) => {}
        }
        Ok(())
    }
}

impl Finding {
    /// Whether it says of the bytes of this record that they were changed.
    fn names(&self, record: u64) -> bool {
        match self {
            Self::Changed { seq } | Self::Unreadable { seq, .. } | Self::OutOfPlace { seq, .. } => {
                *seq == record
            }
            Self::CutOff { .. }
            | Self::Header { .. }
            | Self::PictureMissing { .. }
            | Self::PictureChanged { .. }
            | Self::PromptsMissing { .. }
            | Self::PromptsChanged { .. } => false,
        }
    }
}

/// The hash of a file; none when it is not there.
fn hash_of(path: &std::path::Path) -> Result<Option<String>, JournalError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(sha256_hex(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(JournalError::file("read", path, source)),
    }
}

/// Tells every picture that a record names, wherever in it that stands.
pub(crate) fn name_pictures(value: &Value, tell: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            if let (Some(Value::String(sha256)), Some(_)) = (fields.get("sha256"), fields.get("media_type")) {
                tell(sha256);
            }
            fields.values().for_each(|field| name_pictures(field, tell));
        }
        Value::Array(items) => items.iter().for_each(|item| name_pictures(item, tell)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
