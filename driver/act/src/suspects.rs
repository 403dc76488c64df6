//! Which changes recur without input, to tell an effect from what changes by itself.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    time::Duration,
};

use deskhand_desktop::{Desktop, ElementChangeKind};
use deskhand_ui::{Tree, duration::milliseconds};

use crate::{
    before::Before,
    difference::{ElementAspect, differences, drawn_difference},
    report::ActLimits,
};

/// An application announces one change in several pieces, such as a text that is removed and one that is inserted. After
/// this time they are complete, even on a busy machine.
const TAIL: Duration = Duration::from_millis(250);

/// Number of changes of each part, and the time of the last one, in milliseconds of the wait.
type Counts = HashMap<ElementAspect, (u32, u64)>;

/// Changes since the input, and their number. All times are milliseconds of the wait.
pub(crate) struct Suspects<'a> {
    before: &'a Before,
    limits: &'a ActLimits,
    /// Number of changes of each part, and the time of the last one: as the application announced it, and as it was
    /// read. These are not added up, because one change may be read long after it was announced.
    announced: Counts,
    read: Counts,
    /// Those that changed more than once: they change by themselves.
    noise: HashSet<ElementAspect>,
    /// The elements at the last look.
    tree: Tree,
    /// The text at the position of a drawn target at the last look; `None` before the first one.
    words: Option<Option<String>>,
}

impl<'a> Suspects<'a> {
    /// Nothing has changed yet.
    pub(crate) fn new(before: &'a Before, limits: &'a ActLimits) -> Self {
        let tree = before.tree.clone();
        let (announced, read) = (Counts::new(), Counts::new());
        Self { before, limits, announced, read, noise: HashSet::new(), tree, words: None }
    }

    /// Returns the parts that change by themselves.
    pub(crate) const fn noise(&self) -> &HashSet<ElementAspect> {
        &self.noise
    }

    /// Records the parts that the application announced to have changed at this time.
    pub(crate) fn told(&mut self, parts: HashSet<ElementAspect>, now_ms: u64) {
        add(&mut self.announced, parts, now_ms);
    }

    /// Records what is different from the last look, and marks what changes by itself.
    pub(crate) fn look<D: Desktop>(&mut self, desktop: &D, now: &Tree, words: Option<&str>, now_ms: u64) {
        let mut parts: HashSet<ElementAspect> =
            differences(&self.tree, now, false).into_iter().map(|one| one.part).collect();
        let changed = match &self.words {
            Some(last) => words != last.as_deref(),
            None => drawn_as_other_words(self.before, words),
        };
        if let (Some(target), true) = (&self.before.target, changed) {
            parts.insert(ElementAspect::new(Some(target.id), ElementChangeKind::Text));
        }
        add(&mut self.read, parts, now_ms);
        self.tree = now.clone();
        self.words = Some(words.map(ToOwned::to_owned));
        let all = self.announced.iter().chain(&self.read);
        for (part, _) in all.filter(|(_, (count, _))| *count > 1) {
            if self.noise.insert(*part) {
                part.mark_self_changing(desktop);
            }
        }
    }

    /// Forgets the changes of a part that says that something goes on: its next change is what came of that.
    pub(crate) fn forget(&mut self, part: &ElementAspect) {
        self.announced.remove(part);
        self.read.remove(part);
    }

    /// When a part that changed once has been observed for long enough to know that it does not change by itself.
    pub(crate) fn cleared_ms(&self, part: &ElementAspect) -> Option<u64> {
        let (_, at_ms) = self.read.get(part).or_else(|| self.announced.get(part))?;
        let needed = self.before.unwatched(part.element).min(self.limits.control);
        Some(at_ms + milliseconds(needed))
    }

    /// Returns `true` if a part changed once only, and was observed for long enough to know that, or will not change again for as
    /// long, because the application sleeps.
    pub(crate) fn is_cleared(&self, part: &ElementAspect, now_ms: u64, sleeps_on: bool) -> bool {
        let is_observed = |cleared_ms| sleeps_on || now_ms >= cleared_ms;
        self.cleared_ms(part).is_some_and(is_observed) && !self.noise.contains(part)
    }
}

fn add(counts: &mut Counts, parts: HashSet<ElementAspect>, now_ms: u64) {
    for part in parts {
        match counts.entry(part) {
            Entry::Vacant(new) => drop(new.insert((1, now_ms))),
            Entry::Occupied(mut known) => {
                let (count, at_ms) = known.get_mut();
                if now_ms >= *at_ms + milliseconds(TAIL) {
                    (*count, *at_ms) = (*count + 1, now_ms);
                }
            }
        }
    }
}

/// Returns `true` if a target that was detected in a picture reads otherwise than before.
fn drawn_as_other_words(before: &Before, words: Option<&str>) -> bool {
    let drawn = before.target.as_ref().filter(|_| before.is_drawn());
    drawn.zip(words).is_some_and(|(target, words)| drawn_difference(target, words).is_some())
}
