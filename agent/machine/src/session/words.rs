//! Text entered by the user and text read by agents, in which the values of commands are looked up.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::state::Session;
use crate::{
    observation::Observation,
    policy::{ObservedText, Texts},
    provenance::CarriedValue,
};
use deskhand_ui::{
    WindowView,
    action::{ActionProof, CallReport, Evidence},
    clipping::within,
    text::clip,
};

/// The words of the user in a session: requests, answers and instructions. Nothing else counts as the user's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct UserTexts(VecDeque<String>);

impl UserTexts {
    /// The most texts that are kept.
    const TEXTS_MAX: usize = 100;
    /// The longest text, in characters.
    const CHARS_MAX: usize = 20_000;

    /// Adds a text of the user.
    pub(super) fn add(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        while self.0.len() >= Self::TEXTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(clip(text, Self::CHARS_MAX));
    }

    /// The texts, in order.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

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
    fn texts(&self) -> impl Iterator<Item = ObservedText<'_>> {
        self.0.iter().rev().map(|(place, text)| ObservedText { place: place.clone(), text })
    }
}

impl Session {
    /// The files that the session has saved, by the proofs of its actions: the last ones.
    pub fn saved_files(&self) -> impl Iterator<Item = &str> {
        self.made.0.iter().map(String::as_str)
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

/// The texts that are at hand when a proposal is judged.
pub(super) struct AtHand<'a> {
    session: &'a Session,
    observation: &'a Observation,
}

impl<'a> AtHand<'a> {
    pub(super) const fn new(session: &'a Session, observation: &'a Observation) -> Self {
        Self { session, observation }
    }
}

impl Texts for AtHand<'_> {
    fn said(&self) -> Vec<&str> {
        let opened = self.session.config.opened.iter().map(String::as_str);
        let nested = self.session.round.nesting.words();
        self.session.said.texts().chain(opened).chain(nested).collect()
    }

    fn made(&self) -> Vec<&str> {
        self.session.made.0.iter().map(String::as_str).collect()
    }

    fn password_from(&self, dots: &str) -> Option<String> {
        self.session.passwords.iter().find(|one| one.dots == dots)?.from.clone()
    }

    fn read(&self) -> Vec<ObservedText<'_>> {
        let mut texts = Vec::new();
        match self.observation {
            Observation::Window(view) => read_in(view, &mut texts),
            Observation::Desktop(view) => {
                for window in view.windows.iter().chain(&view.dialogs) {
                    texts.push(ObservedText {
                        place: format!("the title of {}", window.id),
                        text: &window.title,
                    });
                }
            }
            Observation::Agent(view) => {
                texts.push(ObservedText { place: "what the agent observes".to_owned(), text: &view.text });
            }
        }
        texts.extend(self.session.foreign.texts());
        let returned = self.session.returned.0.iter().rev();
        texts.extend(returned.map(|(place, text)| ObservedText { place: place.clone(), text }));
        // A model wrote these, after it had read.
        for app in &self.session.apps {
            let own = std::iter::once(&app.subtask).chain(&app.message);
            let place = format!("the sub-task of {}", app.owner.agent());
            texts.extend(own.map(|text| ObservedText { place: place.clone(), text }));
        }
        texts.extend(self.session.heard.texts());
        texts.extend(self.session.heard.reached());
        texts
    }

    fn heard(&self) -> Vec<ObservedText<'_>> {
        self.session.foreign.texts().chain(self.session.heard.texts()).collect()
    }

    fn stranger(&self) -> Option<String> {
        self.session.round.performing.as_ref()?.stranger()
    }

    fn pasted(&self) -> Option<CarriedValue> {
        Some(self.session.round.performing.as_ref()?.pasted())
    }

    fn planned(&self) -> Vec<&str> {
        self.session.heard.plans().collect()
    }
}

/// The texts of the elements of a window.
fn read_in<'a>(view: &'a WindowView, texts: &mut Vec<ObservedText<'a>>) {
    for surface in view.surfaces.iter().rev() {
        for element in &surface.tree.elements {
            let own =
                [Some(element.name.as_str()), element.text.as_deref(), Some(element.description.as_str())];
            for text in own.into_iter().flatten().filter(|text| !text.is_empty()) {
                let place = format!("{} {} of {}", element.role, element.id, surface.window.label());
                texts.push(ObservedText { place, text });
            }
        }
        texts.push(ObservedText {
            place: format!("the title of {}", surface.window.id),
            text: &surface.window.title,
        });
    }
}
