//! Decompressed bytes of a file, counted.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufRead as _, BufReader, Read},
    rc::Rc,
};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::format::{Signature, signature};

/// The most memory of a decoder: KiB for xz, bytes for zstd. `xz -9` needs 65 MiB.
const XZ_MEMORY_MAX_KIB: u32 = 128 * 1024;
const ZSTD_WINDOW_MAX: u64 = 128 * 1024 * 1024;

type Source = BufReader<File>;

/// The decompressed bytes of a file.
pub(super) fn decompressed(file: File, head: &[u8]) -> Box<dyn Read> {
    let source = BufReader::new(file);
    match signature(head) {
        Signature::Gzip => Box::new(MultiGzDecoder::new(source)),
        Signature::Xz => Box::new(XzReader::new_mem_limit(source, true, XZ_MEMORY_MAX_KIB)),
        Signature::Zstd => Box::new(ZstdReader(Zstd::Between(source))),
        Signature::Zip | Signature::Compound | Signature::Pdf | Signature::Tar | Signature::Other => {
            Box::new(source)
        }
    }
}

/// All frames of a zstd file.
struct ZstdReader(Zstd);

enum Zstd {
    Between(Source),
    Inside(Box<StreamingDecoder<Source, FrameDecoder>>),
    End,
}

impl Read for ZstdReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.0, Zstd::End) {
                Zstd::End => return Ok(0),
                Zstd::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new_with_max_window_size(source, ZSTD_WINDOW_MAX);
                    let decoder = decoder.map_err(|error| io::Error::other(error.to_string()))?;
                    self.0 = Zstd::Inside(Box::new(decoder));
                }
                Zstd::Inside(mut decoder) => {
                    let count = decoder.read(buffer)?;
                    if count > 0 || buffer.is_empty() {
                        self.0 = Zstd::Inside(decoder);
                        return Ok(count);
                    }
                    self.0 = Zstd::Between(decoder.into_inner());
                }
            }
        }
    }
}

/// Number of bytes that may still be read: shared, so that the limit can be changed while a library owns the
/// reader.
#[derive(Clone)]
pub(super) struct ByteBudget(Rc<Cell<u64>>);

impl ByteBudget {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Rc::new(Cell::new(bytes)))
    }

    pub(super) fn set(&self, bytes: u64) {
        self.0.set(bytes);
    }
}

/// A reader that fails when its allowance is used up.
pub(super) struct LimitedReader<R> {
    source: R,
    allowance: ByteBudget,
}

impl<R: Read> LimitedReader<R> {
    pub(super) fn new(source: R, allowance: ByteBudget) -> Self {
        Self { source, allowance }
    }
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.allowance.0.get();
        let count = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if count == 0 && !buffer.is_empty() {
            return Err(io::Error::other("the headers of an entry are too large"));
        }
        let read = self.source.read(buffer.get_mut(..count).unwrap_or_default())?;
        self.allowance.set(left.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX)));
        Ok(read)
    }
}
