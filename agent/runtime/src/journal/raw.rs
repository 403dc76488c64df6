//! The lines of a journal as bytes, with one line in memory at a time.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use super::error::{JournalError, LINE_BYTES_MAX};

/// The bytes of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawLine {
    /// The line number, from 1.
    pub(crate) seq: u64,
    /// The bytes without the line break.
    pub(crate) bytes: Vec<u8>,
    /// `true` if the line ends with a line break. Only the last line may lack one.
    pub(crate) ended: bool,
}

/// The raw lines of a journal, in order.
pub(crate) struct RawLines {
    path: PathBuf,
    reader: BufReader<fs::File>,
    seq: u64,
    line_bytes_max: u64,
}

impl RawLines {
    /// Opens a journal.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let file = fs::File::open(path).map_err(|source| JournalError::file("read", path, source))?;
        let reader = BufReader::new(file);
        Ok(Self { path: path.to_owned(), reader, seq: 0, line_bytes_max: LINE_BYTES_MAX })
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// [`JournalError::TooLong`] if it exceeds the limit, [`JournalError::File`] if it cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<RawLine>, JournalError> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(self.line_bytes_max).read_until(b'\n', &mut bytes);
        let read = read.map_err(|source| JournalError::file("read", &self.path, source))? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.seq += 1;
        let ended = bytes.last() == Some(&b'\n');
        if ended {
            bytes.pop();
        } else if read >= self.line_bytes_max {
            drop(bytes);
            let bytes = read.saturating_add(self.skip_line()?);
            return Err(JournalError::TooLong { path: self.path.clone(), seq: self.seq, bytes });
        }
        Ok(Some(RawLine { seq: self.seq, bytes, ended }))
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Goes back to the start of an incomplete line, which its writer may still complete.
    pub(crate) fn put_back(&mut self, line: &RawLine) -> Result<(), JournalError> {
        self.seq = self.seq.saturating_sub(1);
        let back = i64::try_from(line.bytes.len()).unwrap_or(i64::MAX).saturating_neg();
        self.reader.seek_relative(back).map_err(|source| JournalError::file("read", &self.path, source))
    }

    /// Skips the rest of a line; returns its length in bytes.
    fn skip_line(&mut self) -> Result<u64, JournalError> {
        let mut skipped = 0_u64;
        loop {
            let buffer =
                self.reader.fill_buf().map_err(|source| JournalError::file("read", &self.path, source))?;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(buffer.len());
            if length == 0 {
                return Ok(skipped);
            }
            self.reader.consume(length);
            skipped = skipped.saturating_add(length as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_over_the_limit_is_an_error_with_its_record_and_size() {
        let check = |text: &str, expected: Option<u64>| {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), text).unwrap();
            let mut lines = RawLines::open(file.path()).unwrap();
            lines.line_bytes_max = 8;
            assert!(lines.next().unwrap().unwrap().ended, "{text:?}");
            match (lines.next(), expected) {
                (Ok(Some(line)), None) => assert_eq!(line.seq, 2, "{text:?}"),
                (Err(JournalError::TooLong { seq: 2, bytes, .. }), Some(expected)) => {
                    assert_eq!(bytes, expected, "{text:?}");
                }
                other => panic!("{text:?}: {other:?}"),
            }
        };
        check("one\n1234567\n", None);
        check("one\n1234567", None);
        check("one\n12345678\nthree\n", Some(8));
        check("one\n123456789012\nthree\n", Some(12));
        check("one\n123456789012", Some(12));
    }
}
