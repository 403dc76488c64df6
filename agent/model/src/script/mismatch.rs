//! Messages for a script that does not match a prompt: the turn, the difference, the nearest candidates.

use std::fmt::Write as _;

use deskhand_ui::{
    suggest::{rank, similarity},
    text::{clip, collapse_whitespace},
};
use regex::Regex;

use super::{
    file::ScriptTurn,
    prompt::{PromptListEntry, UnresolvedPlaceholder},
};

/// The most prompt lines shown.
const NEAREST_MAX: usize = 3;

/// The most placeholder candidates shown.
const CANDIDATES_MAX: usize = 12;

/// The most characters shown of a line.
const LINE_MAX: usize = 160;

/// From this likeness on, a prompt line is shown.
const LIKENESS_MIN: f64 = 0.2;

/// The most prompt lines compared.
const COMPARED_MAX: usize = 5_000;

/// Why a turn does not match.
#[derive(Debug)]
pub(super) enum TurnMismatch<'turn> {
    Agent { expected: &'turn str },
    NotFound { pattern: &'turn Regex },
    Rejected { pattern: &'turn Regex, found: String },
    Unresolved { source: &'turn str, what: String },
    NotJson { source: &'turn str, text: String },
}

/// The full message.
pub(super) fn describe(
    file: &str,
    turn: &ScriptTurn,
    agent: &str,
    prompt: &str,
    mismatch: &TurnMismatch<'_>,
) -> String {
    let title = turn.title.as_deref().map(|title| format!(" “{title}”")).unwrap_or_default();
    let mut text =
        format!("turn {}{title} ({file}:{}) does not match the prompt of {agent}", turn.number, turn.line);
    match mismatch {
        TurnMismatch::Agent { expected } => {
            line(&mut text, &format!("the turn expects agent {expected}"));
            line(&mut text, "the agents ran in another order, or the script misses a turn before this one");
        }
        TurnMismatch::NotFound { pattern } => {
            line(&mut text, &format!("pattern not found: {pattern}"));
            let nearest = nearest(pattern.as_str(), prompt);
            if !nearest.is_empty() {
                line(&mut text, "nearest lines of the prompt:");
                for near in nearest {
                    line(&mut text, &format!("  {}", cut(near)));
                }
            }
        }
        TurnMismatch::Rejected { pattern, found } => {
            line(&mut text, &format!("rejected pattern: {pattern}"));
            line(&mut text, &format!("matched in the prompt: {}", cut(found)));
        }
        TurnMismatch::Unresolved { source, what } => {
            line(&mut text, &format!("placeholder {source}: {what}"));
        }
        TurnMismatch::NotJson { source, text: captured } => {
            line(&mut text, &format!("placeholder {source}: the group is not JSON: {}", cut(captured)));
        }
    }
    text
}

/// The message for a script that has run out of turns.
pub(super) fn describe_end(file: &str, turns: usize, agent: &str, prompt: &str) -> String {
    let last = prompt.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let mut text =
        format!("script {file} has no turns left: all {turns} are used and {agent} sent another prompt");
    line(&mut text, &format!("the prompt ends with: {}", cut(last)));
    text
}

/// Why a placeholder cannot be resolved.
pub(super) fn describe_unresolved(unresolved: &UnresolvedPlaceholder<'_>) -> String {
    let (mut text, candidates) = match unresolved {
        UnresolvedPlaceholder::Missing(candidates) if candidates.is_empty() => {
            return "no candidates in the prompt".to_owned();
        }
        UnresolvedPlaceholder::Missing(candidates) => {
            ("no match; candidates in the prompt:".to_owned(), candidates)
        }
        UnresolvedPlaceholder::Ambiguous(candidates) => {
            (format!("{} matches; select one with nth=…:", candidates.len()), candidates)
        }
        UnresolvedPlaceholder::TooFew(candidates) => {
            (format!("only {} matches:", candidates.len()), candidates)
        }
    };
    for candidate in candidates.iter().take(CANDIDATES_MAX) {
        line(&mut text, &format!("  {}", cut(&candidate.line)));
    }
    if candidates.len() > CANDIDATES_MAX {
        line(&mut text, &format!("  … and {} more", candidates.len() - CANDIDATES_MAX));
    }
    text
}

/// Sorts candidates by similarity to the missing name.
pub(super) fn sort_by_likeness(name: &str, candidates: &mut [&PromptListEntry]) {
    let likeness = |thing: &PromptListEntry| similarity(name, &thing.name).max(similarity(name, &thing.of));
    candidates.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
}

/// The prompt lines most similar to a pattern.
fn nearest<'prompt>(pattern: &str, prompt: &'prompt str) -> Vec<&'prompt str> {
    let literal = literal_text(pattern).to_lowercase();
    let lines = prompt.lines().take(COMPARED_MAX).map(str::trim).filter(|line| !line.is_empty());
    let mut near = rank(lines, LIKENESS_MIN, |line| likeness(&literal, &line.to_lowercase()));
    near.dedup();
    near.truncate(NEAREST_MAX);
    near
}

/// The similarity of a line to the wanted text: common words, then common letter pairs.
fn likeness(wanted: &str, line: &str) -> f64 {
    let line: String = line.chars().take(LINE_MAX * 2).collect();
    let words: Vec<&str> = wanted.split_whitespace().filter(|word| word.chars().count() > 1).collect();
    let common = words.iter().filter(|word| line.contains(**word)).count();
    let of_words = if words.is_empty() { 0.0 } else { common as f64 / words.len() as f64 };
    f64::midpoint(of_words, strsim::sorensen_dice(wanted, &line))
}

/// The literal text of a pattern, without regular-expression syntax.
fn literal_text(pattern: &str) -> String {
    let mut text = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(class) if class.is_alphanumeric() => text.push(' '),
                Some(escaped) => text.push(escaped),
                None => {}
            },
            '(' | ')' | '[' | ']' | '{' | '}' | '*' | '+' | '?' | '.' | '^' | '$' | '|' => text.push(' '),
            other => text.push(other),
        }
    }
    collapse_whitespace(&text)
}

fn cut(text: &str) -> String {
    clip(text.trim(), LINE_MAX)
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\n  {line}");
}
