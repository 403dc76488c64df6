//! Files that say what is done, as they were read: once, with who made them.
//!
//! The bytes whose seal was checked are the bytes that are used and sealed. So a file that is exchanged meanwhile changes nothing.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use deskhand_machine::provenance::Provenance;
use deskhand_runtime::{InstructionKind, JournalError, SealFolder};

/// A file that says what is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// Path from which the file was read.
    pub path: PathBuf,
    /// Kind of the file.
    kind: InstructionKind,
    content: Vec<u8>,
    /// Who made it.
    pub provenance: Provenance,
}

impl Instructions {
    /// Reads a file of at most so many bytes. Without `seals` it is a stranger's.
    ///
    /// # Errors
    /// It cannot be read, or is longer.
    pub(crate) fn read(
        path: &Path,
        kind: InstructionKind,
        bytes_max: u64,
        seals: Option<&SealFolder>,
    ) -> io::Result<Self> {
        let mut content = Vec::new();
        File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut content)?;
        if u64::try_from(content.len()).map_or(true, |length| length > bytes_max) {
            let problem = format!("it is larger than {} MiB", bytes_max / 1024 / 1024);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        let provenance = seals.map(|seals| seals.provenance(kind, &content)).transpose();
        let provenance = provenance.map_err(io::Error::other)?.unwrap_or_default();
        Ok(Self { path: path.to_owned(), kind, content, provenance })
    }

    /// Its text.
    ///
    /// # Errors
    /// It is no UTF-8.
    pub(crate) fn text(&self) -> io::Result<&str> {
        std::str::from_utf8(&self.content).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Returns a digest that identifies the content, in hexadecimal.
    pub fn digest(&self) -> String {
        self.kind.digest(&self.content)
    }

    /// Looks again for the seal of what was read.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn recheck(&mut self, seals: &SealFolder) -> Result<(), JournalError> {
        self.provenance = seals.provenance(self.kind, &self.content)?;
        Ok(())
    }

    /// Seals what was read, as something that the user has looked at and trusts.
    ///
    /// # Errors
    /// The seal cannot be written.
    pub(crate) fn trust(&mut self, seals: &SealFolder) -> Result<(), JournalError> {
        seals.vouch(self.kind, &self.content, Provenance::Trusted)?;
        if !self.provenance.is_users() {
            self.provenance = Provenance::Trusted;
        }
        Ok(())
    }
}
