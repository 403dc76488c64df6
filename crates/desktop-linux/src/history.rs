//! What elements did lately, so that a change that an element makes by itself is told from the effect of an action.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::ids::ElementId;
use deskhand_desktop::Aspect;
use tokio::{sync::broadcast::error::RecvError, task::JoinSet, time::Instant};

use crate::atspi::{Accessibility, is_noise};

/// The most elements that are watched; then those that were watched first are forgotten.
const WATCHED_MAX: usize = 50_000;

/// What changed by itself, and then not for so long, has ended.
const BY_ITSELF_LASTS: Duration = Duration::from_millis(2_500);

/// How long an aspect stays marked as self-changing; then it has to be seen again.
const MARK_LASTS: Duration = Duration::from_secs(30);

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
    self_changing: Vec<(Aspect, Instant)>,
}

impl Watched {
    const fn new(now: Instant) -> Self {
        Self { since: now, changed: None, by_itself: None, self_changing: Vec::new() }
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
                    Ok(one) if is_noise(one.event.aspect()) || !one.event.aspect().is_content() => {}
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

    /// See [`deskhand_desktop::Settling::mark_self_changing`].
    pub(crate) fn mark_self_changing(&self, element: ElementId, aspect: Aspect) {
        let now = Instant::now();
        let mut watched = self.watched();
        let watched = watched.entry(element).or_insert_with(|| Watched::new(now));
        let goes_on = watched.goes_on(now);
        watched.self_changing.retain(|(known, at)| goes_on && *known != aspect && now - *at < MARK_LASTS);
        watched.by_itself = Some(now);
        if watched.self_changing.len() < ASPECTS_MAX {
            watched.self_changing.push((aspect, now));
        }
    }

    /// See [`deskhand_desktop::Settling::is_self_changing`].
    pub(crate) fn is_self_changing(&self, element: ElementId, aspect: Aspect) -> bool {
        let now = Instant::now();
        let watched = self.watched();
        let is_marked = |(known, at): &(Aspect, Instant)| *known == aspect && now - *at < MARK_LASTS;
        watched
            .get(&element)
            .is_some_and(|watched| watched.goes_on(now) && watched.self_changing.iter().any(is_marked))
    }

    /// Whether anything of an element goes on changing by itself.
    pub(crate) fn goes_on(&self, element: ElementId) -> bool {
        let now = Instant::now();
        self.watched().get(&element).is_some_and(|watched| watched.goes_on(now))
    }

    /// See [`deskhand_desktop::Settling::recently_changed`].
    pub(crate) fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        let now = Instant::now();
        let mut watched = self.watched();
        if watched.len() + elements.len() > WATCHED_MAX {
            watched.clear();
        }
        let is_recent = |id: &ElementId| {
            let one = watched.entry(*id).or_insert_with(|| Watched::new(now));
            now - one.since < span || one.changed.is_some_and(|at| now - at < span)
        };
        elements.iter().copied().filter(is_recent).collect()
    }

    /// See [`deskhand_desktop::Settling::attribute_to_action`].
    pub(crate) fn attribute_to_action(&self, element: ElementId) {
        if let Some(watched) = self.watched().get_mut(&element) {
            watched.changed = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_marked_aspect_is_self_changing_until_it_rests() {
        let (history, clock, name) = (History::default(), ElementId(1), Aspect::Name);
        assert!(!history.is_self_changing(clock, name));
        history.mark_self_changing(clock, name);
        for _ in 0..10 {
            tokio::time::advance(BY_ITSELF_LASTS / 2).await;
            history.changed(clock);
            assert!(history.is_self_changing(clock, name) && history.goes_on(clock));
        }
        assert!(!history.is_self_changing(clock, Aspect::Text), "something else of it");
        assert!(!history.goes_on(ElementId(2)), "something else");
        tokio::time::advance(BY_ITSELF_LASTS).await;
        assert!(!history.is_self_changing(clock, name), "it has rested");
        history.changed(clock);
        assert!(!history.is_self_changing(clock, name), "and one change is not going on");
        history.mark_self_changing(clock, Aspect::Text);
        assert!(!history.is_self_changing(clock, name), "what it did before is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn a_mark_expires_even_if_its_element_never_rests() {
        let (history, page, clock, text) = (History::default(), ElementId(1), Aspect::Name, Aspect::Text);
        history.mark_self_changing(page, clock);
        history.mark_self_changing(page, text);
        for at in 0..60 {
            tokio::time::advance(Duration::from_secs(1)).await;
            history.changed(page);
            if at % 20 == 0 {
                history.mark_self_changing(page, clock);
            }
        }
        assert!(history.is_self_changing(page, clock), "it was seen to go on");
        assert!(!history.is_self_changing(page, text));
    }
}
