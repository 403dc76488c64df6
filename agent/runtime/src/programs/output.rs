//! Captured program output, truncated in the middle.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The head and tail of a stream; the bytes between are counted and dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TruncatedOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_max: usize,
    tail_max: usize,
    total: u64,
}

impl TruncatedOutput {
    pub(super) fn new((head_max, tail_max): (usize, usize)) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), head_max, tail_max, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = self.head_max.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest.iter().skip(rest.len().saturating_sub(self.tail_max)));
        while self.tail.len() > self.tail_max {
            self.tail.pop_front();
        }
    }

    /// The number of dropped bytes.
    fn omitted(&self) -> u64 {
        self.total.saturating_sub(self.head.len() as u64).saturating_sub(self.tail.len() as u64)
    }

    /// The output as text. Invalid UTF-8 and control characters are replaced.
    pub(super) fn to_text(&self) -> String {
        let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
        let clean = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(is_control, "\u{fffd}");
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        match self.omitted() {
            0 => clean(&[self.head.as_slice(), tail.as_slice()].concat()),
            omitted => format!("{}\n… {omitted} bytes omitted …\n{}", clean(&self.head), clean(&tail)),
        }
    }
}

/// Reads a stream to its end into `output`.
pub(super) async fn read_to_end(stream: Option<impl AsyncRead + Unpin>, output: &mut TruncatedOutput) {
    const CHUNK: usize = 8_192;
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; CHUNK];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => output.push(buffer.get(..count).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &[&str], expected: &str) {
        let mut output = TruncatedOutput::new((4, 3));
        for part in parts {
            output.push(part.as_bytes());
        }
        assert_eq!(output.to_text(), expected, "{parts:?}");
    }

    #[test]
    fn keeps_head_and_tail() {
        check(&[], "");
        check(&["abcdefg"], "abcdefg");
        check(&["ab", "cd", "ef", "g"], "abcdefg");
        check(&["abcdefgh"], "abcd\n… 1 bytes omitted …\nfgh");
        check(&["ab", "cdefghij", "kl"], "abcd\n… 5 bytes omitted …\njkl");
        check(&["a\u{1b}[m"], "a\u{fffd}[m");
    }
}
