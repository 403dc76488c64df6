//! What elements did lately, so that a change that an element makes by itself is told from the effect of an action.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::ids::ElementId;
use tokio::{sync::broadcast::error::RecvError, task::JoinSet, time::Instant};

use super::atspi::{Accessibility, is_noise};
use crate::act::difference::tells_of_content;

/// The most elements that are watched; then those that were watched first are forgotten.
const WATCHED_MAX: usize = 50_000;

/// One element.
#[derive(Debug, Clone, Copy)]
struct Watched {
    since: Instant,
    changed: Option<Instant>,
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
            watched.changed = Some(Instant::now());
        }
    }

    /// See [`crate::Settling::restless`].
    pub(crate) fn restless(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        let now = Instant::now();
        let mut watched = self.watched();
        if watched.len() + elements.len() > WATCHED_MAX {
            watched.clear();
        }
        let is_restless = |id: &ElementId| {
            let one = watched.entry(*id).or_insert(Watched { since: now, changed: None });
            now - one.since < span || one.changed.is_some_and(|at| now - at < span)
        };
        elements.iter().copied().filter(is_restless).collect()
    }

    /// See [`crate::Settling::explain`].
    pub(crate) fn explain(&self, element: ElementId) {
        if let Some(watched) = self.watched().get_mut(&element) {
            watched.changed = None;
        }
    }
}
