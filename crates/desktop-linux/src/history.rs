//! What elements did lately, so that a change that an element makes by itself is told from the effect of an action.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::ids::ElementId;
use deskhand_desktop::{Aspect, tells_of_content};
use tokio::{sync::broadcast::error::RecvError, task::JoinSet, time::Instant};

use crate::atspi::{Accessibility, is_noise};

/// The most elements that are watched; then those that were watched first are forgotten.
const WATCHED_MAX: usize = 50_000;

/// What changed by itself, and then not for so long, has ended.
const BY_ITSELF_LASTS: Duration = Duration::from_millis(2_500);

/// What was blamed counts for so long: whether it still is what changes of an element that goes on changing has to be
/// seen again then.
const BLAME_LASTS: Duration = Duration::from_secs(30);

/// The most things of one element that are known to change by themselves.
const ASPECTS_MAX: usize = 32;

/// One element.
#[derive(Debug, Clone)]
struct Watched {
    since: Instant,
    changed: Option<Instant>,
    /// When it changed last of those changes that it makes by itself.
    by_itself: Option<Instant>,
    /// What of it does, and when that was seen.
    blamed: Vec<(Aspect, Instant)>,
}

impl Watched {
    const fn new(now: Instant) -> Self {
        Self { since: now, changed: None, by_itself: None, blamed: Vec::new() }
    }

    fn goes_on(&self, now: Instant) -> bool {
        self.by_itself.is_some_and(|at| now - at < BY_ITSELF_LASTS)
    }
}

/// Since when each element is watched, and when it changed last.
#[derive(Debug, Default)]
pub(crate) struct History {
    watched: Mutex<HashMap<ElementId, Watched>>,
}

impl History {
    /// Keeps up with what the applications announce; ends when the tasks are dropped.
    pub(crate) fn follow(accessibility: &Accessibility) -> (Arc<Self>, JoinSet<()>) {
        let history = Arc::new(Self::default());
        let (mut announcements, shared) = (accessibility.announcements(), Arc::clone(&accessibility.shared));
        let kept = Arc::clone(&history);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                match announcements.recv().await {
                    Ok(one) if is_noise(&one.event) || !tells_of_content(&one.event) => {}
                    Ok(one) => {
                        let ids = shared.ids.lock().unwrap_or_else(PoisonError::into_inner);
                        let id = ids.find_id(&one.object);
                        drop(ids);
                        if let Some(id) = id {
                            kept.changed(id);
                        }
                    }
                    // Some were missed: nothing is known of the time before.
                    Err(RecvError::Lagged(_)) => kept.watched().clear(),
                    Err(RecvError::Closed) => return,
                }
            }
        });
        (history, tasks)
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<ElementId, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self, id: ElementId) {
        if let Some(watched) = self.watched().get_mut(&id) {
            let now = Instant::now();
            watched.changed = Some(now);
            if watched.goes_on(now) {
                watched.by_itself = Some(now);
            }
        }
    }

    /// See [`deskhand_desktop::Settling::blame`].
    pub(crate) fn blame(&self, element: ElementId, aspect: Aspect) {
        let now = Instant::now();
        let mut watched = self.watched();
        let watched = watched.entry(element).or_insert_with(|| Watched::new(now));
        let goes_on = watched.goes_on(now);
        watched.blamed.retain(|(known, at)| goes_on && *known != aspect && now - *at < BLAME_LASTS);
        watched.by_itself = Some(now);
        if watched.blamed.len() < ASPECTS_MAX {
            watched.blamed.push((aspect, now));
        }
    }

    /// See [`deskhand_desktop::Settling::changes_by_itself`].
    pub(crate) fn changes_by_itself(&self, element: ElementId, aspect: Aspect) -> bool {
        let now = Instant::now();
        let watched = self.watched();
        let is_blamed = |(known, at): &(Aspect, Instant)| *known == aspect && now - *at < BLAME_LASTS;
        watched
            .get(&element)
            .is_some_and(|watched| watched.goes_on(now) && watched.blamed.iter().any(is_blamed))
    }

    /// Whether anything of an element goes on changing by itself.
    pub(crate) fn goes_on(&self, element: ElementId) -> bool {
        let now = Instant::now();
        self.watched().get(&element).is_some_and(|watched| watched.goes_on(now))
    }

    /// See [`deskhand_desktop::Settling::restless`].
    pub(crate) fn restless(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        let now = Instant::now();
        let mut watched = self.watched();
        if watched.len() + elements.len() > WATCHED_MAX {
            watched.clear();
        }
        let is_restless = |id: &ElementId| {
            let one = watched.entry(*id).or_insert_with(|| Watched::new(now));
            now - one.since < span || one.changed.is_some_and(|at| now - at < span)
        };
        elements.iter().copied().filter(is_restless).collect()
    }

    /// See [`deskhand_desktop::Settling::explain`].
    pub(crate) fn explain(&self, element: ElementId) {
        if let Some(watched) = self.watched().get_mut(&element) {
            watched.changed = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_blamed_counts_as_that_until_it_rests() {
        let (history, clock, name) = (History::default(), ElementId(1), Aspect(1));
        assert!(!history.changes_by_itself(clock, name));
        history.blame(clock, name);
        for _ in 0..10 {
            tokio::time::advance(BY_ITSELF_LASTS / 2).await;
            history.changed(clock);
            assert!(history.changes_by_itself(clock, name) && history.goes_on(clock));
        }
        assert!(!history.changes_by_itself(clock, Aspect(2)), "something else of it");
        assert!(!history.goes_on(ElementId(2)), "something else");
        tokio::time::advance(BY_ITSELF_LASTS).await;
        assert!(!history.changes_by_itself(clock, name), "it has rested");
        history.changed(clock);
        assert!(!history.changes_by_itself(clock, name), "and one change is not going on");
        history.blame(clock, Aspect(2));
        assert!(!history.changes_by_itself(clock, name), "what it did before is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_blamed_by_mistake_counts_again_although_its_element_never_rests() {
        let (history, page, clock, text) = (History::default(), ElementId(1), Aspect(1), Aspect(2));
        history.blame(page, clock);
        history.blame(page, text);
        for at in 0..60 {
            tokio::time::advance(Duration::from_secs(1)).await;
            history.changed(page);
            if at % 20 == 0 {
                history.blame(page, clock);
            }
        }
        assert!(history.changes_by_itself(page, clock), "it was seen to go on");
        assert!(!history.changes_by_itself(page, text));
    }
}
