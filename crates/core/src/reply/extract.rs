//! Finds the JSON in a reply, whatever a model wrote around it, and repairs what can be repaired without
//! guessing.
//!
//! The order, each step only when the one before gave nothing:
//!
//! 1. A byte order mark goes; the whole text is read as strict JSON. What is valid stays exactly as it is, with
//!    one exception (see [`Repair::WindowsPath`]).
//! 2. The text is searched for objects from its start: prose, code fences and `<think>` blocks are passed over,
//!    strings are respected, what lies inside an object is not a candidate. Each is read strictly, then leniently
//!    with the repairs of [`Repair`]. The last one that is not empty wins. When the last thing that looks like an
//!    object cannot be read, that is the error: an earlier object may be a draft, and acting on it is worse than
//!    asking again. In a `<think>` block that is never closed, an object counts only as the very last thing.
//! 3. What follows the last `</think>` is searched in the same way.
//!
//! Pure, bounded in size, depth and work, and never panics. The value still has to be checked against a schema.

use std::fmt;

use serde_json::Value;

use super::{
    lenient::{self, Failure},
    lookahead, windows_path,
};

/// The longest reply that is looked at, in bytes.
const TEXT_MAX: usize = 512 * 1024;

/// How many places of a text are tried as the start of an object.
const STARTS_MAX: usize = 256;

/// How many bytes attempts without success may read in all.
const WORK_MAX: usize = 2 * TEXT_MAX;

/// How far behind its bracket the first object of a list may begin, in characters.
const LIST_START_MAX: usize = 32;

/// The longest piece of the reply that an error quotes, in characters.
const QUOTE_MAX: usize = 60;

/// Tags in which models think aloud.
const THINKING: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// What had to be done to read a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repair {
    /// A byte order mark was taken off.
    ByteOrderMark,
    /// A `<think>` block was passed over.
    Reasoning,
    /// Prose or code fences around the object were passed over.
    Surroundings,
    /// There were several objects; the last was taken.
    SeveralObjects,
    /// Comments were passed over.
    Comment,
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// A comma between two members was added.
    MissingComma,
    /// A full-width colon or comma was read as the plain one.
    WidePunctuation,
    /// Single or typographic quotes were read as double quotes.
    Quotes,
    /// A key without quotes was read as a key.
    UnquotedKey,
    /// `True`, `False`, `None` and the like were read as `true`, `false` and `null`.
    ForeignLiteral,
    /// Line breaks and tabs inside a string were kept as such.
    RawControl,
    /// A backslash that starts no escape was kept as a backslash.
    Backslash,
    /// Backslashes inside a Windows path were kept: `C:\temp\new` has no tab and no line break. Where a string
    /// begins with a single backslash after the drive (`"C:\temp"`) or is a server path (`"\\server\share"`), this
    /// holds to its end; inside other text to the end of the word. Strict JSON is re-read
    /// too if a string that is all path (two parts or an extension) has a control character after its drive letter; the drives A, B
    /// and Q are left alone there, because `Q:` and `A:` begin questions and answers.
    WindowsPath,
    /// A quote inside a string was kept, because the string could not end there.
    InnerQuote,
    /// Closing brackets were added.
    MissingCloser,
}

impl Repair {
    /// Whether the text of a string may differ from what was meant; worth a line in the log before it is acted on.
    pub const fn touches_text(self) -> bool {
        match self {
            Self::RawControl | Self::Backslash | Self::WindowsPath | Self::InnerQuote => true,
            Self::ByteOrderMark
            | Self::Reasoning
            | Self::Surroundings
            | Self::SeveralObjects
            | Self::Comment
            | Self::TrailingComma
            | Self::MissingComma
            | Self::WidePunctuation
            | Self::Quotes
            | Self::UnquotedKey
            | Self::ForeignLiteral
            | Self::MissingCloser => false,
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByteOrderMark => "byte order mark removed",
            Self::Reasoning => "reasoning passed over",
            Self::Surroundings => "text around the object passed over",
            Self::SeveralObjects => "the last of several objects taken",
            Self::Comment => "comments passed over",
            Self::TrailingComma => "trailing comma dropped",
            Self::MissingComma => "missing comma added",
            Self::WidePunctuation => "full-width punctuation read as plain",
            Self::Quotes => "quotes of another kind accepted",
            Self::UnquotedKey => "key without quotes accepted",
            Self::ForeignLiteral => "literal of another language accepted",
            Self::RawControl => "raw line break or tab in a string kept",
            Self::Backslash => "single backslash kept",
            Self::WindowsPath => "backslashes of a path kept",
            Self::InnerQuote => "quote inside a string kept",
            Self::MissingCloser => "missing closing bracket added",
        })
    }
}

/// The JSON of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The value.
    pub value: Value,
    /// What had to be done to read it, each kind once, in the order in which it was first needed; empty for strict JSON.
    pub repaired: Vec<Repair>,
}

/// Why a reply has no readable JSON. The messages are meant for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Nothing but white space.
    #[error("the reply is empty; it must be one JSON object")]
    Empty,
    /// The reply never gets past its reasoning.
    #[error("the reply is only a reasoning block; the JSON object must follow it")]
    OnlyReasoning,
    /// No object anywhere.
    #[error("no JSON object in the reply, which begins with `{start}`")]
    NoObject {
        /// The first words of the reply.
        start: String,
    },
    /// The reply breaks off.
    #[error(
        "the JSON breaks off {place}, at line {line} column {column}; write it again, complete and shorter"
    )]
    Truncated {
        /// Where in the structure: `inside the string that begins with "…"`.
        place: String,
        /// Line of the end, from 1.
        line: usize,
        /// Column of the end in characters, from 1.
        column: usize,
    },
    /// Not JSON, and not repairable without guessing.
    #[error("the JSON is not valid at line {line} column {column}: {problem}, near `{near}`")]
    Syntax {
        /// What is wrong.
        problem: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The text at that place.
        near: String,
    },
    /// Brackets nested deeper than any reply needs.
    #[error("the JSON is nested deeper than {max} levels")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// Longer than any reply needs.
    #[error("the reply has {bytes} bytes; at most {max} are read")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        max: usize,
    },
}

/// Reads the JSON in a reply. Strict JSON of any kind is returned as it is; otherwise the last object (or list of
/// objects) in the text is, repaired where that needs no guess.
///
/// # Errors
///
/// When there is none, or the last one cannot be read; the message says what and where.
pub fn extract_json(text: &str) -> Result<Extracted, ExtractError> {
    if text.len() > TEXT_MAX {
        return Err(ExtractError::TooLong { bytes: text.len(), max: TEXT_MAX });
    }
    let mut repairs = Repairs::default();
    let body = match text.trim_start().strip_prefix('\u{feff}') {
        Some(rest) => {
            repairs.note(Repair::ByteOrderMark);
            rest
        }
        None => text,
    };
    if body.trim().is_empty() {
        return Err(ExtractError::Empty);
    }
    if let Ok(value) = serde_json::from_str::<Value>(body) {
        return Ok(finish(value, repairs));
    }
    let found = match Search::new(body).run() {
        Ok(found) => found,
        Err(error) => {
            // Reasoning whose opening tag was in the prompt may hold anything, such as a quote that never ends.
            let Some(Ok(found)) = after_reasoning(body).map(|rest| Search::new(rest).run()) else {
                return Err(error);
            };
            repairs.note(Repair::Reasoning);
            found
        }
    };
    repairs.extend(found.repairs);
    Ok(finish(found.value, repairs))
}

fn finish(mut value: Value, mut repairs: Repairs) -> Extracted {
    if windows_path::restore_paths(&mut value) {
        repairs.note(Repair::WindowsPath);
    }
    Extracted { value, repaired: repairs.0 }
}

/// A set of repairs that keeps the order.
#[derive(Debug, Clone, Default)]
pub(super) struct Repairs(Vec<Repair>);

impl Repairs {
    pub(super) fn note(&mut self, repair: Repair) {
        if !self.0.contains(&repair) {
            self.0.push(repair);
        }
    }

    fn extend(&mut self, others: Self) {
        for repair in others.0 {
            self.note(repair);
        }
    }
}

/// What follows the last closing tag of a reasoning block, if an object may be in it.
fn after_reasoning(text: &str) -> Option<&str> {
    let start =
        text.char_indices().rev().filter(|(_, character)| *character == '<').find_map(|(at, _)| {
            thinking_tag(text.get(at..)?).filter(|tag| tag.closes).map(|tag| at + tag.length)
        })?;
    text.get(start..).filter(|rest| rest.contains('{'))
}

struct Tag {
    name: &'static str,
    closes: bool,
    length: usize,
}

/// The reasoning tag that `text` begins with.
fn thinking_tag(text: &str) -> Option<Tag> {
    let rest = text.strip_prefix('<')?;
    let (rest, closes) = rest.strip_prefix('/').map_or((rest, false), |rest| (rest, true));
    THINKING.into_iter().find_map(|name| {
        let word = rest.get(..name.len())?;
        let close = rest.get(name.len()..)?;
        (word.eq_ignore_ascii_case(name) && close.starts_with('>')).then(|| Tag {
            name,
            closes,
            length: 1 + usize::from(closes) + name.len() + 1,
        })
    })
}

/// Something in the text that is, or was to be, an object.
enum Thing {
    Object { value: Value, repairs: Repairs, start: usize, end: usize },
    Broken(Failure),
}

struct Found {
    value: Value,
    repairs: Repairs,
}

/// The search for objects in a text.
struct Search<'text> {
    text: &'text str,
    things: Vec<Thing>,
    /// The failure of something that may have been prose; told only when nothing better is found.
    doubtful: Option<Failure>,
    repairs: Repairs,
    unclosed_reasoning: bool,
    reasoning_end: usize,
    starts: usize,
    /// Bytes that attempts without success have read.
    work: usize,
}

impl<'text> Search<'text> {
    fn new(text: &'text str) -> Self {
        Self {
            text,
            things: Vec::new(),
            doubtful: None,
            repairs: Repairs::default(),
            unclosed_reasoning: false,
            reasoning_end: 0,
            starts: 0,
            work: 0,
        }
    }

    fn run(mut self) -> Result<Found, ExtractError> {
        let mut at = 0;
        while let Some(offset) = self.text.get(at..).and_then(|rest| rest.find(['{', '[', '<'])) {
            at += offset;
            at = if self.text.get(at..).is_some_and(|rest| rest.starts_with('<')) {
                self.pass_tag(at)
            } else if self.starts < STARTS_MAX && self.work < WORK_MAX {
                self.try_start(at)
            } else {
                break;
            };
        }
        self.choose()
    }

    /// Passes over a reasoning block; returns where to go on.
    fn pass_tag(&mut self, at: usize) -> usize {
        let Some(tag) = self.text.get(at..).and_then(thinking_tag) else { return at + 1 };
        self.repairs.note(Repair::Reasoning);
        let inside = at + tag.length;
        if tag.closes {
            // The opening tag was in the prompt: all that came before was reasoning.
            self.things.clear();
            self.unclosed_reasoning = false;
            self.reasoning_end = inside;
            return inside;
        }
        if self.unclosed_reasoning {
            // One search for a missing end is enough, however many blocks begin.
            return inside;
        }
        let close = self.text.get(inside..).and_then(|rest| find_close(rest, tag.name));
        self.unclosed_reasoning = close.is_none();
        self.reasoning_end = inside + close.unwrap_or(0);
        self.reasoning_end
    }

    /// Reads an object at `at`; returns where to go on.
    fn try_start(&mut self, at: usize) -> usize {
        let Some(rest) = self.text.get(at..) else { return self.text.len() };
        if rest.starts_with('[') {
            // A list of objects; other brackets are prose, such as `[e17]`.
            let first = rest.chars().take(LIST_START_MAX).find(|c| !c.is_whitespace() && *c != '[');
            if first != Some('{') {
                return at + 1;
            }
        }
        self.starts += 1;
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(value)) = stream.next() {
            let end = at + stream.byte_offset();
            self.things.push(Thing::Object { value, repairs: Repairs::default(), start: at, end });
            return end;
        }
        let parsed = lenient::parse(self.text, at);
        if let Err(failure) = &parsed {
            self.work += failure.at.saturating_sub(at);
        }
        match parsed {
            Ok(parsed) => {
                let end = parsed.end;
                self.things.push(Thing::Object {
                    value: parsed.value,
                    repairs: parsed.repairs,
                    start: at,
                    end,
                });
                end
            }
            Err(failure) if lookahead::looks_like_object(rest) => {
                self.things.push(Thing::Broken(failure));
                lookahead::naive_end(rest).map_or(self.text.len(), |length| at + length)
            }
            Err(failure) => {
                if self.doubtful.as_ref().is_none_or(|known| known.at < failure.at) {
                    self.doubtful = Some(failure);
                }
                at + 1
            }
        }
    }

    fn choose(mut self) -> Result<Found, ExtractError> {
        let objects = self.things.iter().filter(|thing| thing.is_telling()).count();
        let last = match self.things.iter().rposition(Thing::is_telling) {
            Some(index) => Some(self.things.swap_remove(index)),
            None => self.things.pop(),
        };
        match last {
            Some(Thing::Object { value, repairs, start, end }) => {
                let after = self.text.get(end..).unwrap_or_default();
                if self.unclosed_reasoning && !is_only_wrapping(after) {
                    return Err(ExtractError::OnlyReasoning);
                }
                let mut all = self.repairs;
                if objects > 1 {
                    all.note(Repair::SeveralObjects);
                }
                let before = self.text.get(self.reasoning_end..start).unwrap_or_default();
                if !before.trim().is_empty() || !after.trim().is_empty() {
                    all.note(Repair::Surroundings);
                }
                all.extend(repairs);
                Ok(Found { value, repairs: all })
            }
            Some(Thing::Broken(failure)) => Err(describe(self.text, failure)),
            None if self.unclosed_reasoning || is_only_reasoning(self.text) => {
                Err(ExtractError::OnlyReasoning)
            }
            None => match self.doubtful {
                Some(failure) => Err(describe(self.text, failure)),
                None => Err(ExtractError::NoObject { start: quote(self.text) }),
            },
        }
    }
}

impl Thing {
    /// Whether it says anything; `{}` in prose does not.
    fn is_telling(&self) -> bool {
        match self {
            Self::Object { value, .. } => value.as_object().is_none_or(|members| !members.is_empty()),
            Self::Broken(_) => true,
        }
    }
}

/// Where, after the closing tag of `name`, the text goes on.
fn find_close(text: &str, name: &str) -> Option<usize> {
    text.char_indices().filter(|(_, character)| *character == '<').find_map(|(at, _)| {
        let tag = thinking_tag(text.get(at..)?)?;
        (tag.closes && tag.name == name).then_some(at + tag.length)
    })
}

fn is_only_reasoning(text: &str) -> bool {
    let trimmed = text.trim();
    thinking_tag(trimmed)
        .filter(|tag| !tag.closes)
        .and_then(|tag| {
            let inside = trimmed.get(tag.length..)?;
            inside.get(find_close(inside, tag.name)?..)
        })
        .is_some_and(|rest| rest.trim().is_empty())
}

fn is_only_wrapping(text: &str) -> bool {
    text.trim_matches(|character: char| character.is_whitespace() || character == '`').is_empty()
}

fn describe(text: &str, failure: Failure) -> ExtractError {
    let at = failure.at.min(text.len());
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1;
    match failure.problem {
        lenient::Problem::TooDeep => ExtractError::TooDeep { max: lenient::DEPTH_MAX },
        lenient::Problem::Truncated(place) => ExtractError::Truncated { place, line, column },
        lenient::Problem::Syntax(problem) => {
            let near = quote(text.get(at..).unwrap_or_default());
            ExtractError::Syntax { problem, line, column, near }
        }
    }
}

/// The first words of `text` on one line.
pub(super) fn quote(text: &str) -> String {
    let mut characters =
        text.trim().chars().map(|character| if character.is_control() { ' ' } else { character });
    let mut head: String = characters.by_ref().take(QUOTE_MAX).collect();
    if characters.next().is_some() {
        head.push('…');
    }
    head
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
