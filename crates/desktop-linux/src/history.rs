//! The recent changes of elements: tells changes that elements make by themselves from the effects of actions.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{ids::ElementId, ui::State};
use deskhand_desktop::Aspect;
use tokio::{sync::broadcast::error::RecvError, task::JoinSet, time::Instant};

use crate::atspi::{Accessibility, is_noise};

/// The most elements that are tracked; then all of them are forgotten.
const WATCHED_MAX: usize = 50_000;

/// An element that has not changed for this long is no longer self-changing.
const SELF_CHANGING_GAP_MAX: Duration = Duration::from_millis(2_500);

/// How long an aspect stays marked as self-changing; then it has to be observed again.
const MARK_LASTS: Duration = Duration::from_secs(30);

/// The changes after this many inputs are kept for each element.
const INPUTS_MAX: usize = 8;

/// An application announces one change in several pieces. Those that follow within this time are of the change before them.
const PIECES: Duration = Duration::from_millis(250);

/// The most aspects of one element that are marked.
const ASPECTS_MAX: usize = 32;

/// One element.
#[derive(Debug, Clone)]
struct Watched {
    since: Instant,
    /// When it last changed after each of the last inputs, and how long after the input that was, oldest first.
    after_inputs: VecDeque<AfterInput>,
    /// When a change of it was last attributed to an action.
    attributed: Option<Instant>,
    /// When it last changed while self-changing.
    by_itself: Option<Instant>,
    /// Its self-changing aspects, and when each was observed.
    self_changing: Vec<(Aspect, Instant)>,
}

impl Watched {
    const fn new(now: Instant) -> Self {
        let after_inputs = VecDeque::new();
        Self { since: now, after_inputs, attributed: None, by_itself: None, self_changing: Vec::new() }
    }

    /// Records a change, after the input that was sent last.
    fn note_after(&mut self, input: Option<Instant>, now: Instant) {
        if self.attributed.is_some_and(|at| now - at < PIECES) {
            return;
        }
        let later = input.map_or(Duration::MAX, |input| now - input);
        match self.after_inputs.back_mut().filter(|last| last.input == input) {
            Some(last) => (last.at, last.later) = (now, later),
            None => {
                if self.after_inputs.len() == INPUTS_MAX {
                    self.after_inputs.pop_front();
                }
                self.after_inputs.push_back(AfterInput { input, at: now, later });
            }
        }
    }

    /// When it last changed other than by an action.
    fn changed(&self) -> Option<Instant> {
        self.after_inputs.back().map(|last| last.at)
    }

    fn keeps_changing(&self, now: Instant) -> bool {
        self.by_itself.is_some_and(|at| now - at < SELF_CHANGING_GAP_MAX)
    }
}

/// The last change of an element after an input.
#[derive(Debug, Clone, Copy)]
struct AfterInput {
    /// When the input was sent.
    input: Option<Instant>,
    /// When the element changed.
    at: Instant,
    /// How long after the input.
    later: Duration,
}

/// Since when each element is tracked, and when it last changed.
#[derive(Debug, Default)]
pub(crate) struct History {
    watched: Mutex<HashMap<ElementId, Watched>>,
    last_input: Mutex<LastInput>,
    /// When an application last announced that something else is selected.
    last_selection: Mutex<Option<Instant>>,
}

/// The last input, by whatever route.
#[derive(Debug, Default)]
struct LastInput {
    sent: Option<Instant>,
    /// When the application answered that it had handled it; `None` until then.
    handled: Option<Instant>,
}

impl History {
    /// Tracks what applications announce, until the tasks are dropped.
    pub(crate) fn follow(accessibility: &Accessibility) -> (Arc<Self>, JoinSet<()>) {
        let history = Arc::new(Self::default());
        let (mut announcements, shared) = (accessibility.announcements(), Arc::clone(&accessibility.shared));
        let kept = Arc::clone(&history);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                match announcements.recv().await {
                    Ok(one) => {
                        if is_selection(one.event.aspect()) {
                            *kept.last_selection() = Some(Instant::now());
                        }
                        if !is_tracked(one.event.aspect()) {
                            continue;
                        }
                        let ids = shared.ids.lock().unwrap_or_else(PoisonError::into_inner);
                        let id = ids.find_id(&one.object);
                        drop(ids);
                        if let Some(id) = id {
                            kept.changed(id);
                        }
                    }
                    // Some were missed: what is known is incomplete.
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
        let input = self.last_input().sent;
        if let Some(watched) = self.watched().get_mut(&id) {
            let now = Instant::now();
            watched.note_after(input, now);
            if watched.keeps_changing(now) {
                watched.by_itself = Some(now);
            }
        }
    }

    fn last_input(&self) -> MutexGuard<'_, LastInput> {
        self.last_input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that an input is being sent, or was.
    pub(crate) fn record_input(&self) {
        *self.last_input() = LastInput { sent: Some(Instant::now()), handled: None };
    }

    /// How long ago the last input was sent; [`Duration::MAX`] if there was none.
    pub(crate) fn since_sent(&self) -> Duration {
        self.last_input().sent.map_or(Duration::MAX, |at| at.elapsed())
    }

    /// Whether an input may not be handled yet.
    pub(crate) fn awaits_input(&self) -> bool {
        let last = self.last_input();
        last.sent.is_some() && last.handled.is_none()
    }

    /// Records that every input so far was handled.
    pub(crate) fn record_handled(&self) {
        self.last_input().handled.get_or_insert_with(Instant::now);
    }

    fn last_selection(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last_selection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long ago an application announced that something else is selected; [`Duration::MAX`] if none did.
    pub(crate) fn since_selection(&self) -> Duration {
        self.last_selection().map_or(Duration::MAX, |at| at.elapsed())
    }

    /// How long ago the last input was handled, as far as is known; zero if it may not be yet, and [`Duration::MAX`] if
    /// there was none.
    pub(crate) fn since_handled(&self) -> Duration {
        let last = self.last_input();
        match (last.sent, last.handled) {
            (None, _) => Duration::MAX,
            (Some(_), None) => Duration::ZERO,
            (Some(_), Some(at)) => at.elapsed(),
        }
    }

    /// See [`deskhand_desktop::Settling::mark_self_changing`].
    pub(crate) fn mark_self_changing(&self, element: ElementId, aspect: Aspect) {
        let now = Instant::now();
        let mut watched = self.watched();
        let watched = watched.entry(element).or_insert_with(|| Watched::new(now));
        let keeps_changing = watched.keeps_changing(now);
        watched
            .self_changing
            .retain(|(known, at)| keeps_changing && *known != aspect && now - *at < MARK_LASTS);
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
            .is_some_and(|watched| watched.keeps_changing(now) && watched.self_changing.iter().any(is_marked))
    }

    /// Whether any aspect of an element is self-changing now.
    pub(crate) fn keeps_changing(&self, element: ElementId) -> bool {
        let now = Instant::now();
        self.watched().get(&element).is_some_and(|watched| watched.keeps_changing(now))
    }

    /// See [`deskhand_desktop::Settling::recently_changed`].
    pub(crate) fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        self.track(elements.iter().copied());
        let now = Instant::now();
        let watched = self.watched();
        let is_recent = |id: &ElementId| {
            watched
                .get(id)
                .is_none_or(|one| now - one.since < span || one.changed().is_some_and(|at| now - at < span))
        };
        elements.iter().copied().filter(is_recent).collect()
    }

    /// See [`deskhand_desktop::Settling::follows_inputs`]; a change within `at_once` after an input comes at once.
    pub(crate) fn follows_inputs(&self, element: ElementId, span: Duration, at_once: Duration) -> bool {
        let now = Instant::now();
        self.watched().get(&element).is_some_and(|one| {
            let mut recent = one.after_inputs.iter().filter(|one| now - one.at < span);
            let is_complete = one.after_inputs.len() < INPUTS_MAX
                || one.after_inputs.front().is_some_and(|oldest| now - oldest.at >= span);
            now - one.since >= span && is_complete && recent.all(|one| one.later <= at_once)
        })
    }

    /// Tracks these elements from now on, if they are not tracked yet: as soon as they are read, because an action on one
    /// of them may follow any time.
    pub(crate) fn track(&self, elements: impl ExactSizeIterator<Item = ElementId>) {
        let now = Instant::now();
        let mut watched = self.watched();
        if watched.len() + elements.len() > WATCHED_MAX {
            watched.clear();
        }
        for id in elements {
            watched.entry(id).or_insert_with(|| Watched::new(now));
        }
    }

    /// See [`deskhand_desktop::Settling::attribute_to_action`].
    pub(crate) fn attribute_to_action(&self, element: ElementId) {
        if let Some(watched) = self.watched().get_mut(&element) {
            watched.after_inputs.clear();
            watched.attributed = Some(Instant::now());
        }
    }
}

/// Whether a change of this aspect is tracked.
const fn is_tracked(aspect: Aspect) -> bool {
    aspect.is_content() && !is_noise(aspect)
}

/// Whether a change of this aspect means that something else is selected or current, which other controls may follow.
const fn is_selection(aspect: Aspect) -> bool {
    matches!(aspect, Aspect::Selection | Aspect::ActiveDescendant | Aspect::State(State::Selected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_marked_aspect_is_self_changing_until_its_element_is_idle() {
        let (history, clock, name) = (History::default(), ElementId(1), Aspect::Name);
        assert!(!history.is_self_changing(clock, name));
        history.mark_self_changing(clock, name);
        for _ in 0..10 {
            tokio::time::advance(SELF_CHANGING_GAP_MAX / 2).await;
            history.changed(clock);
            assert!(history.is_self_changing(clock, name) && history.keeps_changing(clock));
        }
        assert!(!history.is_self_changing(clock, Aspect::Text), "another aspect");
        assert!(!history.keeps_changing(ElementId(2)), "another element");
        tokio::time::advance(SELF_CHANGING_GAP_MAX).await;
        assert!(!history.is_self_changing(clock, name), "the element was idle");
        history.changed(clock);
        assert!(!history.is_self_changing(clock, name), "one change does not make it self-changing again");
        history.mark_self_changing(clock, Aspect::Text);
        assert!(!history.is_self_changing(clock, name), "the former mark is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn an_element_that_keeps_step_with_inputs_is_told_from_a_clock() {
        let (history, status, clock) = (History::default(), ElementId(1), ElementId(2));
        let (span, at_once) = (Duration::from_secs(2), Duration::from_millis(50));
        let follows = |element| history.follows_inputs(element, span, at_once);
        history.track([status, clock].into_iter());
        assert!(!follows(status), "it was not tracked for long enough");
        for _ in 0..2 * INPUTS_MAX {
            tokio::time::advance(span / 4).await;
            history.record_input();
            tokio::time::advance(at_once / 2).await;
            history.changed(status);
            history.changed(clock);
            tokio::time::advance(at_once).await;
            history.changed(clock);
        }
        assert!(follows(status));
        assert!(!follows(clock));
        assert!(history.follows_inputs(clock, span, 2 * at_once), "for a slower toolkit it does");
        assert!(!follows(ElementId(3)), "it is not tracked");
        history.changed(status);
        assert!(!follows(status), "it changed without an input");
        tokio::time::advance(span).await;
        assert!(follows(clock), "that was long ago");
    }

    #[tokio::test(start_paused = true)]
    async fn more_inputs_than_are_kept_tell_nothing() {
        let (history, status) = (History::default(), ElementId(1));
        let (span, at_once) = (Duration::from_secs(2), Duration::from_millis(50));
        history.track([status].into_iter());
        tokio::time::advance(span).await;
        for _ in 0..=INPUTS_MAX {
            history.record_input();
            tokio::time::advance(at_once).await;
            history.changed(status);
        }
        assert!(!history.follows_inputs(status, span, at_once));
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_pieces_of_a_change_belong_to_the_action_that_the_first_was_attributed_to() {
        let (history, journal) = (History::default(), ElementId(1));
        let (span, at_once) = (Duration::from_secs(2), Duration::from_millis(50));
        let follows = || history.follows_inputs(journal, span, at_once);
        history.track([journal].into_iter());
        tokio::time::advance(span).await;
        history.record_input();
        // The application was busy for a while.
        tokio::time::advance(10 * at_once).await;
        history.changed(journal);
        assert!(!follows());
        history.attribute_to_action(journal);
        history.changed(journal);
        assert!(follows(), "a second piece of it");
        tokio::time::advance(PIECES).await;
        history.changed(journal);
        assert!(!follows(), "another change");
    }

    #[tokio::test(start_paused = true)]
    async fn a_mark_expires_even_if_its_element_is_never_idle() {
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
        assert!(history.is_self_changing(page, clock), "it was marked again");
        assert!(!history.is_self_changing(page, text));
    }
}
