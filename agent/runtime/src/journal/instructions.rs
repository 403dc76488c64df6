//! Seals of files that say what is done: workflows, plans, tasks, schedules.
//!
//! A seal says that this user made a file, or trusts it, byte for byte. It lies beside the seals of the journals, where no confined program
//! sees it, under a name made of the content. So a file that was changed has none, wherever it is, and one that was moved keeps its own.
//! Nobody can make a seal without the key.

use std::{fs, io};

use deskhand_machine::provenance::Provenance;

use super::{
    JournalError, SealFolder, disk,
    key::{Purpose, SealKey},
    store::sha256_hex,
};

/// The longest file of a seal, in bytes.
const BYTES_MAX: u64 = 256;

/// Kind of a file. The seal of one kind is invalid for another, because the same text may have another meaning
/// there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    /// A workflow.
    Workflow,
    /// Change that a run proposes for a workflow.
    Proposal,
    /// A plan to follow.
    Plan,
    /// Tasks of a batch or of a fleet.
    Tasks,
    /// A schedule.
    Schedule,
}

impl InstructionKind {
    /// The word in messages and seals.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Workflow => "workflow",
            Self::Proposal => "proposal",
            Self::Plan => "plan",
            Self::Tasks => "tasks",
            Self::Schedule => "schedule",
        }
    }

    /// Returns a digest that identifies a file with this content, in hexadecimal. No other content can be made to
    /// match.
    pub fn digest(self, content: &[u8]) -> String {
        sha256_hex(&self.message("", content))
    }

    fn message(self, word: &str, content: &[u8]) -> Vec<u8> {
        [self.word().as_bytes(), b"\n", word.as_bytes(), b"\n", content].concat()
    }
}

/// The word of a provenance in a seal; `None` for a stranger's file, which has no seal.
const fn sealed_word(provenance: Provenance) -> Option<&'static str> {
    match provenance {
        Provenance::Made => Some("made"),
        Provenance::Trusted => Some("trusted"),
        Provenance::Stranger => None,
    }
}

impl SealFolder {
    /// Seals the content of a file, as made here or as trusted. One that was made here stays so.
    ///
    /// # Errors
    /// The key cannot be read or made, or the seal cannot be written.
    pub fn vouch(
        &self,
        kind: InstructionKind,
        content: &[u8],
        provenance: Provenance,
    ) -> Result<(), JournalError> {
        let Some(word) = sealed_word(provenance) else { return Ok(()) };
        let key = self.key_or_new()?;
        if self.provenance_with(&key, kind, content)? == Provenance::Made {
            return Ok(());
        }
        let folder = self.instructions_path();
        disk::create_folders(&folder).map_err(|source| JournalError::file("create", &folder, source))?;
        let path = folder.join(kind.digest(content));
        let seal = key.seal(Purpose::Instructions, &kind.message(word, content));
        let written = disk::write_whole(&path, format!("{word} {seal}\n").as_bytes());
        written.map_err(|source| JournalError::file("write", path, source))
    }

    /// Who made a file with this content, by its seal.
    ///
    /// # Errors
    /// The key or the seal cannot be read.
    pub fn provenance(&self, kind: InstructionKind, content: &[u8]) -> Result<Provenance, JournalError> {
        match self.key()? {
            Some(key) => self.provenance_with(&key, kind, content),
            None => Ok(Provenance::Stranger),
        }
    }

    fn provenance_with(
        &self,
        key: &SealKey,
        kind: InstructionKind,
        content: &[u8],
    ) -> Result<Provenance, JournalError> {
        let path = self.instructions_path().join(kind.digest(content));
        let read = || -> io::Result<Option<String>> {
            let file = fs::symlink_metadata(&path)?;
            let is_one = file.is_file() && file.len() <= BYTES_MAX;
            if is_one { fs::read_to_string(&path).map(Some) } else { Ok(None) }
        };
        let text = match read() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Provenance::Stranger),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
                return Ok(Provenance::Stranger);
            }
            Err(source) => return Err(JournalError::file("read", path, source)),
        };
        let sealed = [Provenance::Made, Provenance::Trusted].into_iter().find(|provenance| {
            let word = sealed_word(*provenance).unwrap_or_default();
            let seal = text.trim_end().strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
            seal.is_some_and(|seal| {
                key.holds(Purpose::Instructions, &kind.message(word, content), seal.as_bytes())
            })
        });
        Ok(sealed.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_one_content_of_one_kind_and_cannot_be_made_without_the_key() {
        use InstructionKind::{Plan, Tasks, Workflow};
        let home = tempfile::tempdir().unwrap();
        let seals = SealFolder::at(home.path().join("seals"));
        let check = |kind: InstructionKind, content: &str, expected: Provenance| {
            assert_eq!(seals.provenance(kind, content.as_bytes()).unwrap(), expected, "{kind:?} {content}");
        };
        check(Workflow, "a", Provenance::Stranger);
        seals.vouch(Workflow, b"a", Provenance::Trusted).unwrap();
        seals.vouch(Tasks, b"b", Provenance::Made).unwrap();
        seals.vouch(Tasks, b"b", Provenance::Trusted).unwrap();
        seals.vouch(Plan, b"c", Provenance::Stranger).unwrap();
        check(Workflow, "a", Provenance::Trusted);
        check(Tasks, "b", Provenance::Made);
        check(Plan, "c", Provenance::Stranger);
        for (kind, content) in [(Plan, "a"), (Workflow, "a "), (Workflow, "b"), (Tasks, "a")] {
            check(kind, content, Provenance::Stranger);
        }

        // A seal that was copied, raised or made up is none.
        let path = |kind: InstructionKind, content: &str| {
            home.path().join("seals/instructions").join(kind.digest(content.as_bytes()))
        };
        let sealed = fs::read_to_string(path(Workflow, "a")).unwrap();
        fs::write(path(Workflow, "evil"), &sealed).unwrap();
        check(Workflow, "evil", Provenance::Stranger);
        fs::write(path(Workflow, "a"), sealed.replacen("trusted", "made", 1)).unwrap();
        check(Workflow, "a", Provenance::Stranger);
        for forged in
            [format!("made {}", "0".repeat(64)), "made ".to_owned(), String::new(), "x".repeat(1000)]
        {
            fs::write(path(Workflow, "evil"), forged).unwrap();
            check(Workflow, "evil", Provenance::Stranger);
        }
        fs::write(path(Workflow, "a"), &sealed).unwrap();
        check(Workflow, "a", Provenance::Trusted);
        // Nor is a link to one, or one of another key.
        fs::rename(path(Workflow, "a"), home.path().join("kept")).unwrap();
        std::os::unix::fs::symlink(home.path().join("kept"), path(Workflow, "a")).unwrap();
        check(Workflow, "a", Provenance::Stranger);
        let other = SealFolder::at(home.path().join("other"));
        other.vouch(Workflow, b"x", Provenance::Made).unwrap();
        fs::remove_file(path(Workflow, "a")).unwrap();
        fs::copy(
            home.path().join("kept"),
            home.path().join("other/instructions").join(Workflow.digest(b"a")),
        )
        .unwrap();
        assert_eq!(other.provenance(Workflow, b"a").unwrap(), Provenance::Stranger);
    }
}
