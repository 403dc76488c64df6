//! What the user has said, and what agents have read: where the values of commands are looked up.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::state::Session;
use crate::{
    observation::{Observation, WindowView},
    policy::{ReadText, Texts},
    text::clip,
};

/// The words of the user in a session: requests, answers and instructions. Nothing else counts as the user's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Said(VecDeque<String>);

impl Said {
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
        self.session.said.0.iter().map(String::as_str).collect()
    }

    fn read(&self) -> Vec<ReadText<'_>> {
        let mut texts = Vec::new();
        match self.observation {
            Observation::Window(view) => read_in(view, &mut texts),
            Observation::Desktop(view) => {
                for window in view.windows.iter().chain(&view.dialogs) {
                    texts
                        .push(ReadText { place: format!("the title of {}", window.id), text: &window.title });
                }
            }
            Observation::Agent(view) => {
                texts.push(ReadText { place: "what the agent observes".to_owned(), text: &view.text });
            }
        }
        let steps: Vec<_> = self.session.blackboard.trajectories().collect();
        for step in steps.into_iter().rev() {
            let place = format!("a result of step {} by {}", step.step, step.agent);
            texts.extend(step.results.iter().map(|text| ReadText { place: place.clone(), text }));
        }
        for done in self.session.round.subtasks.iter().rev() {
            let place = format!("the result of the sub-task “{}”", clip(&done.subtask, 60));
            texts.push(ReadText { place, text: &done.result });
        }
        // A model wrote these, after it had read.
        for app in &self.session.apps {
            let own = std::iter::once(&app.subtask).chain(&app.message);
            let place = format!("the sub-task of {}", app.owner.agent());
            texts.extend(own.map(|text| ReadText { place: place.clone(), text }));
        }
        texts
    }
}

/// The texts of the elements of a window.
fn read_in<'a>(view: &'a WindowView, texts: &mut Vec<ReadText<'a>>) {
    for surface in view.surfaces.iter().rev() {
        for element in &surface.tree.elements {
            let own =
                [Some(element.name.as_str()), element.text.as_deref(), Some(element.description.as_str())];
            for text in own.into_iter().flatten().filter(|text| !text.is_empty()) {
                let place = format!("{} {} of {}", element.role, element.id, surface.window.label());
                texts.push(ReadText { place, text });
            }
        }
        texts.push(ReadText {
            place: format!("the title of {}", surface.window.id),
            text: &surface.window.title,
        });
    }
}
