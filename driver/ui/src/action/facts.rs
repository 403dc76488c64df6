//! Facts of a result as data, for expectations.
//!
//! An expectation is a few words that a model gives with an action. It is matched with the facts of the result
//! and with the values of its output, never with the sentence that is made of them.

use serde_json::Value;

use super::{
    ActionKind, ActionOutcome, ActionProof, CallReport, Condition, ElementDelta, ElementRef, Evidence,
    PostCondition,
};
use crate::{ElementQuery, Role};

/// The shortest useful expectation, in characters.
const EXPECT_CHARS_MIN: usize = 2;
/// Words that carry no fact.
const FILLERS: &[&str] = &[
    "a", "an", "and", "are", "as", "be", "became", "been", "has", "have", "is", "it", "its", "now", "so",
    "that", "the", "to", "was", "were", "with",
];

impl CallReport {
    /// Returns the proven facts, in the words of the application (names, titles, texts, values) and of AT-SPI
    /// (roles, states). Merely requested effects are not included.
    pub fn facts(&self) -> Vec<String> {
        let proof = if let Self::Native { read_back, .. } = self { read_back.clone() } else { None };
        self.actions().iter().filter_map(fact).chain(proof).collect()
    }

    /// Returns `true` if a fact, or a value of `output`, contains `expected`: the same words one after the other. Case, white
    /// space, punctuation around words and words such as `the` or `is` do not count. Never for fewer than two characters.
    pub fn contains(&self, output: &Value, expected: &str) -> bool {
        if expected.trim().chars().count() < EXPECT_CHARS_MIN {
            return false;
        }
        let expected = significant(expected);
        if expected.is_empty() {
            return false;
        }
        self.facts().iter().any(|fact| contains_run(&significant(fact), &expected))
            || values(output).iter().any(|value| contains_run(&significant(value), &expected))
    }
}

/// The fact that an action proved.
fn fact(action: &ActionOutcome) -> Option<String> {
    let Evidence::Seen { proof } = &action.evidence else { return None };
    Some(match proof {
        ActionProof::WindowOpened { window } => format!("{} {} opened", window.kind_word(), window.title),
        ActionProof::PageAsks { message } => message.clone(),
        ActionProof::WindowClosed { window } => format!("{} {} closed", window.kind_word(), window.title),
        ActionProof::TitleChanged { title } => format!("title {title}"),
        ActionProof::Gone { element } => format!("{} gone", of(element)),
        ActionProof::Changed { element, now } => format!("{} {}", of(element), now_words(now)),
        ActionProof::Says { element, text } if element.name == *text => of(element),
        ActionProof::Says { element, text } => format!("{} says {text}", of(element)),
        ActionProof::Holds { .. } => held(action)?,
        ActionProof::Active { window } => format!("{} focused", window.title),
        ActionProof::InFront { window } => format!("{} in front", window.title),
        ActionProof::Reads { text, .. } => match action.aim.named_element() {
            Some(element) => format!("{} reads {text}", of(element)),
            None => text.clone(),
        },
        ActionProof::Number { value } => match action.aim.named_element() {
            Some(element) => format!("{} {value}", of(element)),
            None => value.to_string(),
        },
        ActionProof::Cells { cells, shown, .. } => {
            shown.iter().fold(format!("{cells} of {cells} cells"), |all, one| {
                format!("{all}; {} {}", one.cell, one.found)
            })
        }
        ActionProof::CellsRead { range } => range.to_string(),
        ActionProof::Saved { path, .. } => format!("{path} saved"),
        ActionProof::Moved => "scrolled".to_owned(),
        // What was read is in the output; a wait proves nothing.
        ActionProof::HasLength
        | ActionProof::TextRead { .. }
        | ActionProof::ClipboardRead { .. }
        | ActionProof::Summarized { .. }
        | ActionProof::Waited { .. } => return None,
    })
}

/// The state that was read back after an action.
fn held(action: &ActionOutcome) -> Option<String> {
    if let (ActionKind::Visit { .. }, Some(tab)) = (&action.act, action.aim.named_element()) {
        return Some(format!("{} selected", of(tab)));
    }
    let state = match action.act.postcondition()? {
        PostCondition::Checked(true) => "checked",
        PostCondition::Checked(false) => "unchecked",
        PostCondition::Expanded(true) => "expanded",
        PostCondition::Expanded(false) => "collapsed",
        PostCondition::Focused => "focused",
        PostCondition::InView => "in view",
        PostCondition::ItemSelected(item) => {
            return Some(format!("{} selected", item.name.as_deref().unwrap_or_default()));
        }
        PostCondition::ItemsSelected(items) => return Some(format!("{} selected", items.join(", "))),
        PostCondition::CellsSelected(range) => return Some(format!("{range} selected")),
        PostCondition::TextInView(text) => return Some(format!("{text} in view")),
        PostCondition::FileTaken(path) => return Some(format!("{path} chosen")),
        PostCondition::TextSelected(text) => return Some(format!("{text} selected")),
        PostCondition::Condition(Condition::Appears(wanted)) => return Some(described(wanted)),
        PostCondition::Condition(Condition::Disappears(wanted)) => {
            return Some(format!("{} gone", described(wanted)));
        }
        PostCondition::Condition(Condition::TitleContains(text)) => return Some(format!("title {text}")),
        // These have proofs of their own.
        PostCondition::Text(_)
        | PostCondition::Number(_)
        | PostCondition::Cells(_)
        | PostCondition::WindowOpen(_)
        | PostCondition::WindowActive
        | PostCondition::Saved(_)
        | PostCondition::WindowClosed => return None,
    };
    let element = action.aim.named_element();
    Some(element.map_or_else(|| state.to_owned(), |element| format!("{} {state}", of(element))))
}

fn described(wanted: &ElementQuery) -> String {
    let role = wanted.role.as_ref().map_or("", Role::name);
    format!("{role} {}", wanted.name.as_deref().unwrap_or_default())
}

fn of(element: &ElementRef) -> String {
    format!("{} {}", element.role, element.name)
}

fn now_words(now: &ElementDelta) -> String {
    match now {
        ElementDelta::State { state, on: true } => state.name().to_owned(),
        ElementDelta::State { state, on: false } => format!("un{}", state.name()),
        ElementDelta::Enabled { on } => if *on { "enabled" } else { "disabled" }.to_owned(),
        ElementDelta::Named { name } => name.clone(),
        ElementDelta::Value { value } => value.map(|value| value.to_string()).unwrap_or_default(),
        ElementDelta::Reads { text } => format!("reads {text}"),
        ElementDelta::Came => "came".to_owned(),
        ElementDelta::Went => "went".to_owned(),
        ElementDelta::Focused | ElementDelta::FocusMovedHere => "focused".to_owned(),
        ElementDelta::Caret { at } => format!("caret {at}"),
        ElementDelta::TextSelected { characters } => format!("{characters} characters selected"),
        ElementDelta::Changed => "changed".to_owned(),
    }
}

/// The texts, numbers and truth values in data.
fn values(data: &Value) -> Vec<String> {
    match data {
        Value::Null => Vec::new(),
        Value::Bool(value) => vec![value.to_string()],
        Value::Number(value) => vec![value.to_string()],
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(values).collect(),
        Value::Object(fields) => fields.values().flat_map(values).collect(),
    }
}

/// The words that carry a fact, in lower case, joined by single spaces.
fn significant(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty() && !FILLERS.contains(word)).collect::<Vec<_>>().join(" ")
}

/// Returns `true` if `text` contains `part` and does not cut a word of letters and digits there.
fn contains_run(text: &str, part: &str) -> bool {
    let cuts = |one: Option<char>, other: Option<char>| {
        let is_in_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        is_in_word(one) && is_in_word(other)
    };
    text.match_indices(part).any(|(at, found)| {
        let (head, tail) = (text.get(..at), text.get(at + found.len()..));
        let before = head.and_then(|head| head.chars().next_back());
        let after = tail.and_then(|tail| tail.chars().next());
        !cuts(before, part.chars().next()) && !cuts(part.chars().next_back(), after)
    })
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
