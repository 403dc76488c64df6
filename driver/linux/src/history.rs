//! The recent changes of elements: tells changes that elements make by themselves from the effects of actions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_desktop::ElementChangeKind;
use deskhand_ui::{State, ids::ElementId};
use tokio::{sync::broadcast::error::RecvError, task::JoinSet, time::Instant};

use crate::atspi::{Accessibility, is_noise};

/// The most elements that are tracked; then all of them are forgotten.
const WATCHED_MAX: usize = 50_000;

/// An element that has not changed for this long is no longer self-changing.
const SELF_CHANGING_GAP_MAX: Duration = Duration::from_millis(2_500);

/// Time for which an aspect stays marked as self-changing; then it has to be observed again.
const MARK_LASTS: Duration = Duration::from_secs(30);

/// Quiet time before a change after which an input just before it is taken for its cause. With a shorter time,
/// elements that change by themselves would come just after an input by chance.
const QUIET: Duration = Duration::from_millis(1_500);

/// An application announces one change in several pieces. Those that follow within this time are of the change before them.
const PIECES: Duration = Duration::from_millis(250);

/// Maximum time between two changes by itself that form a rhythm, as of a clock. Such an element may well be
/// late once: it has to be quiet for three times as long as it was between these changes.
const RHYTHM_MAX: Duration = Duration::from_millis(1_500);

/// The most aspects of one element that are marked.
const ASPECTS_MAX: usize = 32;

/// One element.
#[derive(Debug, Clone)]
struct ElementChangeHistory {
    since: Instant,
    /// When it last changed other than by an input.
    changed: Option<Instant>,
    /// When a change of it was last attributed to an action.
    attributed: Option<Instant>,
    /// Quiet time between two changes other than by an input, and the time of the later one.
    rhythm: Option<(Duration, Instant)>,
    /// When it last changed while self-changing.
    by_itself: Option<Instant>,
    /// Its self-changing aspects, and when each was observed.
    self_changing: Vec<(ElementChangeKind, Instant)>,
}

impl ElementChangeHistory {
    const fn new(now: Instant) -> Self {
        Self {
            since: now,
            changed: None,
            attributed: None,
            rhythm: None,
            by_itself: None,
            self_changing: Vec::new(),
        }
    }

    /// Records a change, unless it was brought about by an action, or by an input that came just before it.
    fn note(&mut self, just_after_input: bool, now: Instant) {
        let is_past = |at: Instant, span| now - at >= span;
        if self.attributed.is_some_and(|at| !is_past(at, PIECES)) {
            return;
        }
        if just_after_input && self.was_quiet(QUIET, now) {
            return;
        }
        let gap = self.changed.map(|at| now - at).filter(|gap| (PIECES..=RHYTHM_MAX).contains(gap));
        self.rhythm = gap.map(|gap| (gap, now)).or(self.rhythm);
        self.changed = Some(now);
    }

    /// Returns `true` if it is known not to have changed for `span`, other than by an input; for longer, if it has a rhythm.
    fn was_quiet(&self, span: Duration, now: Instant) -> bool {
        let rhythm = self.rhythm.filter(|(_, at)| now - *at < MARK_LASTS);
        let slower = rhythm.map_or(1.0, |(gap, _)| (3 * gap).div_duration_f64(QUIET).max(1.0));
        now - self.since >= span && self.changed.is_none_or(|at| now - at >= span.mul_f64(slower))
    }

    fn keeps_changing(&self, now: Instant) -> bool {
        self.by_itself.is_some_and(|at| now - at < SELF_CHANGING_GAP_MAX)
    }
}

/// Since when each element is tracked, and when it last changed.
#[derive(Debug, Default)]
pub(crate) struct History {
    watched: Mutex<HashMap<ElementId, ElementChangeHistory>>,
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
                            kept.changed(id, shared.at_once(&one.object));
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

    fn watched(&self) -> MutexGuard<'_, HashMap<ElementId, ElementChangeHistory>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a change of an element, which comes at once if it does so within `at_once` after an input.
    fn changed(&self, id: ElementId, at_once: Duration) {
        let just_after_input = self.since_sent() <= at_once;
        if let Some(watched) = self.watched().get_mut(&id) {
            let now = Instant::now();
            watched.note(just_after_input, now);
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

    /// Returns the time since the last input was sent; [`Duration::MAX`] if there was none.
    pub(crate) fn since_sent(&self) -> Duration {
        self.last_input().sent.map_or(Duration::MAX, |at| at.elapsed())
    }

    /// Returns `true` if an input may not be handled yet.
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

    /// Returns the time since an application announced that something else is selected; [`Duration::MAX`] if none
    /// did.
    pub(crate) fn since_selection(&self) -> Duration {
        self.last_selection().map_or(Duration::MAX, |at| at.elapsed())
    }

    /// Returns the time since the last input was handled, as far as can be determined; zero if it may not be yet,
    /// and [`Duration::MAX`] if there was none.
    pub(crate) fn since_handled(&self) -> Duration {
        let last = self.last_input();
        match (last.sent, last.handled) {
            (None, _) => Duration::MAX,
            (Some(_), None) => Duration::ZERO,
            (Some(_), Some(at)) => at.elapsed(),
        }
    }

    /// See [`deskhand_desktop::Settling::mark_self_changing`].
    pub(crate) fn mark_self_changing(&self, element: ElementId, aspect: ElementChangeKind) {
        let now = Instant::now();
        let mut watched = self.watched();
        let watched = watched.entry(element).or_insert_with(|| ElementChangeHistory::new(now));
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
    pub(crate) fn is_self_changing(&self, element: ElementId, aspect: ElementChangeKind) -> bool {
        let now = Instant::now();
        let watched = self.watched();
        let is_marked =
            |(known, at): &(ElementChangeKind, Instant)| *known == aspect && now - *at < MARK_LASTS;
        watched
            .get(&element)
            .is_some_and(|watched| watched.keeps_changing(now) && watched.self_changing.iter().any(is_marked))
    }

    /// Returns `true` if any aspect of an element is self-changing now.
    pub(crate) fn keeps_changing(&self, element: ElementId) -> bool {
        let now = Instant::now();
        self.watched().get(&element).is_some_and(|watched| watched.keeps_changing(now))
    }

    /// See [`deskhand_desktop::Settling::recently_changed`].
    pub(crate) fn recently_changed(&self, elements: &[ElementId], span: Duration) -> Vec<ElementId> {
        self.track(elements.iter().copied());
        let now = Instant::now();
        let watched = self.watched();
        let is_recent = |id: &ElementId| watched.get(id).is_none_or(|one| !one.was_quiet(span, now));
        elements.iter().copied().filter(is_recent).collect()
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
            watched.entry(id).or_insert_with(|| ElementChangeHistory::new(now));
        }
    }

    /// See [`deskhand_desktop::Settling::attribute_to_action`].
    pub(crate) fn attribute_to_action(&self, element: ElementId) {
        if let Some(watched) = self.watched().get_mut(&element) {
            watched.changed = None;
            watched.attributed = Some(Instant::now());
        }
    }
}

/// Returns `true` if a change of this aspect is tracked.
const fn is_tracked(aspect: ElementChangeKind) -> bool {
    aspect.is_content() && !is_noise(aspect)
}

/// Returns `true` if a change of this aspect means that something else is selected or current, which other controls may follow.
const fn is_selection(aspect: ElementChangeKind) -> bool {
    matches!(
        aspect,
        ElementChangeKind::Selection
            | ElementChangeKind::ActiveDescendant
            | ElementChangeKind::State(State::Selected)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_marked_aspect_is_self_changing_until_its_element_is_idle() {
        let (history, clock, name) = (History::default(), ElementId(1), ElementChangeKind::Name);
        assert!(!history.is_self_changing(clock, name));
        history.mark_self_changing(clock, name);
        for _ in 0..10 {
            tokio::time::advance(SELF_CHANGING_GAP_MAX / 2).await;
            history.changed(clock, Duration::ZERO);
            assert!(history.is_self_changing(clock, name) && history.keeps_changing(clock));
        }
        assert!(!history.is_self_changing(clock, ElementChangeKind::Text), "another aspect");
        assert!(!history.keeps_changing(ElementId(2)), "another element");
        tokio::time::advance(SELF_CHANGING_GAP_MAX).await;
        assert!(!history.is_self_changing(clock, name), "the element was idle");
        history.changed(clock, Duration::ZERO);
        assert!(!history.is_self_changing(clock, name), "one change does not make it self-changing again");
        history.mark_self_changing(clock, ElementChangeKind::Text);
        assert!(!history.is_self_changing(clock, name), "the former mark is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_quiet_and_changes_at_once_after_inputs_is_told_from_what_changes_by_itself() {
        let (history, status, weather) = (History::default(), ElementId(1), ElementId(2));
        let at_once = Duration::from_millis(50);
        let is_recent = |element| !history.recently_changed(&[element], QUIET).is_empty();
        history.track([status, weather].into_iter());
        assert!(is_recent(status), "it was not tracked for long enough");
        for _ in 0..4 {
            tokio::time::advance(QUIET / 4).await;
            history.changed(weather, at_once);
        }
        for _ in 0..20 {
            history.record_input();
            tokio::time::advance(at_once / 2).await;
            history.changed(status, at_once);
            assert!(!is_recent(status));
            // Now and then this one changes just after an input by chance.
            history.changed(weather, at_once);
            tokio::time::advance(QUIET / 4).await;
            history.changed(weather, at_once);
            assert!(is_recent(weather));
        }
        history.record_input();
        tokio::time::advance(2 * at_once).await;
        history.changed(status, at_once);
        assert!(is_recent(status), "it came late");
        tokio::time::advance(QUIET).await;
        assert!(!is_recent(status) && !is_recent(weather), "that was long ago");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_late_once_does_not_count_as_quiet() {
        let (history, clock) = (History::default(), ElementId(1));
        let is_recent = || !history.recently_changed(&[clock], QUIET).is_empty();
        history.track([clock].into_iter());
        for _ in 0..5 {
            tokio::time::advance(Duration::from_secs(1)).await;
            history.changed(clock, Duration::ZERO);
        }
        tokio::time::advance(2 * QUIET - Duration::from_millis(1)).await;
        assert!(is_recent(), "it may be late");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!is_recent());
        // A single change has no rhythm.
        tokio::time::advance(MARK_LASTS).await;
        history.changed(clock, Duration::ZERO);
        tokio::time::advance(QUIET).await;
        assert!(!is_recent());
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_pieces_of_a_change_belong_to_the_action_that_the_first_was_attributed_to() {
        let (history, journal) = (History::default(), ElementId(1));
        let at_once = Duration::from_millis(50);
        let is_recent = || !history.recently_changed(&[journal], QUIET).is_empty();
        history.track([journal].into_iter());
        tokio::time::advance(QUIET).await;
        history.record_input();
        // The application was busy for a while.
        tokio::time::advance(10 * at_once).await;
        history.changed(journal, at_once);
        assert!(is_recent());
        history.attribute_to_action(journal);
        assert!(!is_recent());
        tokio::time::advance(PIECES / 2).await;
        history.changed(journal, at_once);
        assert!(!is_recent(), "a piece");
        tokio::time::advance(PIECES).await;
        history.changed(journal, at_once);
        assert!(is_recent(), "a change of its own");
    }

    #[tokio::test(start_paused = true)]
    async fn a_mark_expires_even_if_its_element_is_never_idle() {
        let (history, page, clock, text) =
            (History::default(), ElementId(1), ElementChangeKind::Name, ElementChangeKind::Text);
        history.mark_self_changing(page, clock);
        history.mark_self_changing(page, text);
        for at in 0..60 {
            tokio::time::advance(Duration::from_secs(1)).await;
            history.changed(page, Duration::ZERO);
            if at % 20 == 0 {
                history.mark_self_changing(page, clock);
            }
        }
        assert!(history.is_self_changing(page, clock), "it was marked again");
        assert!(!history.is_self_changing(page, text));
    }
}
