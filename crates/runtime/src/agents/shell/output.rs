//! What a program wrote, kept at both ends.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The beginning and the end of a stream; what is between them is counted and dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_max: usize,
    tail_max: usize,
    total: u64,
}

impl Ends {
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

    /// How many bytes were dropped.
    fn omitted(&self) -> u64 {
        self.total.saturating_sub(self.head.len() as u64).saturating_sub(self.tail.len() as u64)
    }

    /// As text. Bytes that are no text, and control characters, are replaced.
    pub(super) fn to_text(&self) -> String {
        let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
        let clean = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(odd, "\u{fffd}");
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        match self.omitted() {
            0 => clean(&[self.head.as_slice(), tail.as_slice()].concat()),
            omitted => format!("{}\n… {omitted} bytes left out …\n{}", clean(&self.head), clean(&tail)),
        }
    }
}

/// Reads a stream to its end, into `ends`.
pub(super) async fn read_to_end(stream: Option<impl AsyncRead + Unpin>, ends: &mut Ends) {
    const CHUNK: usize = 8_192;
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; CHUNK];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => ends.push(buffer.get(..count).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &[&str], expected: &str) {
        let mut ends = Ends::new((4, 3));
        for part in parts {
            ends.push(part.as_bytes());
        }
        assert_eq!(ends.to_text(), expected, "{parts:?}");
    }

    #[test]
    fn both_ends_are_kept() {
        check(&[], "");
        check(&["abcdefg"], "abcdefg");
        check(&["ab", "cd", "ef", "g"], "abcdefg");
        check(&["abcdefgh"], "abcd\n… 1 bytes left out …\nfgh");
        check(&["ab", "cdefghij", "kl"], "abcd\n… 5 bytes left out …\njkl");
        check(&["a\u{1b}[m"], "a\u{fffd}[m");
    }
}
