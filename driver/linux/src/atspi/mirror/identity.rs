//! Recognises elements after an application has rebuilt them as other objects.
//!
//! An element gets the id of one that is gone only if the match is unambiguous: the same role and name on the same
//! path, once before and once now, among siblings that leave no choice.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use deskhand_ui::{Element, Role, State, ids::ElementId};

use super::{
    super::{
        accessibility::Accessibility,
        application::Application,
        bus::{AtspiCallError, Bus, gone},
        details::read_states,
        wire::ObjectRef,
    },
    assemble::AssembledElement,
    trace::{ElementFingerprint, Snapshot},
};
use deskhand_desktop::DesktopResult;

/// The most lost elements that are searched in one look.
const LOST_MAX: usize = 500;

/// A position in a tree: the path of roles and names to it and its index among equal siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct TreePosition {
    path: u64,
    /// Number of siblings that have the same role and name.
    equals: usize,
    /// All siblings, in order.
    siblings: u64,
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The parent of each trace of a tree in reading order.
fn parents(traces: &[ElementFingerprint]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut parents = Vec::with_capacity(traces.len());
    for (at, trace) in traces.iter().enumerate() {
        while open.last().and_then(|last| traces.get(*last)).is_some_and(|last| last.depth >= trace.depth) {
            open.pop();
        }
        parents.push(open.last().copied());
        open.push(at);
    }
    parents
}

/// The place of each trace.
fn places(traces: &[ElementFingerprint]) -> Vec<TreePosition> {
    let parents = parents(traces);
    let mut siblings: HashMap<Option<usize>, Vec<(&Role, &str)>> = HashMap::new();
    let mut equals: HashMap<(Option<usize>, &Role, &str), usize> = HashMap::new();
    let mut order = Vec::with_capacity(traces.len());
    for (trace, parent) in traces.iter().zip(&parents) {
        siblings.entry(*parent).or_default().push((&trace.role, &trace.name));
        let count = equals.entry((*parent, &trace.role, &trace.name)).or_default();
        order.push(*count);
        *count += 1;
    }
    let mut places: Vec<TreePosition> = Vec::with_capacity(traces.len());
    for ((trace, parent), order) in traces.iter().zip(&parents).zip(order) {
        let above = parent.and_then(|parent| places.get(parent)).map_or(0, |place| place.path);
        places.push(TreePosition {
            path: hash((above, &trace.role, &trace.name, order)),
            equals: equals.get(&(*parent, &trace.role, &trace.name)).copied().unwrap_or(0),
            siblings: hash(siblings.get(parent)),
        });
    }
    places
}

/// An element without an id that can only be one of those before.
#[derive(Debug, PartialEq, Eq)]
struct Twin {
    /// Its index.
    at: usize,
    /// The id of the one before.
    id: ElementId,
    /// `true` if both show the same.
    is_same: bool,
}

/// The elements of `now` without an id, each with the id of the only one of `before` that it can be.
fn twins(before: &[ElementFingerprint], now: &[ElementFingerprint]) -> Vec<Twin> {
    let present: HashSet<ElementId> = now.iter().filter_map(|trace| trace.id).collect();
    let mut lost: HashMap<u64, Option<(ElementId, u64, TreePosition)>> = HashMap::new();
    for (trace, place) in before.iter().zip(places(before)) {
        let Some(id) = trace.id.filter(|id| !present.contains(id)) else { continue };
        lost.entry(place.path).and_modify(|found| *found = None).or_insert(Some((id, trace.content, place)));
    }
    if lost.is_empty() {
        return Vec::new();
    }
    let fits = |trace: &ElementFingerprint, was: &TreePosition, is: &TreePosition| {
        let by_siblings = trace.name.is_empty() || trace.role.is_row_or_cell() || is.equals > 1;
        was.equals == is.equals && (!by_siblings || was.siblings == is.siblings)
    };
    let mut found: Vec<Twin> = Vec::new();
    for ((at, trace), place) in now.iter().enumerate().zip(places(now)) {
        if trace.id.is_none()
            && let Some(Some((id, content, was))) = lost.get(&place.path)
            && fits(trace, was, &place)
        {
            found.push(Twin { at, id: *id, is_same: *content == trace.content });
        }
    }
    found.truncate(LOST_MAX);
    found
}

impl Accessibility {
    /// Passes the ids of elements that are gone to those that replaced them.
    pub(super) async fn find_again(
        &self,
        bus: &Bus,
        application: &Application,
        frame: &ObjectRef,
        found: &[AssembledElement],
    ) -> DesktopResult<()> {
        let before = self.with_mirror(|mirror| mirror.find(&application.root.bus)?.traces(frame));
        let Some(before) = before else { return Ok(()) };
        for before in [before.last, before.former] {
            let now = self.traces(found);
            if now.iter().all(|trace| trace.id.is_some()) {
                break;
            }
            self.take_over(bus, application, &before, &now, found).await?;
        }
        Ok(())
    }

    /// The traces of what was found, with the ids that are known.
    fn traces(&self, found: &[AssembledElement]) -> Vec<ElementFingerprint> {
        self.with_ids(|ids| {
            found.iter().map(|one| ElementFingerprint::of(ids.find_id(&one.object), &one.element)).collect()
        })
    }

    /// Assigns ids to the elements that match lost ones, if the former objects are gone.
    async fn take_over(
        &self,
        bus: &Bus,
        application: &Application,
        before: &Snapshot,
        now: &[ElementFingerprint],
        found: &[AssembledElement],
    ) -> DesktopResult<()> {
        for Twin { at, id, is_same } in twins(&before.traces, now) {
            let Some(AssembledElement { object, shift, element, .. }) = found.get(at) else { continue };
            if application.toolkit.makes_anew(&element.role) {
                self.with_ids(|ids| ids.rebind(id, object, *shift));
                continue;
            }
            // The object may only be hidden, as on another tab.
            let is_gone = match self.with_ids(|ids| ids.find(id)) {
                None => true,
                Some(known) => match read_states(bus, &known.object).await {
                    Ok(states) => states.has(State::Defunct),
                    Err(AtspiCallError::NoObject) => true,
                    Err(AtspiCallError::BusGone) => return Err(gone()),
                    Err(_) => false,
                },
            };
            if is_gone {
                let away = is_same.then(|| before.at.elapsed());
                self.with_ids(|ids| ids.find_again(id, object, *shift, away));
            }
        }
        Ok(())
    }

    /// The ids in the mirror of elements of a fresh walk, by their index in the walk, where the toolkit creates new
    /// objects each time an element is read.
    pub(super) fn known_otherwise(
        &self,
        application: &Application,
        frame: &ObjectRef,
        found: &[AssembledElement],
    ) -> HashMap<usize, ElementId> {
        let is_anew = |one: &AssembledElement| application.toolkit.makes_anew(&one.element.role);
        if !found.iter().any(is_anew) {
            return HashMap::new();
        }
        let before = self.with_mirror(|mirror| mirror.find(&application.root.bus)?.traces(frame));
        let Some(before) = before else { return HashMap::new() };
        let now = self.traces(found);
        let twins = twins(&before.last.traces, &now).into_iter();
        twins.filter(|twin| found.get(twin.at).is_some_and(is_anew)).map(|twin| (twin.at, twin.id)).collect()
    }

    /// Stores the traces of a window for the next look.
    pub(super) fn keep_traces(&self, application: &Application, frame: &ObjectRef, elements: &[Element]) {
        let traces =
            elements.iter().map(|element| ElementFingerprint::of(Some(element.id), element)).collect();
        self.with_mirror(|mirror| {
            if let Some(store) = mirror.find(&application.root.bus) {
                store.keep_traces(frame, traces);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Traces of lines of `depth role name`, with ids from `first` on, or without ids if it is 0.
    fn tree(first: u32, lines: &[(u16, &'static str, &str)]) -> Vec<ElementFingerprint> {
        let of = |(id, (depth, role, name)): (u32, &(u16, &'static str, &str))| ElementFingerprint {
            id: (first > 0).then_some(ElementId(id)),
            depth: *depth,
            role: Role::new(*role),
            name: (*name).to_owned(),
            content: 0,
        };
        (first..).zip(lines).map(of).collect()
    }

    fn check(before: &[ElementFingerprint], now: &[ElementFingerprint], expected: &[(usize, u32)]) {
        let twin = |(at, id): &(usize, u32)| Twin { at: *at, id: ElementId(*id), is_same: true };
        assert_eq!(twins(before, now), expected.iter().map(twin).collect::<Vec<_>>());
    }

    #[test]
    fn elements_rebuilt_without_a_change_keep_their_ids() {
        let lines =
            [(0, "frame", "F"), (1, "panel", ""), (2, "push button", "OK"), (2, "push button", "Cancel")];
        check(&tree(1, &lines), &tree(0, &lines), &[(0, 1), (1, 2), (2, 3), (3, 4)]);
    }

    #[test]
    fn it_is_told_whether_an_element_shows_the_same_as_before() {
        let lines = [(0, "frame", "F"), (1, "entry", "Name")];
        let mut now = tree(0, &lines);
        now[1].content = 1;
        let found: Vec<bool> = twins(&tree(1, &lines), &now).iter().map(|twin| twin.is_same).collect();
        assert_eq!(found, [true, false]);
    }

    #[test]
    fn a_control_is_recognised_beside_a_new_one_but_a_row_is_not() {
        let before = tree(1, &[(0, "frame", "F"), (1, "push button", "OK"), (1, "list item", "mail")]);
        let now = [
            tree(1, &[(0, "frame", "F")]),
            tree(0, &[(1, "push button", "OK"), (1, "list item", "mail"), (1, "push button", "More")]),
        ]
        .concat();
        check(&before, &now, &[(1, 2)]);
    }

    #[test]
    fn equal_siblings_that_became_fewer_are_not_matched() {
        let before = tree(1, &[(0, "frame", "F"), (1, "push button", "Edit"), (1, "push button", "Edit")]);
        let now = [tree(1, &[(0, "frame", "F")]), tree(0, &[(1, "push button", "Edit")])].concat();
        check(&before, &now, &[]);
        let kept = [tree(1, &[(0, "frame", "F")]), tree(2, &[(1, "push button", "Edit")])].concat();
        check(&before, &kept, &[]);
    }
}
