//! Cuts a stream of bytes into messages. Memory stays bounded: messages that are too long are dropped.

/// Messages that end with one byte, which they do not contain.
#[derive(Debug)]
pub(crate) struct DelimitedMessageDecoder {
    buffer: Vec<u8>,
    end: u8,
    bytes_max: usize,
    /// The bytes until the next end belong to a message that is too long.
    skips: bool,
}

/// Next item of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DecodedMessage {
    Message(Vec<u8>),
    TooLong,
}

impl DelimitedMessageDecoder {
    pub(crate) fn new(end: u8, bytes_max: usize) -> Self {
        Self { buffer: Vec::new(), end, bytes_max, skips: false }
    }

    /// Takes bytes and returns the messages that they complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Vec<DecodedMessage> {
        let mut frames = Vec::new();
        while let Some(at) = bytes.iter().position(|byte| *byte == self.end) {
            let (head, tail) = bytes.split_at(at);
            self.keep(head);
            let message = std::mem::take(&mut self.buffer);
            frames.push(if std::mem::take(&mut self.skips) {
                DecodedMessage::TooLong
            } else {
                DecodedMessage::Message(message)
            });
            bytes = tail.get(1..).unwrap_or_default();
        }
        self.keep(bytes);
        frames
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.skips = self.skips || self.buffer.len() + bytes.len() > self.bytes_max;
        if self.skips {
            self.buffer = Vec::new();
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> DecodedMessage {
        DecodedMessage::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn messages_are_cut_at_their_end() {
        let mut frames = DelimitedMessageDecoder::new(0, 10);
        assert_eq!(frames.push(b"ab"), []);
        assert_eq!(frames.push(b"c\0d\0\0e"), [message("abc"), message("d"), message("")]);
        assert_eq!(frames.push(b"\0"), [message("e")]);
    }

    #[test]
    fn a_message_that_is_too_long_is_dropped_and_the_next_one_read() {
        let mut frames = DelimitedMessageDecoder::new(b'\n', 4);
        assert_eq!(frames.push(b"12345"), []);
        assert_eq!(frames.buffer.len(), 0);
        assert_eq!(frames.push(b"6\n1234\n"), [DecodedMessage::TooLong, message("1234")]);
    }
}
