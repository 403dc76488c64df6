//! Reads one object of a look from its application: what is stale, and no more.

use std::sync::{Arc, atomic::Ordering};

use deskhand_ui::{
    Role, State, States,
    geometry::{Rect, Screen},
};

use super::{
    super::{
        bus::{AtspiCallError, CallResult},
        component::extents,
        details::{read_details, read_head, read_head_again, read_states_of},
        header::AtspiObjectHeader,
        wire::ObjectRef,
    },
    parts::{Moment, ObjectAspects},
    store::MirrorEntry,
    walk::{AtspiTreeWalk, WalkQueueEntry},
};

/// The result of reading one object.
pub(super) struct ObjectReadResult {
    pub(super) known: MirrorEntry,
    /// `true` if it is showing.
    pub(super) shows: bool,
    /// The parts that were read, and when.
    pub(super) fresh: ObjectAspects,
    pub(super) read_at: Moment,
    /// The extents that it reported before, if known.
    pub(super) was_at: Option<Option<Rect<Screen>>>,
}

impl ObjectReadResult {
    /// Returns `true` if it was present and now reports itself gone, as the first document of a Chromium window does: its
    /// parent does not announce that.
    pub(super) fn has_ended(&self) -> bool {
        !self.shows && self.known.head.is_some() && self.known.states.has(State::Defunct)
    }
}

/// A node whose children belong to the tree.
pub(super) struct Parent {
    pub(super) at: usize,
    pub(super) object: ObjectRef,
    pub(super) role: Role,
    pub(super) count: u32,
    /// Area where its children have to be, if there are too many to list all.
    pub(super) view: Option<Rect<Screen>>,
    /// Its children, if the store has them.
    pub(super) known: Option<Arc<[ObjectRef]>>,
}

impl AtspiTreeWalk<'_, '_> {
    /// Reads the stale parts of one object; `None` if it cannot be read and nothing is stored.
    pub(super) async fn read(
        &self,
        wanted: &WalkQueueEntry,
        known: MirrorEntry,
        stale: ObjectAspects,
    ) -> CallResult<Option<ObjectReadResult>> {
        let toolkit = self.application.toolkit;
        let parent = wanted.parent.and_then(|at| self.nodes.get(at)).map(|parent| &parent.element.role);
        let shows = |states| {
            parent.is_none() || toolkit.shows(states, parent) || toolkit.looks_into_defunct(states, parent)
        };
        let mut needs = stale.without(ObjectAspects::CHILDREN);
        let is_choice = known.head.as_ref().is_some_and(|head| toolkit.tells_choice_by_selection(&head.role));
        // The list inside of it may have come since.
        let tells_none = known.details.as_ref().is_some_and(|details| details.text.is_none());
        if is_choice && (stale.has(ObjectAspects::EXTENTS) || tells_none) {
            needs = needs.and(ObjectAspects::BODY);
        }
        let by_place = known.head.as_ref().zip(known.details.as_ref()).is_some_and(|(head, details)| {
            toolkit.shows_by_place(&head.role, parent)
                || toolkit.recycles(&head.role)
                || parent.is_some_and(|parent| toolkit.recycles(parent))
                || toolkit.is_out_of_view((&head.role, head.states), parent, details.reported)
        });
        if !self.limits.bounds_now && known.details.is_some() && !by_place {
            needs = needs.without(ObjectAspects::EXTENTS);
        }
        if self.stalled.load(Ordering::Relaxed) || needs == ObjectAspects::NONE {
            let unread = known.head.is_none() && needs.has(ObjectAspects::STATES);
            let shows = shows(known.states) && known.head.is_some() && known.details.is_some();
            let read =
                ObjectReadResult { shows, known, fresh: ObjectAspects::NONE, read_at: 0, was_at: None };
            return Ok((!unread).then_some(read));
        }
        let read_at = self.with_store(|store| store.now());
        let result = self.read_parts(&wanted.object, known, needs, read_at, shows).await;
        if matches!(result, Err(AtspiCallError::NotAnswering { .. })) {
            self.stalled.store(true, Ordering::Relaxed);
        }
        result.map(Some)
    }

    async fn read_parts(
        &self,
        object: &ObjectRef,
        mut known: MirrorEntry,
        needs: ObjectAspects,
        read_at: Moment,
        shows: impl Fn(States) -> bool,
    ) -> CallResult<ObjectReadResult> {
        let toolkit = self.application.toolkit;
        let seeded = self.seed.as_ref().filter(|_| needs.has(ObjectAspects::BODY));
        let seeded = seeded.and_then(|(seed, at)| seed.head(object).map(|head| (seed, head, *at)));
        let mut read_at = read_at;
        let was_at = known.details.as_ref().map(|details| details.reported);
        let mut fresh = ObjectAspects::STATES;
        if let Some((_, head, seeded_at)) = &seeded {
            known.states = head.states;
            read_at = read_at.min(*seeded_at);
        } else if needs.has(ObjectAspects::STATES) {
            known.states = read_states_of(&self.bus, object, toolkit).await?;
        } else {
            fresh = ObjectAspects::NONE;
        }
        if !shows(known.states) {
            return Ok(ObjectReadResult { known, shows: false, fresh, read_at, was_at: None });
        }
        if needs.has(ObjectAspects::KIND_AND_BODY) || known.head.is_none() || known.details.is_none() {
            let same_kind = known.head.take().filter(|_| !needs.has(ObjectAspects::KIND));
            fresh = fresh.and(if same_kind.is_some() {
                ObjectAspects::BODY
            } else {
                ObjectAspects::KIND_AND_BODY
            });
            let head = match (seeded, same_kind) {
                (Some((seed, head, _)), _) if seed.is_uncounted(object) => {
                    AtspiObjectHeader { child_count: self.bus.child_count(object).await?, ..head.clone() }
                }
                (Some((_, head, _)), _) => head.clone(),
                (None, Some(head)) => read_head_again(&self.bus, object, toolkit, &head).await?,
                (None, None) => read_head(&self.bus, object, toolkit, known.states).await?,
            };
            let reported = was_at.filter(|_| !needs.has(ObjectAspects::EXTENTS));
            if reported.is_none() {
                fresh = fresh.and(ObjectAspects::EXTENTS);
            }
            known.details = Some(read_details(&self.bus, object, toolkit, &head, reported).await?);
            known.head = Some(head);
        } else if needs.has(ObjectAspects::EXTENTS) {
            let reported = match extents(&self.bus, object).await {
                Err(AtspiCallError::Refused(_)) => None,
                other => other?,
            };
            if let Some(details) = &mut known.details {
                details.reported = reported;
            }
            fresh = fresh.and(ObjectAspects::EXTENTS);
        }
        if let Some(head) = &mut known.head {
            head.states = known.states;
        }
        Ok(ObjectReadResult { known, shows: true, fresh, read_at, was_at })
    }

    pub(super) async fn read_children(&self, parent: &Parent) -> CallResult<(Arc<[ObjectRef]>, Moment)> {
        if let Some((seed, read_at)) = &self.seed
            && self.application.toolkit.caches_children
            && let Some(children) = seed.complete_children(&parent.object, parent.count)
        {
            return Ok((children.into(), *read_at));
        }
        let read_at = self.with_store(|store| store.now());
        Ok((self.children_of(parent).await?.into(), read_at))
    }
}
