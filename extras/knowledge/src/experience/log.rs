//! The records: lines of JSON that are appended, synced, and now and then written anew without what was replaced.
//!
//! A line without an end was not acknowledged: readers leave it out, and the next writer cuts it off. The first line names the
//! generation, which changes when the file is written anew.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    process,
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{
    error::ExperienceError,
    lock::{self, Lock},
    model::{Experience, VERSION},
};

/// The largest file that is read, in bytes.
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// The longest first line, in bytes.
const HEADER_MAX: u64 = 4_096;

/// Change to the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExperienceRecord {
    /// An experience was added, and those with these ids are gone.
    Add {
        experience: Box<Experience>,
        #[serde(default)]
        replaces: Vec<String>,
    },
    /// One was used.
    Result { id: String, worked: bool, at_ms: u64 },
    /// Some were forgotten.
    Forget { ids: Vec<String> },
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct ExperienceLogHeader {
    version: u32,
    generation: String,
}

/// A place in the records of one generation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) generation: String,
    /// In bytes, behind the end of a line.
    pub(crate) offset: u64,
}

/// Result of reading the records.
#[derive(Debug, Default)]
pub(crate) struct ExperienceLogContents {
    /// `true` if the result holds all records; `false` if it holds only those added since the last read.
    pub(crate) is_all: bool,
    pub(crate) records: Vec<ExperienceRecord>,
    pub(crate) position: Position,
    /// The version of the file; 0 if there is none.
    pub(crate) version: u32,
    /// Lines that are no records that are known.
    pub(crate) unknown: usize,
    /// Number of bytes read.
    pub(crate) bytes: u64,
}

/// The file of records in a folder.
#[derive(Debug)]
pub(crate) struct ExperienceLog {
    path: PathBuf,
    lock: PathBuf,
}

impl ExperienceLog {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join("experience.jsonl"), lock: folder.join("experience.lock") }
    }

    /// The records since a position; all of them if the file was written anew since.
    pub(crate) fn read_since(&self, since: &Position) -> Result<ExperienceLogContents, ExperienceError> {
        self.try_read(since)
            .map_err(|problem| ExperienceError::File { action: "read", path: self.path.clone(), problem })
            .and_then(|read| read.ok_or_else(|| self.too_large()))
    }

    fn try_read(&self, since: &Position) -> io::Result<Option<ExperienceLogContents>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(ExperienceLogContents { is_all: true, ..ExperienceLogContents::default() }));
            }
            opened => opened?,
        };
        let length = file.metadata()?.len();
        if length > BYTES_MAX {
            return Ok(None);
        }
        let mut reader = BufReader::new(file);
        let mut first = Vec::new();
        reader.by_ref().take(HEADER_MAX).read_until(b'\n', &mut first)?;
        let header: Option<ExperienceLogHeader> =
            serde_json::from_slice(&first).ok().filter(|_| first.ends_with(b"\n"));
        let body = if header.is_some() { size(&first) } else { 0 };
        let header = header.unwrap_or_else(|| ExperienceLogHeader { version: 0, generation: String::new() });
        let is_all = header.generation != since.generation || since.offset < body || since.offset > length;
        let from = if is_all { body } else { since.offset };
        let mut read = ExperienceLogContents {
            is_all,
            version: header.version,
            bytes: size(&first),
            position: Position { generation: header.generation, offset: from },
            ..ExperienceLogContents::default()
        };
        reader.seek(SeekFrom::Start(from))?;
        read.lines(reader.take(length.saturating_sub(from)))?;
        Ok(Some(read))
    }

    /// Locks the records for writing.
    pub(crate) fn lock(&self) -> Result<ExperienceLogWriter<'_>, ExperienceError> {
        Ok(ExperienceLogWriter { log: self, _lock: lock::wait(&self.lock)? })
    }

    fn too_large(&self) -> ExperienceError {
        ExperienceError::TooLarge { path: self.path.clone(), limit: BYTES_MAX }
    }
}

impl ExperienceLogContents {
    /// Reads whole lines.
    fn lines(&mut self, mut reader: impl io::BufRead) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            self.bytes += u64::try_from(reader.read_until(b'\n', &mut line)?).unwrap_or(u64::MAX);
            if !line.ends_with(b"\n") {
                return Ok(());
            }
            self.position.offset += size(&line);
            match serde_json::from_slice(&line) {
                Ok(record) => self.records.push(record),
                Err(_) => self.unknown += usize::from(line.iter().any(|byte| !byte.is_ascii_whitespace())),
            }
        }
    }
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// The only writer of the records, as long as it lives.
#[derive(Debug)]
pub(crate) struct ExperienceLogWriter<'a> {
    log: &'a ExperienceLog,
    _lock: Lock,
}

impl ExperienceLogWriter<'_> {
    /// Appends records; how many bytes they have. When it returns, they are on the disk. `at` is where the last whole line ends.
    pub(crate) fn append(&self, records: &[ExperienceRecord], at: &Position) -> Result<u64, ExperienceError> {
        let text = self.encoded(records)?;
        let failed =
            |problem| ExperienceError::File { action: "write", path: self.log.path.clone(), problem };
        let written = || -> io::Result<u64> {
            let mut file = OpenOptions::new().append(true).open(&self.log.path)?;
            if file.metadata()?.len() > at.offset {
                // The writer of the last line was interrupted; nobody was told that it is there.
                file.set_len(at.offset)?;
            }
            file.write_all(text.as_bytes())?;
            file.sync_data()?;
            Ok(size(text.as_bytes()))
        };
        written().map_err(failed)
    }

    /// Writes all records anew, in a new generation.
    pub(crate) fn rewrite(&self, records: &[ExperienceRecord]) -> Result<(), ExperienceError> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let generation = format!("{:x}-{:x}", since.as_nanos(), process::id());
        let header = self.line(&ExperienceLogHeader { version: VERSION, generation })?;
        let text = header + &self.encoded(records)?;
        let (path, fresh) = (&self.log.path, self.log.path.with_extension("new"));
        let written = || -> io::Result<()> {
            let mut file = File::create(&fresh)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&fresh, path)?;
            // The new name is only on the disk once the folder is.
            path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
        };
        written().map_err(|problem| ExperienceError::File { action: "write", path: path.clone(), problem })
    }

    fn encoded(&self, records: &[ExperienceRecord]) -> Result<String, ExperienceError> {
        records.iter().map(|record| self.line(record)).collect()
    }

    fn line(&self, value: &impl Serialize) -> Result<String, ExperienceError> {
        let line = serde_json::to_string(value).map_err(|error| ExperienceError::File {
            action: "write",
            path: self.log.path.clone(),
            problem: io::Error::other(error),
        })?;
        Ok(line + "\n")
    }

    /// Refuses to write what a later version wrote.
    pub(crate) fn check_version(&self, found: u32) -> Result<(), ExperienceError> {
        if found > VERSION {
            return Err(ExperienceError::Newer { path: self.log.path.clone(), found, known: VERSION });
        }
        Ok(())
    }
}
