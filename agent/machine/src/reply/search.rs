//! Finds JSON objects in text that also contains prose, code fences and reasoning.

use serde_json::Value;

use super::{
    error::{ExtractError, TEXT_MAX, quote},
    lenient::{self, LenientParseFailure},
    lookahead,
    repair::{Repair, Repairs},
};

/// The most positions that are tried as the start of an object.
const STARTS_MAX: usize = 256;

/// The most bytes that failed attempts may read in total.
const WORK_MAX: usize = 2 * TEXT_MAX;

/// The longest distance between a list's bracket and its first object, in characters.
const LIST_START_MAX: usize = 32;

/// Tags around a model's reasoning.
const THINKING: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// The text after the last closing reasoning tag, if it can contain an object.
pub(super) fn after_reasoning(text: &str) -> Option<&str> {
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

/// The reasoning tag at the start of `text`.
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

/// A part of the text that is an object or looks like one.
enum JsonCandidate {
    Object { value: Value, repairs: Repairs, start: usize, end: usize },
    Broken(LenientParseFailure),
}

/// The object found.
pub(super) struct JsonMatch {
    pub(super) value: Value,
    /// The repairs needed to find and read it.
    pub(super) repairs: Repairs,
}

/// A search for objects in a text.
pub(super) struct JsonSearch<'text> {
    text: &'text str,
    candidates: Vec<JsonCandidate>,
    /// A failure in what may be prose; reported only if nothing better is found.
    weak_failure: Option<LenientParseFailure>,
    repairs: Repairs,
    unclosed_reasoning: bool,
    reasoning_end: usize,
    starts: usize,
    /// Bytes read by failed attempts.
    work: usize,
}

impl<'text> JsonSearch<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self {
            text,
            candidates: Vec::new(),
            weak_failure: None,
            repairs: Repairs::default(),
            unclosed_reasoning: false,
            reasoning_end: 0,
            starts: 0,
            work: 0,
        }
    }

    pub(super) fn run(mut self) -> Result<JsonMatch, ExtractError> {
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

    /// Skips a reasoning block; returns the position after it.
    fn pass_tag(&mut self, at: usize) -> usize {
        let Some(tag) = self.text.get(at..).and_then(thinking_tag) else { return at + 1 };
        self.repairs.note(Repair::Reasoning);
        let inside = at + tag.length;
        if tag.closes {
            // The opening tag was in the prompt: everything before is reasoning.
            self.candidates.clear();
            self.unclosed_reasoning = false;
            self.reasoning_end = inside;
            return inside;
        }
        if self.unclosed_reasoning {
            // Search for a missing closing tag once, however many blocks start.
            return inside;
        }
        let close = self.text.get(inside..).and_then(|rest| find_close(rest, tag.name));
        self.unclosed_reasoning = close.is_none();
        self.reasoning_end = inside + close.unwrap_or(0);
        self.reasoning_end
    }

    /// Tries to read an object at `at`; returns the position to continue from.
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
            self.candidates.push(JsonCandidate::Object {
                value,
                repairs: Repairs::default(),
                start: at,
                end,
            });
            return end;
        }
        let parsed = lenient::parse(self.text, at);
        if let Err(failure) = &parsed {
            self.work += failure.at.saturating_sub(at);
        }
        match parsed {
            Ok(parsed) => {
                let end = parsed.end;
                self.candidates.push(JsonCandidate::Object {
                    value: parsed.value,
                    repairs: parsed.repairs,
                    start: at,
                    end,
                });
                end
            }
            Err(failure) if lookahead::looks_like_object(rest) => {
                self.candidates.push(JsonCandidate::Broken(failure));
                lookahead::naive_end(rest).map_or(self.text.len(), |length| at + length)
            }
            Err(failure) => {
                if self.weak_failure.as_ref().is_none_or(|known| known.at < failure.at) {
                    self.weak_failure = Some(failure);
                }
                at + 1
            }
        }
    }

    /// The last non-empty object, with the repairs needed to find it.
    fn choose(mut self) -> Result<JsonMatch, ExtractError> {
        let objects = self.candidates.iter().filter(|candidate| candidate.has_content()).count();
        let last = match self.candidates.iter().rposition(JsonCandidate::has_content) {
            Some(index) => Some(self.candidates.swap_remove(index)),
            None => self.candidates.pop(),
        };
        match last {
            Some(JsonCandidate::Object { value, repairs, start, end }) => {
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
                Ok(JsonMatch { value, repairs: all })
            }
            Some(JsonCandidate::Broken(failure)) => Err(describe(self.text, failure)),
            None if self.unclosed_reasoning || is_only_reasoning(self.text) => {
                Err(ExtractError::OnlyReasoning)
            }
            None => match self.weak_failure {
                Some(failure) => Err(describe(self.text, failure)),
                None => Err(ExtractError::NoObject { start: quote(self.text) }),
            },
        }
    }
}

impl JsonCandidate {
    /// Returns `true` if it can be a reply; an empty `{}` in prose cannot.
    fn has_content(&self) -> bool {
        match self {
            Self::Object { value, .. } => value.as_object().is_none_or(|members| !members.is_empty()),
            Self::Broken(_) => true,
        }
    }
}

/// The position after the closing tag of `name`.
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

/// The failure as an error with line and column.
fn describe(text: &str, failure: LenientParseFailure) -> ExtractError {
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
