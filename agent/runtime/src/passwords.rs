//! Redaction of journals whose replies typed passwords. Dots replace the passwords, also in records that precede
//! the first of these replies.
//!
//! A session records where it had a password in clear, so its journal states which texts to hide.

use std::fs;

use deskhand_machine::{
    prompt::PromptSet,
    record::{JournalEntry, JournalHeader, JournalRecord},
    session::{Session, SessionEvent, TypedPassword},
};
use deskhand_secret::{SecretValue, Veil};

use crate::journal::{JournalError, JournalItem, JournalLines, SessionFolder, SessionJournal};

/// Records with passwords, as a journal has them.
const SIGN: &[u8] = br#""passwords":["#;

/// Finds the passwords of a journal by folding it.
struct PasswordFinder {
    session: Session,
    found: Vec<(TypedPassword, String)>,
}

impl PasswordFinder {
    fn new(header: &JournalHeader, prompts: PromptSet) -> Self {
        Self { session: Session::new(header.config.clone(), prompts), found: Vec::new() }
    }

    fn read(&mut self, line: &JournalEntry) {
        match &line.record {
            JournalRecord::Header(_) | JournalRecord::Effect(_) => {}
            JournalRecord::Changed(change) => {
                self.session.change(change.config.clone(), change.prompts.clone());
            }
            JournalRecord::Event(record) => {
                self.found.extend(self.session.passwords_of(record));
                // What does not apply is for replay to report.
                let _ = self.session.apply(record);
            }
        }
    }

    fn into_veil(self) -> Veil {
        let veil = Veil::default();
        for (password, value) in self.found {
            if let Some(value) = SecretValue::typed(value) {
                veil.add_typed(&password.dots, &value, password.everywhere);
            }
        }
        veil
    }
}

/// Returns `true` if a line records typed passwords.
pub(crate) fn types_passwords(line: &JournalEntry) -> bool {
    let JournalRecord::Event(record) = &line.record else { return false };
    let (SessionEvent::Replied { passwords, .. } | SessionEvent::Disclosed { passwords, .. }) = &record.event
    else {
        return false;
    };
    !passwords.is_empty()
}

/// A journal as people are shown it. It is not for replays: these need it as it was recorded.
///
/// # Errors
/// The prompts of the session cannot be read.
pub fn for_people(journal: SessionJournal, folder: &SessionFolder) -> Result<SessionJournal, JournalError> {
    if !journal.lines.iter().any(types_passwords) {
        return Ok(journal);
    }
    let mut finder = PasswordFinder::new(&journal.header, folder.prompts(&journal.header.prompts_sha256)?);
    journal.lines.iter().for_each(|line| finder.read(line));
    let veil = finder.into_veil();
    let lines = journal.lines.into_iter().map(|line| hidden(line, &veil)).collect();
    Ok(SessionJournal { lines, ..journal })
}

/// Returns a veil that hides the passwords of a journal; it hides nothing if there are none.
///
/// # Errors
/// The journal or its prompts cannot be read.
pub(crate) fn veil_of(folder: &SessionFolder) -> Result<Veil, JournalError> {
    let is_told = |file: &Vec<u8>| memchr::memmem::find(file, SIGN).is_some();
    // A journal that cannot be read is reported by its reader.
    if !fs::read(folder.journal_path()).is_ok_and(|file| is_told(&file)) {
        return Ok(Veil::default());
    }
    let mut lines = JournalLines::open(folder)?;
    let header = lines.header()?;
    let mut finder = PasswordFinder::new(&header, folder.prompts(&header.prompts_sha256)?);
    while let Some(read) = lines.next()? {
        match read {
            JournalItem::Line(line) => finder.read(&line),
            JournalItem::Problem(_) => {}
        }
    }
    Ok(finder.into_veil())
}

/// A line without the passwords that a veil knows.
pub(crate) fn hidden(line: JournalEntry, veil: &Veil) -> JournalEntry {
    let plain = line.clone();
    veil.hide_in(line).unwrap_or(plain)
}
