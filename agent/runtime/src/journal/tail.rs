//! Reads a journal that is still being written, as far as it goes.

use deskhand_machine::record::JournalEntry;

use super::{JournalError, JournalItem, JournalLines, SessionFolder};

/// The lines of a journal in the order in which they come. What is wrong with them is for who reads the journal as a whole.
pub struct JournalTail {
    folder: SessionFolder,
    /// `None` before the first line is there.
    lines: Option<JournalLines>,
    seq: u64,
}

impl JournalTail {
    /// Begins with the first line, which need not be there yet.
    pub fn of(folder: &SessionFolder) -> Self {
        Self { folder: folder.clone(), lines: None, seq: 0 }
    }

    /// The number of the last line that was read; 0 before the first.
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// The next line, if there is a complete one.
    ///
    /// # Errors
    /// As [`read_new`](Self::read_new).
    pub fn next_so_far(&mut self) -> Result<Option<JournalEntry>, JournalError> {
        let lines = match &mut self.lines {
            Some(lines) => lines,
            None => match JournalLines::open(&self.folder) {
                Ok(lines) => self.lines.insert(lines),
                Err(JournalError::NoRecord { .. }) => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        while let Some(read) = lines.next_so_far()? {
            if let JournalItem::Line(line) = read {
                self.seq = line.seq;
                return Ok(Some(*line));
            }
        }
        Ok(None)
    }

    /// Reads the lines that are complete and have not been read.
    ///
    /// # Errors
    /// [`JournalError`] if the journal cannot be read, a line is invalid, or the format version is not supported. The lines before that
    /// were passed on.
    pub fn read_new(&mut self, reader: &mut dyn FnMut(&JournalEntry)) -> Result<(), JournalError> {
        while let Some(line) = self.next_so_far()? {
            reader(&line);
        }
        Ok(())
    }
}
