//! Choices of a small model in one step.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::ToolForm;
use crate::{prompt::relevant_words, workflow::WorkflowOffer};
use deskhand_ui::{
    ids::ElementId,
    text::{clip, collapse_whitespace, is_forbidden_outside},
};

/// The most things, and the most actions, that are put before a small model.
const THINGS_MAX: usize = 10;
const ACTIONS_MAX: usize = 5;
/// Handicap of a read-only element against a control, in thousandths: how much nearer to the goal it must be.
const READ_HANDICAP: i32 = 200;
/// The most things that are ranked, controls before what can only be read. Embedding one takes about 12 ms, once.
const RANKED_MAX: usize = 300;
/// The longest title, in characters.
const TITLE_CHARS_MAX: usize = 80;

/// Choices that a small model has in one step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SmallModelOffer {
    /// Goal that elements and actions are ranked by.
    pub(crate) wanted: String,
    /// Windows and programs, or elements.
    things: Vec<Thing>,
    /// The actions of an AppAgent.
    actions: Vec<ToolForm>,
    /// The words that end the work. None before there is a reason for it: small models like to end.
    ends: Vec<String>,
    /// The workflow whose values are asked for, in place of a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workflow: Option<Box<WorkflowOffer>>,
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Thing {
    /// Its title: what the model writes to choose it. No two of an offer have the same.
    pub(crate) title: String,
    /// Further details for the prompt, such as its state and text.
    pub(crate) more: String,
    /// Object that it stands for.
    pub(crate) means: OfferTarget,
    /// Set if it is always offered.
    pub(crate) is_kept: bool,
    /// Set if it can only be read.
    pub(crate) is_only_read: bool,
}

/// Object that a title stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfferTarget {
    /// A target of the HostAgent, by its id.
    Target(String),
    /// An application that is started, by its name.
    Launch(String),
    /// An element.
    Element(ElementId),
    /// A workflow that can be run.
    Workflow(Box<WorkflowOffer>),
}

impl Thing {
    /// A thing under a title from outside, which becomes a short line of visible characters.
    pub(crate) fn new(title: &str, more: impl Into<String>, means: OfferTarget) -> Self {
        let visible: String = title.chars().map(|c| if is_forbidden_outside(c) { ' ' } else { c }).collect();
        let title = clip(&collapse_whitespace(&visible), TITLE_CHARS_MAX);
        Self { title, more: more.into(), means, is_kept: false, is_only_read: false }
    }

    /// The same, offered in any case if `is_kept`.
    #[must_use]
    pub(crate) const fn kept(mut self, is_kept: bool) -> Self {
        self.is_kept = is_kept;
        self
    }

    /// The same, offered only where it fits much better than others if it `is_only_read`.
    #[must_use]
    pub(crate) const fn only_read(mut self, is_only_read: bool) -> Self {
        self.is_only_read = is_only_read;
        self
    }
}

impl SmallModelOffer {
    /// An offer of things in the order of their importance, whose titles become different from each other and from the `reserved` words.
    pub(crate) fn new(wanted: String, things: Vec<Thing>, actions: Vec<ToolForm>, reserved: &[&str]) -> Self {
        let mut taken: BTreeSet<String> = reserved.iter().map(|word| word.to_lowercase()).collect();
        let (kept, ends) = (Vec::with_capacity(things.len()), Vec::new());
        let mut offer = Self { wanted, things: kept, actions, ends, workflow: None };
        let (only_read, controls): (Vec<Thing>, Vec<Thing>) =
            things.into_iter().partition(|thing| thing.is_only_read);
        for mut thing in controls.into_iter().chain(only_read).take(RANKED_MAX) {
            let mut title = thing.title.clone();
            let mut number = 2_u32;
            while !taken.insert(title.to_lowercase()) {
                title = format!("{} ({number})", thing.title);
                number = number.saturating_add(1);
            }
            thing.title = title;
            offer.things.push(thing);
        }
        offer
    }

    /// The question for the values of a workflow.
    pub(crate) fn values_of(wanted: String, workflow: Box<WorkflowOffer>) -> Self {
        Self { wanted, workflow: Some(workflow), ..Self::default() }
    }

    /// The workflow whose values are asked for, in place of a choice.
    pub(crate) fn workflow(&self) -> Option<&WorkflowOffer> {
        self.workflow.as_deref()
    }

    /// The same with words that end the work.
    #[must_use]
    pub(crate) fn ending(mut self, ends: impl IntoIterator<Item = &'static str>) -> Self {
        self.ends = ends.into_iter().map(str::to_owned).collect();
        self
    }

    /// Returns `true` if there is something to rank.
    pub(crate) fn is_choice(&self) -> bool {
        self.things.len() > 1 || self.actions.len() > ACTIONS_MAX
    }

    /// The texts to rank: those of the things, then those of the actions.
    pub(crate) fn texts(&self) -> Vec<String> {
        let things =
            self.things.iter().map(|thing| format!("{} {}", thing.title, thing.more).trim().to_owned());
        things.chain(self.actions.iter().map(ToolForm::words)).collect()
    }

    /// The ten things and the five actions that fit best, the best first. `scores` are those of [`SmallModelOffer::texts`], the
    /// higher the nearer; without them, the words that a text shares with what is wanted count.
    pub(crate) fn narrowed(self, scores: Option<&[i32]>) -> Self {
        let texts = self.texts();
        let by_words: Vec<i32>;
        let scores = match scores.filter(|scores| scores.len() == texts.len()) {
            Some(scores) => scores,
            None => {
                by_words = shared_words(&self.wanted, &texts);
                &by_words
            }
        };
        let (of_things, of_actions) = scores.split_at_checked(self.things.len()).unwrap_or_default();
        let handicap = |thing: &Thing| if thing.is_only_read { READ_HANDICAP } else { 0 };
        let of_things: Vec<i32> = of_things
            .iter()
            .zip(&self.things)
            .map(|(score, thing)| score.saturating_sub(handicap(thing)))
            .collect();
        Self {
            wanted: self.wanted,
            things: best(self.things, &of_things, THINGS_MAX, |thing| thing.is_kept),
            actions: best(self.actions, of_actions, ACTIONS_MAX, ToolForm::is_basic),
            ends: self.ends,
            workflow: self.workflow,
        }
    }

    /// The titles.
    pub(crate) fn titles(&self) -> impl Iterator<Item = &str> {
        self.things.iter().map(|thing| thing.title.as_str())
    }

    /// The things, a line each.
    pub(crate) fn lines(&self) -> String {
        let line = |thing: &Thing| format!("- {} {}", thing.title, thing.more).trim_end().to_owned();
        self.things.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The words that end the work.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &str> {
        self.ends.iter().map(String::as_str)
    }

    /// The actions, a line each.
    pub(crate) fn action_lines(&self) -> String {
        let ends = self.ends.iter().map(|end| format!("- {end}: ends the task."));
        self.actions.iter().map(ToolForm::line).chain(ends).collect::<Vec<_>>().join("\n")
    }

    /// The actions.
    pub(crate) fn actions(&self) -> &[ToolForm] {
        &self.actions
    }

    /// Finds the object that a title stands for. White space and case do not matter.
    pub(crate) fn find(&self, title: &str) -> Option<&OfferTarget> {
        let normal = |text: &str| collapse_whitespace(text).to_lowercase();
        let wanted = normal(title);
        self.things.iter().find(|thing| normal(&thing.title) == wanted).map(|thing| &thing.means)
    }
}

/// The best of some things, the best first. What is kept is among them in any case.
fn best<T>(all: Vec<T>, scores: &[i32], most: usize, is_kept: impl Fn(&T) -> bool) -> Vec<T> {
    let scores = scores.iter().copied().chain(std::iter::repeat(i32::MIN));
    let mut scored: Vec<(i32, T)> = scores.zip(all).collect();
    // Stable: of equals, the first one is the more important.
    scored.sort_by_key(|(score, thing)| (!is_kept(thing), std::cmp::Reverse(*score)));
    scored.truncate(most);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, thing)| thing).collect()
}

/// Counts the words that each text shares with the goal.
fn shared_words(wanted: &str, texts: &[String]) -> Vec<i32> {
    let wanted = relevant_words(std::iter::once(wanted));
    let shared = |text: &String| {
        let words = relevant_words(std::iter::once(text.as_str()));
        i32::try_from(words.iter().filter(|word| wanted.contains(word)).count()).unwrap_or(i32::MAX)
    };
    texts.iter().map(shared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(titles: &[&str]) -> SmallModelOffer {
        let things =
            titles.iter().map(|title| Thing::new(title, "", OfferTarget::Launch((*title).to_owned())));
        SmallModelOffer::new("write the letter to Anna".to_owned(), things.collect(), Vec::new(), &["done"])
    }

    #[test]
    fn titles_differ_from_each_other_and_from_the_words_for_ends() {
        let offer = offer(&["Save", "Done", "save", "a\u{202e}b\n c", "Save (2)"]);
        assert_eq!(
            offer.titles().collect::<Vec<_>>(),
            ["Save", "Done (2)", "save (2)", "a b c", "Save (2) (2)"]
        );
        assert_eq!(offer.find(" SAVE  (2) "), Some(&OfferTarget::Launch("save".to_owned())));
        assert_eq!(offer.find("done"), None);
    }

    #[test]
    fn what_fits_best_comes_first() {
        let titles: Vec<String> = (0..30).map(|number| format!("window {number}")).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let long = offer(&[titles.as_slice(), &["Letter", "Letter to Anna"]].concat());
        let by_words = long.clone().narrowed(None);
        let shown: Vec<&str> = by_words.titles().collect();
        assert_eq!(shown.len(), THINGS_MAX);
        assert_eq!((shown[0], shown[1], shown[2]), ("Letter to Anna", "Letter", "window 0"));
        let scores: Vec<i32> = (0..32).collect();
        let by_scores = long.clone().narrowed(Some(&scores));
        assert_eq!(by_scores.titles().nth(2), Some("window 29"));
        // Scores of something else do not count.
        assert_eq!(long.clone().narrowed(Some(&scores[..5])), by_words);
        let mut kept = long;
        kept.things[3].is_kept = true;
        assert_eq!(kept.narrowed(Some(&scores)).titles().last(), Some("window 3"));
    }
}
