//! The words of a reply while it arrives: read from the parts of a stream as they come, for people who watch.
//!
//! The reply itself is read once it is whole. What cannot be read here is left out.

use serde_json::Value;

use super::{Wire, word};
use crate::port::STREAMED_CHARS_MAX;

/// The longest tail that is kept, in bytes: cut only once it is a good deal longer than what is reported.
const TAIL_BYTES_MAX: usize = STREAMED_CHARS_MAX * 8;

/// Received part of a streamed reply.
#[derive(Debug)]
pub(crate) struct StreamedReply {
    wire: Wire,
    /// The bytes that were read: whole lines.
    read: usize,
    words: String,
}

impl StreamedReply {
    pub(crate) const fn of(wire: Wire) -> Self {
        Self { wire, read: 0, words: String::new() }
    }

    /// Reads what is new of a response, all of which is given.
    pub(crate) fn read(&mut self, response: &[u8]) {
        let new = response.get(self.read..).unwrap_or_default();
        let Some(end) = new.iter().rposition(|byte| *byte == b'\n') else { return };
        let lines = new.get(..=end).unwrap_or_default();
        self.read += lines.len();
        for line in lines.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            let data =
                line.strip_prefix(b"data:").or_else(|| Some(line).filter(|line| line.starts_with(b"{")));
            let part = data.and_then(|data| serde_json::from_slice::<Value>(data).ok());
            if let Some(words) = part.and_then(|part| self.wire.words_of(&part)) {
                self.words.push_str(&words);
            }
        }
        if self.words.len() > TAIL_BYTES_MAX {
            self.words.drain(..self.words.len() - self.told().len());
        }
    }

    /// The last words so far.
    pub(crate) fn words(&self) -> &str {
        self.told()
    }

    fn told(&self) -> &str {
        let at = self.words.char_indices().rev().nth(STREAMED_CHARS_MAX - 1).map_or(0, |(at, _)| at);
        self.words.get(at..).unwrap_or_default()
    }
}

impl Wire {
    /// The words that a part of a stream adds to the reply; not what the model thinks before it.
    fn words_of(self, part: &Value) -> Option<String> {
        match self {
            Self::Chat => word(part, "/choices/0/delta/content"),
            Self::Responses => {
                let is_text = part.get("type").and_then(Value::as_str) == Some("response.output_text.delta");
                word(part, "/delta").filter(|_| is_text)
            }
            Self::Messages => word(part, "/delta/text"),
            Self::Gemini => {
                let parts = part.pointer("/candidates/0/content/parts")?.as_array()?;
                let is_thought = |part: &Value| part.get("thought").and_then(Value::as_bool) == Some(true);
                let texts =
                    parts.iter().filter(|part| !is_thought(part)).filter_map(|part| word(part, "/text"));
                Some(texts.collect())
            }
            Self::Ollama => word(part, "/message/content"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is reported of a stream that arrives in pieces of this many bytes.
    fn told(wire: Wire, stream: &str, piece: usize) -> String {
        let mut streamed = StreamedReply::of(wire);
        for end in (0..stream.len()).step_by(piece).chain([stream.len()]) {
            streamed.read(&stream.as_bytes()[..end]);
        }
        streamed.words().to_owned()
    }

    #[test]
    fn each_format_tells_its_words_however_it_is_cut() {
        let chat = "data: {\"choices\": [{\"delta\": {\"role\": \"assistant\"}}]}\n\n\
            data: {\"choices\": [{\"delta\": {\"reasoning_content\": \"hm\"}}]}\r\n\r\n\
            data: {\"choices\": [{\"delta\": {\"content\": \"Grü\"}}]}\n\n\
            data: {\"choices\": [{\"delta\": {\"content\": \"ße\"}}]}\n\ndata: [DONE]\n\n";
        let responses = "event: x\ndata: {\"type\": \"response.reasoning_summary_text.delta\", \"delta\": \"hm\"}\n\n\
            data: {\"type\": \"response.output_text.delta\", \"delta\": \"Grü\"}\n\n\
            data: {\"type\": \"response.output_text.delta\", \"delta\": \"ße\"}\n\n";
        let messages = "data: {\"type\": \"content_block_delta\", \"delta\": {\"thinking\": \"hm\"}}\n\n\
            data: {\"type\": \"content_block_delta\", \"delta\": {\"type\": \"text_delta\", \"text\": \"Grüße\"}}\n\n";
        let gemini = "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"hm\", \"thought\": true}, \
            {\"text\": \"Grüße\"}]}}]}\n\n";
        let ollama = "{\"message\": {\"content\": \"Grü\", \"thinking\": \"hm\"}}\n{\"message\": {\"content\": \"ße\"}}\n";
        for (wire, stream) in [
            (Wire::Chat, chat),
            (Wire::Responses, responses),
            (Wire::Messages, messages),
            (Wire::Gemini, gemini),
            (Wire::Ollama, ollama),
        ] {
            for piece in [1, 7, 1_000] {
                assert_eq!(told(wire, stream, piece), "Grüße", "{wire:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn no_more_than_the_last_words_are_told() {
        let mut stream = String::new();
        for number in 0..20_000 {
            stream.push_str(&format!("{{\"message\": {{\"content\": \"ä{number} \"}}}}\n"));
        }
        let told = told(Wire::Ollama, &stream, 50_000);
        assert_eq!(told.chars().count(), STREAMED_CHARS_MAX);
        assert!(told.ends_with("ä19998 ä19999 "), "{told}");
    }

    #[test]
    fn what_is_no_stream_tells_nothing() {
        let whole = "{\"choices\": [{\"message\": {\"content\": \"hello\"}}]}\n";
        assert_eq!(told(Wire::Chat, whole, 5), "");
        assert_eq!(told(Wire::Chat, "<html>\ndata: soon\n", 5), "");
    }
}
