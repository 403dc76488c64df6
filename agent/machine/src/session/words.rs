//! Texts that tools and agents returned, files that were saved, and files of strangers.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy::ObservedText;
use deskhand_ui::{
    action::{ActionProof, CallReport, Evidence},
    clipping::within,
};

/// Unmodified output of tools and agents, with its origin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct ReturnedTexts(VecDeque<(String, String)>);

impl ReturnedTexts {
    /// The most texts that are kept.
    const TEXTS_MAX: usize = 8;
    /// The longest text, in characters.
    const CHARS_MAX: usize = 20_000;

    /// Adds the output of a tool.
    pub(super) fn add_output(&mut self, tool: &str, output: &Value) {
        let mut text = String::new();
        strings_in(output, &mut text);
        self.add(format!("what `{tool}` returned"), text);
    }

    /// Adds the report of an agent that works on its own.
    pub(super) fn add_report(&mut self, agent: &str, report: String) {
        self.add(format!("the report of {agent}"), report);
    }

    /// The texts, the latest first.
    pub(super) fn texts(&self) -> impl Iterator<Item = ObservedText<'_>> {
        self.0.iter().rev().map(|(place, text)| ObservedText { place: place.clone(), text })
    }

    fn add(&mut self, place: String, text: String) {
        if text.trim().is_empty() {
            return;
        }
        while self.0.len() >= Self::TEXTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((place, within(text, Self::CHARS_MAX)));
    }
}

/// The files that the session has saved, by the proofs of its actions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct SavedFiles(VecDeque<String>);

impl SavedFiles {
    /// The most files that are remembered.
    const FILES_MAX: usize = 64;

    /// Their paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Notes the files that the actions of a call have saved.
    pub(super) fn take_in(&mut self, report: &CallReport) {
        for action in report.actions() {
            let Evidence::Seen { proof: ActionProof::Saved { path, .. } } = &action.evidence else {
                continue;
            };
            if self.0.contains(path) {
                continue;
            }
            while self.0.len() >= Self::FILES_MAX {
                self.0.pop_front();
            }
            self.0.push_back(path.clone());
        }
    }
}

/// The texts of files that say what is done and that this user has not made, with what they are called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Foreign(VecDeque<(String, String)>);

impl Foreign {
    /// The most files that are remembered.
    const FILES_MAX: usize = 20;

    /// Adds the texts of a file.
    pub(super) fn add(&mut self, place: String, texts: &[String]) {
        while self.0.len() >= Self::FILES_MAX {
            self.0.pop_front();
        }
        self.0.push_back((place, texts.join("\n")));
    }

    /// Returns `true` if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The texts, the latest first.
    pub(super) fn texts(&self) -> impl Iterator<Item = ObservedText<'_>> {
        self.0.iter().rev().map(|(place, text)| ObservedText { place: place.clone(), text })
    }
}

/// The texts in a value, one line each.
pub(super) fn strings_in(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| strings_in(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| strings_in(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
