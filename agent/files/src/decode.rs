//! Bytes of any encoding to UTF-8, as a stream.

use std::io::{self, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes by which the encoding is guessed.
pub(crate) const SAMPLE: usize = 256 * 1024;
/// Bytes that are decoded at a time.
const CHUNK: usize = 32 * 1024;

/// Returns `true` if the beginning of a file is binary: no text, whatever its encoding.
pub(crate) fn is_binary(sample: &[u8]) -> bool {
    if Encoding::for_bom(sample).is_some() || utf16_without_mark(sample).is_some() {
        return false;
    }
    let is_control =
        |byte: &&u8| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x08 | 0x0c | 0x1b);
    let controls = sample.iter().filter(is_control).count();
    sample.contains(&0) || controls * 20 > sample.len()
}

/// The encoding of a text by its beginning. `is_whole`: there is nothing after it.
pub(crate) fn encoding(sample: &[u8], is_whole: bool) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(sample) {
        return encoding;
    }
    if let Some(encoding) = utf16_without_mark(sample) {
        return encoding;
    }
    match std::str::from_utf8(sample) {
        Ok(_) => return UTF_8,
        // The sample may end inside a character.
        Err(error) if error.error_len().is_none() && !is_whole => return UTF_8,
        Err(error) if error.valid_up_to() > 0 && mostly_utf8(sample) => return UTF_8,
        Err(_) => {}
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, is_whole);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // A short text tells nothing: Western European is by far the most frequent.
    if sample.len() < 64 && guess.is_single_byte() { WINDOWS_1252 } else { guess }
}

/// Returns `true` if a text is UTF-8 with a few broken characters, rather than another encoding.
fn mostly_utf8(sample: &[u8]) -> bool {
    let (mut good, mut broken) = (0_usize, 0_usize);
    for chunk in sample.utf8_chunks() {
        good += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    good > broken * 5
}

/// Text of mostly ASCII characters in UTF-16 has NULs in every second byte.
fn utf16_without_mark(sample: &[u8]) -> Option<&'static Encoding> {
    let head = sample.get(..sample.len().min(512)).unwrap_or_default();
    if head.len() < 8 {
        return None;
    }
    let nul = |offset: usize| head.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (nul(0), nul(1), head.len() / 2);
    match (even * 10 > half * 7, odd * 10 > half * 7) {
        (true, false) if odd == 0 => Some(UTF_16BE),
        (false, true) if even == 0 => Some(UTF_16LE),
        _ => None,
    }
}

/// Reads bytes of an encoding as UTF-8, without a byte order mark. Invalid bytes become U+FFFD.
pub(crate) struct Utf8Reader<R> {
    source: R,
    decoder: Decoder,
    input: Vec<u8>,
    /// Offset of the undecoded bytes in `input`.
    start: usize,
    is_at_end: bool,
    is_finished: bool,
    has_invalid: bool,
}

impl<R: Read> Utf8Reader<R> {
    pub(crate) fn new(source: R, encoding: &'static Encoding) -> Self {
        Self {
            source,
            decoder: encoding.new_decoder_with_bom_removal(),
            input: Vec::new(),
            start: 0,
            is_at_end: false,
            is_finished: false,
            has_invalid: false,
        }
    }

    /// Returns `true` if something was not valid in the encoding.
    pub(crate) fn has_invalid(&self) -> bool {
        self.has_invalid
    }

    /// Appends the next piece of text; false at the end.
    pub(crate) fn next_piece(&mut self, text: &mut String) -> io::Result<bool> {
        text.reserve(CHUNK);
        while !self.is_finished {
            if self.start == self.input.len() && !self.is_at_end {
                self.fill()?;
            }
            let bytes = self.input.get(self.start..).unwrap_or_default();
            let before = text.len();
            let (result, used, has_errors) = self.decoder.decode_to_string(bytes, text, self.is_at_end);
            self.start += used;
            self.has_invalid |= has_errors;
            self.is_finished = self.is_at_end && result == CoderResult::InputEmpty;
            if text.len() > before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn fill(&mut self) -> io::Result<()> {
        self.input.resize(CHUNK, 0);
        let read = loop {
            match self.source.read(&mut self.input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.input.truncate(read);
        self.start = 0;
        self.is_at_end = read == 0;
        Ok(())
    }
}

/// [`Utf8Reader`] as a source of bytes.
pub(crate) struct Bytes<R> {
    pub(crate) reader: Utf8Reader<R>,
    text: String,
    start: usize,
}

impl<R: Read> Bytes<R> {
    pub(crate) fn new(reader: Utf8Reader<R>) -> Self {
        Self { reader, text: String::new(), start: 0 }
    }
}

impl<R: Read> Read for Bytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start == self.text.len() {
            self.text.clear();
            self.start = 0;
            self.reader.next_piece(&mut self.text)?;
        }
        let rest = self.text.as_bytes().get(self.start..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        self.start += count;
        Ok(count)
    }
}

/// All of `bytes` as text.
pub(crate) fn to_text(bytes: &[u8]) -> String {
    let (text, _) = encoding(bytes, /*is_whole*/ true).decode_with_bom_removal(bytes);
    text.into_owned()
}
