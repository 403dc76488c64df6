//! Text entered by the user and text read by agents, in which the values of commands are looked up.

use super::ledgers::Ledgers;
use crate::{
    observation::Observation,
    policy::{ObservedText, Texts},
    provenance::CarriedValue,
};
use deskhand_ui::WindowView;

/// The texts that are at hand when a proposal is judged.
pub(super) struct AtHand<'a> {
    ledgers: &'a Ledgers,
    observation: &'a Observation,
}

impl<'a> AtHand<'a> {
    pub(super) const fn new(ledgers: &'a Ledgers, observation: &'a Observation) -> Self {
        Self { ledgers, observation }
    }
}

impl Texts for AtHand<'_> {
    fn said(&self) -> Vec<&str> {
        let opened = self.ledgers.config.opened.iter().map(String::as_str);
        let nested = self.ledgers.plans.nesting().words();
        self.ledgers.people.texts().chain(opened).chain(nested).collect()
    }

    fn made(&self) -> Vec<&str> {
        self.ledgers.sources.saved_files().collect()
    }

    fn password_from(&self, dots: &str) -> Option<String> {
        self.ledgers.passwords.source_of(dots)
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
        texts.extend(self.ledgers.sources.returned());
        // A model wrote these, after it had read.
        for app in self.ledgers.agents.apps() {
            let place = format!("the sub-task of {}", app.agent());
            texts.extend(app.given().map(|text| ObservedText { place: place.clone(), text }));
        }
        texts.extend(self.ledgers.sources.read());
        texts
    }

    fn heard(&self) -> Vec<ObservedText<'_>> {
        self.ledgers.sources.heard().collect()
    }

    fn stranger(&self) -> Option<String> {
        self.ledgers.plans.performing()?.stranger()
    }

    fn pasted(&self) -> Option<CarriedValue> {
        Some(self.ledgers.plans.performing()?.pasted())
    }

    fn planned(&self) -> Vec<&str> {
        self.ledgers.sources.plans().collect()
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
