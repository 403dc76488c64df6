//! Which workflow does what a request asks for, and with which values.
//!
//! The request of a workflow is a template: words, and holes for parameters. Where a request has the same words, what stands in the holes
//! are the values, and nothing has to be guessed. A request in other words is only compared by the words that both have.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    offer::{ValueProblem, WorkflowOffer},
    values::{ValueTextSegment, pieces},
};

/// The longest value that is taken out of a request, in characters.
const VALUE_CHARS_MAX: usize = 300;
/// The longest request that is compared, in characters.
const REQUEST_CHARS_MAX: usize = 2_000;
/// The fewest words that a template has to have beside its holes, so that it does not fit anything.
const WORDS_MIN: usize = 2;
/// The most ways to fill the holes that are tried.
const TRIES_MAX: usize = 10_000;
/// From this share of common words on, in percent, a workflow is worth a mention.
const SHARE_MIN: usize = 60;
/// Words that say nothing of what is wanted.
const SMALL_WORDS: &[&str] = &[
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "it", "its", "me", "my", "of", "on",
    "or", "our", "please", "that", "the", "their", "them", "then", "this", "to", "with", "you", "your",
    "der", "die", "das", "ein", "eine", "und", "im", "in", "mit", "von", "zu", "für", "auf", "bitte",
];

/// A workflow that fits a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowMatch {
    /// Its name.
    pub name: String,
    /// The values that the request gives.
    pub values: BTreeMap<String, String>,
    /// `true` if the request has the words of the workflow, so that its values are certain.
    pub is_exact: bool,
    /// Problem with the values, missing or wrong; `None` if the workflow can be run.
    pub problem: Option<ValueProblem>,
}

impl WorkflowMatch {
    /// Returns `true` if it can be run without asking anybody anything.
    pub const fn is_sure(&self) -> bool {
        self.is_exact && self.problem.is_none()
    }
}

/// The workflow that fits a request best; `None` if none does. Two that fit equally well are no sure choice.
pub fn fitting(offers: &[WorkflowOffer], request: &str) -> Option<WorkflowMatch> {
    if request.chars().count() > REQUEST_CHARS_MAX {
        return None;
    }
    let mut exact: Vec<(usize, WorkflowMatch)> =
        offers.iter().filter_map(|offer| by_template(offer, request)).collect();
    exact.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let mut exact = exact.into_iter();
    if let Some((weight, mut best)) = exact.next() {
        best.is_exact = exact.next().is_none_or(|(other, _)| other < weight);
        return Some(best);
    }
    let mut near: Vec<(usize, WorkflowMatch)> =
        offers.iter().filter_map(|offer| by_words(offer, request)).collect();
    near.sort_by_key(|(share, _)| std::cmp::Reverse(*share));
    near.into_iter().next().map(|(_, fitting)| fitting)
}

/// A request that has the words of the workflow's, with how many characters these are.
fn by_template(offer: &WorkflowOffer, request: &str) -> Option<(usize, WorkflowMatch)> {
    let (parts, weight) = template(&offer.request)?;
    let request = FoldedText::of(request);
    let mut search = TemplateMatcher { request: &request, found: Vec::new(), tries: 0 };
    search.fill(&parts, 0, &mut BTreeMap::new());
    let complete = search.tries < TRIES_MAX;
    let [values] = <[BTreeMap<String, String>; 1]>::try_from(search.found).ok().filter(|_| complete)?;
    let problem = offer.values(&values).err();
    Some((weight, WorkflowMatch { name: offer.name.clone(), values, is_exact: true, problem }))
}

/// A request that has many of the words of the workflow's.
fn by_words(offer: &WorkflowOffer, request: &str) -> Option<(usize, WorkflowMatch)> {
    let wanted = words(request);
    let own: String = pieces(&offer.request)
        .ok()?
        .into_iter()
        .filter_map(|piece| match piece {
            ValueTextSegment::Text(text) => Some(text),
            ValueTextSegment::Value(_) => None,
        })
        .collect();
    let own = words(&own);
    let common = own.intersection(&wanted).count();
    // A long request wants more than what a short workflow does.
    let all = own.len().max(wanted.len());
    let share = common.saturating_mul(100).checked_div(all)?;
    let fits = share >= SHARE_MIN && common >= WORDS_MIN;
    let problem = offer.values(&BTreeMap::new()).err();
    let found = WorkflowMatch { name: offer.name.clone(), values: BTreeMap::new(), is_exact: false, problem };
    fits.then_some((share, found))
}

/// The words of a text that say something, in lower case.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !SMALL_WORDS.contains(&word.as_str())).collect()
}

/// A part of a template.
enum RequestTemplateSegment {
    /// Words, folded.
    Words(Vec<char>),
    /// The hole of a parameter.
    Hole(String),
}

/// The parts of a template, with the number of its characters beside the holes; `None` if it fits anything, or has a hole that is no
/// parameter.
fn template(request: &str) -> Option<(Vec<RequestTemplateSegment>, usize)> {
    let mut parts: Vec<RequestTemplateSegment> = Vec::new();
    let mut has_words = 0;
    let all = pieces(request).ok()?;
    let last = all.len().checked_sub(1)?;
    for (at, piece) in all.into_iter().enumerate() {
        match piece {
            ValueTextSegment::Value(path) if path.contains('.') => return None,
            ValueTextSegment::Value(name) => parts.push(RequestTemplateSegment::Hole(name.to_owned())),
            ValueTextSegment::Text(text) => {
                has_words +=
                    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
                let text = if at == last { text.trim_end_matches(ends).to_owned() } else { text };
                let folded = FoldedText::of(&text).chars;
                if !folded.is_empty() {
                    parts.push(RequestTemplateSegment::Words(folded));
                }
            }
        }
    }
    let weight = parts
        .iter()
        .map(|part| if let RequestTemplateSegment::Words(words) = part { words.len() } else { 0 })
        .sum();
    (has_words >= WORDS_MIN).then_some((parts, weight))
}

/// Returns `true` for a character that ends a sentence.
fn ends(c: char) -> bool {
    c.is_whitespace() || ".!?".contains(c)
}

/// A text in lower case with single spaces, and where each character stood.
struct FoldedText<'a> {
    text: &'a str,
    chars: Vec<char>,
    /// The byte in the text that each character begins at, and the end of the text.
    at: Vec<usize>,
}

impl<'a> FoldedText<'a> {
    fn of(text: &'a str) -> Self {
        let (mut chars, mut at) = (Vec::new(), Vec::new());
        let mut after_space = false;
        for (index, c) in text.char_indices() {
            if c.is_whitespace() {
                if !std::mem::replace(&mut after_space, true) {
                    chars.push(' ');
                    at.push(index);
                }
                continue;
            }
            after_space = false;
            for lower in c.to_lowercase() {
                chars.push(lower);
                at.push(index);
            }
        }
        at.push(text.len());
        Self { text, chars, at }
    }

    /// The characters from one place on.
    fn from(&self, at: usize) -> &[char] {
        self.chars.get(at..).unwrap_or_default()
    }

    /// The text as it was written between two places.
    fn between(&self, from: usize, to: usize) -> &'a str {
        let byte = |at: usize| self.at.get(at).copied().unwrap_or(self.text.len());
        self.text.get(byte(from)..byte(to)).unwrap_or_default()
    }
}

/// The ways to fill the holes.
struct TemplateMatcher<'a> {
    request: &'a FoldedText<'a>,
    found: Vec<BTreeMap<String, String>>,
    tries: usize,
}

impl TemplateMatcher<'_> {
    /// Fills the parts from a place of the request on.
    fn fill(&mut self, parts: &[RequestTemplateSegment], at: usize, values: &mut BTreeMap<String, String>) {
        self.tries = self.tries.saturating_add(1);
        // Two ways are as bad as more.
        if self.tries >= TRIES_MAX || self.found.len() > 1 {
            return;
        }
        let Some((first, rest)) = parts.split_first() else {
            let is_end = self.request.from(at).iter().all(|c| ends(*c));
            if is_end && !self.found.contains(values) {
                self.found.push(values.clone());
            }
            return;
        };
        match first {
            RequestTemplateSegment::Words(words) => {
                let skipped =
                    if at == 0 { self.request.from(0).iter().take_while(|c| **c == ' ').count() } else { 0 };
                if self.request.from(at + skipped).starts_with(words) {
                    self.fill(rest, at + skipped + words.len(), values);
                }
            }
            RequestTemplateSegment::Hole(name) => {
                let most = self.request.from(at).len().min(VALUE_CHARS_MAX);
                let next = rest.first();
                for length in 1..=most {
                    let to = at + length;
                    let fits = match next {
                        Some(RequestTemplateSegment::Words(words)) => {
                            self.request.from(to).starts_with(words)
                        }
                        Some(RequestTemplateSegment::Hole(_)) => true,
                        None => self.request.from(to).iter().all(|c| ends(*c)),
                    };
                    if fits {
                        self.hole(name, (at, to), rest, values);
                    }
                }
            }
        }
    }

    /// Fills one hole with a part of the request.
    fn hole(
        &mut self,
        name: &str,
        (from, to): (usize, usize),
        rest: &[RequestTemplateSegment],
        values: &mut BTreeMap<String, String>,
    ) {
        let value = value_of(self.request.between(from, to), rest.is_empty());
        if value.is_empty() || values.get(name).is_some_and(|known| known != value) {
            return;
        }
        let before = values.insert(name.to_owned(), value.to_owned());
        self.fill(rest, to, values);
        match before {
            Some(before) => values.insert(name.to_owned(), before),
            None => values.remove(name),
        };
    }
}

/// A value as it is meant: without the quotation marks around it, and without what ends the sentence.
fn value_of(text: &str, is_last: bool) -> &str {
    const QUOTES: &[(char, char)] =
        &[('"', '"'), ('\'', '\''), ('“', '”'), ('„', '“'), ('«', '»'), ('`', '`')];
    let text = if is_last { text.trim_end_matches(ends) } else { text };
    let text = text.trim();
    let quoted = QUOTES.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    quoted.unwrap_or(text).trim()
}

#[cfg(test)]
#[path = "fitting_tests.rs"]
mod tests;
