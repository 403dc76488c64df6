//! Puts the texts of a page's frames together, and numbers the frames as they appear.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::cut;

/// The mark around the number of a frame in a text. Texts of pages do not contain it.
const MARK: char = '\u{1}';
/// The longest text of a page, in bytes: the answer has room for any part of it.
const TEXT_BYTES_MAX: usize = 8 << 20;
/// The longest address of a frame in the text, in characters.
const URL_CHARACTERS_MAX: usize = 300;
/// The most frames inside each other.
const DEPTH_MAX: usize = 20;

/// Content of a frame as read by the script.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct FrameContent {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) visible: bool,
    pub(crate) focused: bool,
    pub(crate) loading: bool,
    pub(crate) text: String,
    pub(crate) fields: Vec<serde_json::Map<String, Value>>,
    pub(crate) fields_left: usize,
    pub(crate) cut_off: bool,
    pub(crate) focused_field: Option<String>,
    pub(crate) selection: String,
    pub(crate) scroll: Value,
    pub(crate) status: Option<u64>,
}

impl FrameContent {
    /// A frame that was removed or does not answer.
    pub(crate) fn silent(url: String) -> Self {
        Self { url, text: "(this frame does not answer)".to_owned(), loading: true, ..Self::default() }
    }
}

/// A frame and what it contains.
#[derive(Debug, Default, Clone)]
pub(crate) struct FrameReading {
    pub(crate) reading: FrameContent,
    pub(crate) name: String,
    /// The frames inside by the numbers in its text.
    pub(crate) children: Vec<Option<usize>>,
}

/// A frame in an answer.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FrameEntry {
    pub(crate) frame: usize,
    pub(crate) url: String,
    pub(crate) name: String,
    #[serde(skip)]
    index: usize,
}

/// The frames in the order of the text; the first is the page itself.
pub(crate) fn numbered(frames: &[FrameReading]) -> Vec<FrameEntry> {
    let mut entries = Vec::new();
    number(frames, 0, 0, &mut entries);
    entries
}

fn number(frames: &[FrameReading], index: usize, depth: usize, entries: &mut Vec<FrameEntry>) {
    let Some(frame) = frames.get(index) else { return };
    if depth > DEPTH_MAX || entries.iter().any(|entry| entry.index == index) {
        return;
    }
    let url = frame.reading.url.clone();
    entries.push(FrameEntry { frame: entries.len(), url, name: frame.name.clone(), index });
    for (_, child) in pieces(frame) {
        if let Some(child) = child {
            number(frames, child, depth + 1, entries);
        }
    }
}

/// The text of a frame with the frames inside.
pub(crate) fn composed(frames: &[FrameReading], entries: &[FrameEntry], entry: &FrameEntry) -> String {
    let mut text = String::new();
    render(frames, entries, entry, &mut text);
    text
}

fn render(frames: &[FrameReading], entries: &[FrameEntry], entry: &FrameEntry, text: &mut String) {
    let Some(frame) = frames.get(entry.index) else { return };
    for (piece, child) in pieces(frame) {
        if text.len() + piece.len() > TEXT_BYTES_MAX {
            return;
        }
        text.push_str(piece);
        // Numbers only rise from the page to its frames, so this ends.
        let inside = entries.iter().find(|inside| Some(inside.index) == child && inside.frame > entry.frame);
        if let Some(inside) = inside {
            text.push_str(&format!("[frame {}: {}]\n\n", inside.frame, cut(&inside.url, URL_CHARACTERS_MAX)));
            render(frames, entries, inside, text);
            text.push_str(&format!("\n\n[end of frame {}]", inside.frame));
        }
    }
}

/// The form fields of all frames, with the number of their frame.
pub(crate) fn fields(frames: &[FrameReading], entries: &[FrameEntry]) -> Vec<Value> {
    let mut all = Vec::new();
    for entry in entries {
        let Some(frame) = frames.get(entry.index) else { continue };
        for field in &frame.reading.fields {
            let mut field = field.clone();
            field.insert("frame".to_owned(), Value::from(entry.frame));
            all.push(Value::Object(field));
        }
    }
    all
}

/// The parts of a text, each with the frame that follows it.
fn pieces(frame: &FrameReading) -> impl Iterator<Item = (&str, Option<usize>)> {
    let mut parts = frame.reading.text.split(MARK);
    std::iter::from_fn(move || {
        let piece = parts.next()?;
        let child = parts.next().and_then(|number| number.parse::<usize>().ok());
        Some((piece, child.and_then(|number| frame.children.get(number).copied().flatten())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str, url: &str, children: &[Option<usize>]) -> FrameReading {
        let reading = FrameContent { text: text.to_owned(), url: url.to_owned(), ..FrameContent::default() };
        FrameReading { reading, name: String::new(), children: children.to_vec() }
    }

    #[test]
    fn frames_are_numbered_and_placed_as_they_appear() {
        let frames = [
            frame("a\n\n\u{1}1\u{1}\n\nb \u{1}0\u{1}", "/", &[Some(1), Some(2)]),
            frame("first", "/1", &[]),
            frame("second \u{1}0\u{1}\u{1}7\u{1}", "/2", &[Some(3)]),
            frame("inner", "/3", &[Some(0)]),
        ];
        let entries = numbered(&frames);
        assert_eq!(
            entries.iter().map(|entry| entry.url.as_str()).collect::<Vec<_>>(),
            ["/", "/2", "/3", "/1"]
        );
        assert_eq!(
            composed(&frames, &entries, &entries[0]),
            "a\n\n[frame 1: /2]\n\nsecond [frame 2: /3]\n\ninner\n\n[end of frame 2]\n\n[end of frame 1]\n\n\
             b [frame 3: /1]\n\nfirst\n\n[end of frame 3]"
        );
        assert_eq!(composed(&frames, &entries, &entries[2]), "inner");
    }

    #[test]
    fn frames_inside_themselves_end() {
        let frames = [frame("a\u{1}0\u{1}", "/", &[Some(0)])];
        let entries = numbered(&frames);
        assert_eq!(composed(&frames, &entries, &entries[0]), "a");
    }
}
