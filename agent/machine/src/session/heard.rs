//! Texts that a session received from outside, and the plans made before that: stored longer than other texts,
//! and bounded.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::words::strings_in;
use crate::{
    intent::Does,
    observation::Observation,
    policy::{ObservedText, reached_in},
    reply::HostReply,
    retrieval::{Hit, Trust},
};
use deskhand_ui::{
    Element, Role, WindowInfo, WindowView,
    clipping::within,
    text::{clip, excerpt},
};

/// Texts received and read in a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct OutsideContent {
    /// The last texts, with where they are.
    texts: VecDeque<(String, String)>,
    /// The hosts and mail addresses that were read, each with where it stood first and what stood around it.
    reached: VecDeque<ObservedAddress>,
    /// Plans of the HostAgent, and the applications that it went to, before any text from outside was received.
    planned: VecDeque<String>,
}

/// A host or a mail address that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ObservedAddress {
    name: String,
    place: String,
    text: String,
}

impl OutsideContent {
    /// The most texts that are kept.
    const TEXTS_MAX: usize = 12;
    /// The longest of them, in characters.
    const CHARS_MAX: usize = 20_000;
    /// The most hosts and addresses that are kept.
    const REACHED_MAX: usize = 200;
    /// Maximum length of the text stored around one, in characters.
    const AROUND_MAX: usize = 200;
    /// The most plans that are kept.
    const PLANNED_MAX: usize = 60;
    /// The fewest words of a label that count as a text, outside of documents and pages.
    const WORDS_MIN: usize = 4;

    /// Takes in what an agent sees.
    pub(super) fn see(&mut self, observation: &Observation) {
        match observation {
            Observation::Window(view) => self.see_window(view),
            Observation::Agent(view) => {
                self.reach("what the agent observed", &view.text);
                self.add("what the agent observed".to_owned(), view.text.clone());
            }
            Observation::Desktop(_) => {}
        }
    }

    fn see_window(&mut self, view: &WindowView) {
        for surface in &view.surfaces {
            let mut text = String::new();
            for element in &surface.tree.elements {
                let in_page = surface.tree.page_of(element.id).is_some();
                let place = || format!("{} {} of {}", element.role, element.id, surface.window.label());
                for part in [element.name.as_str(), element.text.as_deref().unwrap_or_default()] {
                    if part.contains(['@', '.', ':']) {
                        self.reach(&place(), part);
                    }
                }
                if text.len() < Self::CHARS_MAX {
                    hear(element, in_page, &surface.window, &mut text);
                }
            }
            self.add(format!("what {} shows", surface.window.label()), text);
        }
    }

    /// Takes in the output of a tool. Text from tools that list windows is only searched for hosts and addresses.
    pub(super) fn add_output(&mut self, tool: &str, does: Does, output: &Value) {
        let mut text = String::new();
        strings_in(output, &mut text);
        let place = format!("what `{tool}` returned");
        self.reach(&place, &text);
        if matches!(does, Does::Read | Does::Run | Does::Other) {
            self.add(place, text);
        }
    }

    /// Takes in what a person did, which quotes what was on the screen.
    pub(super) fn add_hands(&mut self, acts: &[String]) {
        let text = acts.join("\n");
        self.reach("what the user did by hand", &text);
        self.add("what the user did by hand".to_owned(), text);
    }

    /// Takes in what an agent reported.
    pub(super) fn add_report(&mut self, agent: &str, report: &str) {
        let place = format!("the report of {agent}");
        self.reach(&place, report);
        self.add(place, report.to_owned());
    }

    /// Takes in what a retriever found, unless the user wrote it.
    pub(super) fn add_hit(&mut self, hit: &Hit) {
        if hit.trust < Trust::User {
            let place = format!("what {} found in {}", hit.retriever, hit.origin);
            self.reach(&place, &hit.text);
            self.add(place, hit.text.clone());
        }
    }

    fn add(&mut self, place: String, text: String) {
        if text.trim().is_empty() {
            return;
        }
        let text = within(text, Self::CHARS_MAX);
        self.texts.retain(|(_, known)| *known != text);
        while self.texts.len() >= Self::TEXTS_MAX {
            self.texts.pop_front();
        }
        self.texts.push_back((place, text));
    }

    fn reach(&mut self, place: &str, text: &str) {
        for (_, name) in reached_in(text) {
            if self.reached.iter().any(|known| known.name == name) {
                continue;
            }
            while self.reached.len() >= Self::REACHED_MAX {
                self.reached.pop_front();
            }
            let lower = text.to_lowercase();
            let line =
                lower.lines().position(|line| line.contains(&name)).and_then(|at| text.lines().nth(at));
            let text = excerpt(line.unwrap_or(&name), Self::AROUND_MAX);
            self.reached.push_back(ObservedAddress { name, place: place.to_owned(), text });
        }
    }

    /// Returns `true` if nothing from outside was heard yet.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Notes what the HostAgent plans.
    pub(super) fn plan(&mut self, reply: &HostReply) {
        let next = reply.next.iter().flatten();
        let next = next.flat_map(|next| {
            let launch = next.launch.iter().map(|action| Value::Object(action.arguments.clone()).to_string());
            launch.chain([next.subtask.clone()]).chain(next.message.clone())
        });
        let texts = reply.plan.iter().chain(&reply.subtask).chain(&reply.message).cloned();
        for text in texts.chain(next) {
            self.planned(&text);
        }
    }

    /// Notes an application that the session went to.
    pub(super) fn went_to(&mut self, window: &WindowInfo) {
        self.planned(&window.app.name);
        self.planned(&window.app.root);
    }

    fn planned(&mut self, text: &str) {
        if text.trim().is_empty() || self.planned.iter().any(|known| known == text) {
            return;
        }
        while self.planned.len() >= Self::PLANNED_MAX {
            self.planned.pop_front();
        }
        self.planned.push_back(clip(text, Self::CHARS_MAX));
    }

    /// The texts, the latest first.
    pub(super) fn texts(&self) -> impl Iterator<Item = ObservedText<'_>> {
        self.texts.iter().rev().map(|(place, text)| ObservedText { place: place.clone(), text })
    }

    /// Returns the texts around the hosts and addresses that were read, the latest first.
    pub(super) fn reached(&self) -> impl Iterator<Item = ObservedText<'_>> {
        self.reached.iter().rev().map(|one| ObservedText { place: one.place.clone(), text: &one.text })
    }

    /// Returns the plans.
    pub(super) fn plans(&self) -> impl Iterator<Item = &str> {
        self.planned.iter().map(String::as_str)
    }
}

/// Adds what an element tells, if that is a text: in a page or a document, or a label of several words.
/// The names of a document and of the application itself are none: they are what windows say of themselves.
fn hear(element: &Element, in_page: bool, window: &WindowInfo, text: &mut String) {
    let is_document = |role: &Role| {
        in_page
            || [
                Role::PARAGRAPH,
                Role::HEADING,
                Role::TEXT,
                Role::TABLE_CELL,
                Role::LIST_ITEM,
                Role::DRAWN_TEXT,
            ]
            .contains(role)
            || role.name().starts_with("document")
    };
    let is_shell = [Role::FRAME, Role::DIALOG, Role::WINDOW, Role::APPLICATION].contains(&element.role);
    let words = element.name.split_whitespace().count();
    let tells =
        is_document(&element.role) || (!element.role.is_interactive() && words >= OutsideContent::WORDS_MIN);
    let is_own = element.role.name().starts_with("document")
        || (!in_page && !window.app.name.is_empty() && element.name.contains(&window.app.name));
    let name = Some(element.name.as_str()).filter(|_| tells && !is_shell && !is_own);
    for part in name.into_iter().chain(element.text.as_deref()).filter(|part| !part.trim().is_empty()) {
        text.push_str(part);
        text.push('\n');
    }
}
