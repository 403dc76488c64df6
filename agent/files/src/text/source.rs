//! A text file whose encoding is known.

use std::{
    fs::File,
    io::{Read, Seek as _, SeekFrom, Take},
};

use encoding_rs::Encoding;

use crate::{
    decode::{SAMPLE, Utf8Reader, encoding},
    error::FileParseError,
};

/// The most bytes of a text file that are gone through.
const BYTES_MAX: u64 = 512 * 1024 * 1024;

/// A text file whose encoding is known.
pub(crate) struct TextSource {
    file: File,
    bytes: u64,
    encoding: &'static Encoding,
    /// The beginning, decoded.
    pub(crate) start: String,
}

impl TextSource {
    pub(crate) fn new(mut file: File) -> Result<Self, FileParseError> {
        let bytes = file.metadata()?.len();
        let mut sample = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        let limit = u64::try_from(SAMPLE).unwrap_or(u64::MAX);
        file.by_ref().take(limit).read_to_end(&mut sample)?;
        let is_whole = sample.len() < SAMPLE;
        let encoding = encoding(&sample, is_whole);
        let (start, _) = encoding.decode_with_bom_removal(&sample);
        Ok(Self { file, bytes, encoding, start: start.into_owned() })
    }

    pub(crate) fn encoding_name(&self) -> String {
        self.encoding.name().to_owned()
    }

    /// Returns `true` if the file is longer than what [`Self::reader`] gives.
    pub(crate) fn is_longer_than(&self, bytes_max: u64) -> bool {
        self.bytes > bytes_max.min(BYTES_MAX)
    }

    /// Reads the text from its beginning, up to `bytes_max` bytes of the file.
    pub(crate) fn reader(&self, bytes_max: u64) -> Result<Utf8Reader<Take<&File>>, FileParseError> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        Ok(Utf8Reader::new(file.take(bytes_max.min(BYTES_MAX)), self.encoding))
    }

    /// All of it.
    pub(crate) fn whole(&self, bytes_max: u64) -> Result<String, FileParseError> {
        if self.is_longer_than(bytes_max) {
            return Err(FileParseError::TooLarge(format!(
                "it has {} bytes, and {bytes_max} is the limit for this format; search it or read it as text",
                self.bytes
            )));
        }
        let mut reader = self.reader(bytes_max)?;
        let mut text = String::new();
        while reader.next_piece(&mut text)? {}
        Ok(text)
    }
}
