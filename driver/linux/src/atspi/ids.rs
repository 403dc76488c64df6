//! The ids of elements: one for each object, valid for the life of the object.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use deskhand_ui::{ElementTreePath, Tree, ids::ElementId};

use super::{shift::Shift, wire::ObjectRef};

/// The most objects that are remembered; then those not seen for the longest time are forgotten.
const OBJECTS_MAX: usize = 60_000;

/// Data of an element that is stored between calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ElementObject {
    /// The object behind the element.
    pub(crate) object: ObjectRef,
    /// The correction of the coordinates of its toolkit.
    pub(crate) shift: Shift,
}

#[derive(Debug)]
struct ElementIdEntry {
    known: ElementObject,
    seen: u64,
    /// `true` if the object is gone; the element may be recognised again.
    gone: bool,
    /// When the element was recognised as another object, and for how long at most it was away if it still shows the same.
    found_again: Option<(Instant, Option<Duration>)>,
    /// Place where it was last listed.
    place: Option<ElementTreePath>,
}

/// Which object has which id. Ids are never reused.
#[derive(Debug, Default)]
pub(crate) struct ElementIds {
    by_object: HashMap<ObjectRef, ElementId>,
    by_id: HashMap<ElementId, ElementIdEntry>,
    /// The cells of tables that identify them by position: table, row and column.
    by_place: HashMap<(ElementId, u32, u32), ElementId>,
    last: u32,
    clock: u64,
}

impl ElementIds {
    /// The id of an object, assigned if it has none yet.
    pub(crate) fn id_of(&mut self, object: &ObjectRef, shift: Shift) -> ElementId {
        self.clock += 1;
        if let Some(id) = self.by_object.get(object) {
            if let Some(entry) = self.by_id.get_mut(id) {
                entry.seen = self.clock;
                entry.known.shift = shift;
            }
            return *id;
        }
        if self.by_id.len() >= OBJECTS_MAX {
            self.forget_oldest();
        }
        self.last = self.last.saturating_add(1);
        let id = ElementId(self.last);
        let known = ElementObject { object: object.clone(), shift };
        self.by_object.insert(object.clone(), id);
        self.by_id.insert(
            id,
            ElementIdEntry { known, seen: self.clock, gone: false, found_again: None, place: None },
        );
        id
    }

    /// An id that no object has or will get.
    pub(crate) fn reserve(&mut self) -> ElementId {
        self.last = self.last.saturating_add(1);
        ElementId(self.last)
    }

    /// Assigns only ids above `given` from now on.
    pub(crate) fn start_above(&mut self, given: u32) {
        self.last = self.last.max(given);
    }

    /// The id of a cell that is identified by its position in a table, whichever object it is now.
    pub(crate) fn id_of_cell(
        &mut self,
        table: ElementId,
        place: (u32, u32),
        object: &ObjectRef,
        shift: Shift,
    ) -> ElementId {
        let key = (table, place.0, place.1);
        match self.by_place.get(&key).copied().filter(|id| self.by_id.contains_key(id)) {
            Some(id) => {
                if self.by_object.get(object) != Some(&id) {
                    self.rebind(id, object, shift);
                }
                self.id_of(object, shift)
            }
            None => {
                // The object may have been another cell before.
                self.by_object.remove(object);
                let id = self.id_of(object, shift);
                self.by_place.insert(key, id);
                id
            }
        }
    }

    /// Returns the stored data of an element.
    pub(crate) fn find(&self, id: ElementId) -> Option<ElementObject> {
        self.by_id.get(&id).filter(|entry| !entry.gone).map(|entry| entry.known.clone())
    }

    /// Records where the elements of a tree are listed.
    pub(crate) fn keep_places(&mut self, tree: &Tree) {
        for (element, place) in tree.places() {
            if let Some(entry) = self.by_id.get_mut(&element.id) {
                entry.place = Some(place);
            }
        }
    }

    /// Returns the place where an element was last listed, also if its object is gone.
    pub(crate) fn last_place(&self, id: ElementId) -> Option<ElementTreePath> {
        self.by_id.get(&id)?.place
    }

    /// The id of an object that was seen before.
    pub(crate) fn find_id(&self, object: &ObjectRef) -> Option<ElementId> {
        self.by_object.get(object).copied()
    }

    /// Marks an object as gone.
    pub(crate) fn forget(&mut self, object: &ObjectRef) {
        if let Some(entry) = self.by_object.remove(object).and_then(|id| self.by_id.get_mut(&id)) {
            entry.gone = true;
        }
    }

    /// Records that an element is another object now, after it was gone for a while: for `away` at most if it still shows
    /// the same.
    pub(crate) fn find_again(
        &mut self,
        id: ElementId,
        object: &ObjectRef,
        shift: Shift,
        away: Option<Duration>,
    ) {
        self.rebind(id, object, shift);
        if let Some(entry) = self.by_id.get_mut(&id) {
            entry.found_again = Some((Instant::now(), away));
        }
    }

    /// Returns the time that an element was away that was recognised again within the last `span`: changes in
    /// between are unknown. [`Duration::MAX`] if it shows something else than before; zero if it was not away.
    pub(crate) fn away(&self, id: ElementId, span: Duration) -> Duration {
        let found_again = self.by_id.get(&id).and_then(|entry| entry.found_again);
        found_again
            .filter(|(at, _)| at.elapsed() < span)
            .map_or(Duration::ZERO, |(_, away)| away.unwrap_or(Duration::MAX))
    }

    /// Records that an element is another object now.
    pub(crate) fn rebind(&mut self, id: ElementId, object: &ObjectRef, shift: Shift) {
        let Some(entry) = self.by_id.get_mut(&id) else { return };
        let before = std::mem::replace(&mut entry.known, ElementObject { object: object.clone(), shift });
        entry.gone = false;
        if self.by_object.get(&before.object) == Some(&id) {
            self.by_object.remove(&before.object);
        }
        self.by_object.insert(object.clone(), id);
    }

    /// Forgets the application with that bus name.
    pub(crate) fn forget_application(&mut self, bus: &str) {
        self.by_object.retain(|object, _| &*object.bus != bus);
        self.by_id.retain(|_, entry| &*entry.known.object.bus != bus);
        self.forget_places();
    }

    /// Forgets the quarter not seen for the longest time.
    fn forget_oldest(&mut self) {
        let mut seen: Vec<u64> = self.by_id.values().map(|entry| entry.seen).collect();
        let (_, limit, _) = seen.select_nth_unstable(OBJECTS_MAX / 4);
        let limit = *limit;
        self.by_id.retain(|_, entry| entry.seen > limit);
        let by_id = &self.by_id;
        self.by_object.retain(|_, id| by_id.contains_key(id));
        self.forget_places();
    }

    fn forget_places(&mut self) {
        let by_id = &self.by_id;
        self.by_place.retain(|_, id| by_id.contains_key(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(number: usize) -> ObjectRef {
        ObjectRef::new(&format!(":1.{}", number % 2), &format!("/{number}"))
    }

    #[test]
    fn an_object_keeps_its_id_and_ids_are_never_reused() {
        let mut ids = ElementIds::default();
        let first = ids.id_of(&object(1), Shift::NONE);
        assert_eq!(ids.id_of(&object(1), Shift { x: 0, y: 25, ..Shift::NONE }), first);
        assert_eq!(ids.find(first).map(|known| known.shift.y), Some(25));
        ids.forget(&object(1));
        assert_eq!(ids.find(first), None);
        assert_ne!(ids.id_of(&object(1), Shift::NONE), first);
        ids.forget_application(":1.1");
        assert_eq!(ids.find_id(&object(1)), None);
    }

    #[test]
    fn an_element_that_became_another_object_keeps_its_id() {
        let mut ids = ElementIds::default();
        let id = ids.id_of(&object(1), Shift::NONE);
        ids.forget(&object(1));
        let (long, short) = (Duration::from_secs(600), Duration::from_millis(100));
        assert_eq!(ids.away(id, long), Duration::ZERO);
        ids.find_again(id, &object(5), Shift::NONE, Some(short));
        assert_eq!((ids.away(id, long), ids.away(id, Duration::ZERO)), (short, Duration::ZERO));
        ids.find_again(id, &object(3), Shift::NONE, None);
        assert_eq!(ids.away(id, long), Duration::MAX, "it shows something else");
        assert_eq!(ids.find(id).map(|known| known.object), Some(object(3)));
        assert_eq!(ids.id_of(&object(3), Shift::NONE), id);
        assert_ne!(ids.id_of(&object(1), Shift::NONE), id);
    }

    #[test]
    fn a_cell_is_identified_by_its_position_not_its_object() {
        let mut ids = ElementIds::default();
        let table = ids.id_of(&object(0), Shift::NONE);
        let cell = ids.id_of_cell(table, (0, 1), &object(1), Shift::NONE);
        assert_eq!(ids.id_of_cell(table, (0, 1), &object(2), Shift::NONE), cell);
        assert_eq!(ids.find(cell).map(|known| known.object), Some(object(2)));
        assert_ne!(ids.id_of_cell(table, (5, 1), &object(2), Shift::NONE), cell, "a reused object");
        assert_eq!(ids.id_of_cell(table, (0, 1), &object(3), Shift::NONE), cell);
    }

    #[test]
    fn elements_not_seen_for_longest_are_forgotten_first() {
        let mut ids = ElementIds::default();
        let all: Vec<ElementId> = (0..OBJECTS_MAX).map(|at| ids.id_of(&object(at), Shift::NONE)).collect();
        ids.id_of(&object(0), Shift::NONE);
        ids.id_of(&object(OBJECTS_MAX), Shift::NONE);
        assert!(ids.find(all[0]).is_some(), "seen again");
        assert!(ids.find(all[1]).is_none(), "the oldest");
        assert!(ids.by_id.len() < OBJECTS_MAX && ids.by_id.len() == ids.by_object.len());
    }
}
