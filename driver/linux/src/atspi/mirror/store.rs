//! Store of the data read from the objects of applications, with marks for data that may have changed since.
//!
//! Time is a counter that every mark advances. A part of an object is current if it was read or confirmed after
//! every mark that made it stale. A read counts from the moment when it was sent, so a change that is announced
//! during a read is never lost, in whatever order the two arrive.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Instant,
};

use deskhand_ui::{
    Role, State, States,
    geometry::{Rect, Screen},
    ids::ElementId,
};

use super::{
    super::{
        application::AtspiFrameCriteria, details::Details, header::AtspiObjectHeader,
        view::VirtualContainerView, wire::ObjectRef,
    },
    parts::{AspectMoments, Moment, ObjectAspects},
    trace::{ElementFingerprint, Snapshot},
};

/// The most objects of one application that are stored; then those not seen for the longest time are dropped.
const NODES_MAX: usize = 40_000;
/// The most applications that are kept.
const APPLICATIONS_MAX: usize = 256;
/// The most drawn areas that are stored; then everything read before the oldest is stale.
const DRAWN_MAX: usize = 256;
/// The most windows whose frames are stored.
const FRAMES_MAX: usize = 256;

/// Stale part of the view of a virtual container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ViewStale {
    /// Nothing.
    Nothing,
    /// The states of the children in view.
    States,
    /// The children in these areas of the screen, and the states of all.
    Drawn(Vec<Rect<Screen>>),
    /// Everything.
    All,
}

/// Stored data of one object.
#[derive(Debug, Clone, Default)]
pub(crate) struct MirrorNode {
    pub(crate) states: States,
    pub(crate) head: Option<AtspiObjectHeader>,
    pub(crate) details: Option<Details>,
    pub(crate) children: Option<Arc<[ObjectRef]>>,
    view: Option<Arc<VirtualContainerView>>,
    /// Last bounds on the screen.
    bounds: Option<Rect<Screen>>,
    /// When each part was last confirmed or read.
    right_at: AspectMoments,
    view_at: Moment,
    /// When each part was last marked as stale.
    marked: AspectMoments,
    /// The same for all its descendants.
    marked_below: AspectMoments,
    /// `true` if the application reported it gone.
    gone: bool,
    /// When it was first asked for.
    since: Option<Instant>,
}

/// Stored properties of an object.
#[derive(Debug, Clone, Default)]
pub(crate) struct MirrorEntry {
    pub(crate) states: States,
    pub(crate) head: Option<AtspiObjectHeader>,
    pub(crate) details: Option<Details>,
    /// When each part of its descendants was last marked as stale.
    pub(crate) below: AspectMoments,
}

/// An area that was drawn.
#[derive(Debug, Clone, Copy)]
struct DrawnRegion {
    moment: Moment,
    area: Rect<Screen>,
}

/// Stored data of one application.
#[derive(Debug)]
pub(crate) struct MirrorStore {
    nodes: HashMap<ObjectRef, MirrorNode>,
    now: Moment,
    /// Everything confirmed before these moments is stale.
    all_marked: AspectMoments,
    /// The parts that drawing makes stale.
    drawn_parts: ObjectAspects,
    drawn: VecDeque<DrawnRegion>,
    /// When an event concerned an unknown object, such as a cell of a virtual table.
    unknown_marked: Moment,
    /// When the top-level objects or their names may have changed.
    frames_marked: Moment,
    frames: HashMap<AtspiFrameCriteria, (ObjectRef, Moment)>,
    /// Bounds of the window of each frame at the last look.
    placed: HashMap<ObjectRef, Rect<Screen>>,
    /// Traces by which the elements of each frame are recognised.
    traces: HashMap<ObjectRef, Traces>,
    /// `true` if the application did not answer last time.
    slow: bool,
}

/// Traces by which the elements of a frame are recognised.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traces {
    /// At the last look.
    pub(super) last: Snapshot,
    /// At the look before most of them disappeared, as behind a modal dialog of a web page.
    pub(super) former: Snapshot,
}

impl MirrorStore {
    pub(crate) fn new(drawn_parts: ObjectAspects) -> Self {
        let mut all_marked = AspectMoments::default();
        // No part was read at moment 0.
        all_marked.raise(ObjectAspects::ALL, 1);
        Self {
            nodes: HashMap::new(),
            now: 1,
            all_marked,
            drawn_parts,
            drawn: VecDeque::new(),
            unknown_marked: 1,
            frames_marked: 1,
            frames: HashMap::new(),
            placed: HashMap::new(),
            traces: HashMap::new(),
            slow: false,
        }
    }

    /// The current moment: what is read from now on counts from here.
    pub(crate) fn now(&self) -> Moment {
        self.now
    }

    fn next(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    /// Marks parts of an object as stale.
    pub(crate) fn mark(&mut self, object: &ObjectRef, parts: ObjectAspects) {
        let now = self.next();
        if !self.has(object) {
            self.unknown_marked = now;
        }
        if let Some(node) = self.nodes.get_mut(object) {
            node.marked.raise(parts, now);
        }
    }

    /// Marks parts of an object and of all its descendants as stale.
    pub(crate) fn mark_with_inside(&mut self, object: &ObjectRef, parts: ObjectAspects) {
        let now = self.next();
        if !self.has(object) {
            self.unknown_marked = now;
        }
        if let Some(node) = self.nodes.get_mut(object) {
            node.marked.raise(parts, now);
            node.marked_below.raise(parts, now);
        }
    }

    /// Marks parts of all descendants of an object as stale, also for a look that has already passed the object.
    pub(crate) fn mark_inside(
        &mut self,
        object: &ObjectRef,
        parts: ObjectAspects,
        below: &mut AspectMoments,
    ) {
        let now = self.next();
        below.raise(parts, now);
        if let Some(node) = self.nodes.get_mut(object) {
            node.marked_below.raise(parts, now);
        }
    }

    /// Marks parts of the known children of an object as stale.
    pub(crate) fn mark_children(&mut self, object: &ObjectRef, parts: ObjectAspects) {
        let children = self.nodes.get(object).and_then(|node| node.children.clone());
        self.mark(object, parts);
        for child in children.iter().flat_map(|children| children.iter()) {
            self.mark(child, parts);
        }
    }

    /// Returns the role of an object, if it was read.
    pub(super) fn role(&self, object: &ObjectRef) -> Option<Role> {
        Some(self.nodes.get(object)?.head.as_ref()?.role.clone())
    }

    /// Marks the list of frames as stale: top-level objects or their names may have changed.
    pub(crate) fn mark_frames(&mut self) {
        self.frames_marked = self.next();
    }

    /// Marks everything as stale.
    pub(crate) fn mark_all(&mut self) {
        let now = self.next();
        self.all_marked.raise(ObjectAspects::ALL, now);
        self.unknown_marked = now;
        self.frames_marked = now;
    }

    /// Returns `true` if an object is stored.
    pub(crate) fn has(&self, object: &ObjectRef) -> bool {
        self.nodes.get(object).is_some_and(|node| !node.gone)
    }

    /// Returns `true` if an object was not yet asked for at a moment.
    pub(crate) fn is_newer(&self, object: &ObjectRef, than: Instant) -> bool {
        self.nodes.get(object).and_then(|node| node.since).is_none_or(|since| since > than)
    }

    /// Returns `true` if an object was showing when its states were read.
    pub(crate) fn shows(&self, object: &ObjectRef) -> bool {
        self.nodes.get(object).is_some_and(|node| node.states.has(State::Showing))
    }

    /// The menus of the menu bars that were read, at most `max`.
    pub(crate) fn menus_in_bars(&self, max: usize) -> Vec<ObjectRef> {
        let is_bar = |node: &&MirrorNode| node.head.as_ref().is_some_and(|head| head.role == Role::MENU_BAR);
        let bars = self.nodes.values().filter(|node| !node.gone).filter(is_bar);
        let menus = bars.filter_map(|bar| bar.children.as_ref()).flat_map(|menus| menus.iter());
        menus.take(max).cloned().collect()
    }

    /// Returns `true` if an object is the frame of a window that was looked at.
    pub(crate) fn is_frame(&self, object: &ObjectRef) -> bool {
        self.placed.contains_key(object)
    }

    /// Removes an object. An empty node stays in its place, with all descendants marked as stale: if the object comes
    /// back, because it was moved to another parent or reported itself gone by mistake, marks still reach its
    /// descendants.
    pub(crate) fn remove(&mut self, object: &ObjectRef) {
        let now = self.next();
        match self.nodes.get_mut(object).filter(|node| !node.gone) {
            Some(node) => {
                *node = MirrorNode { gone: true, ..MirrorNode::default() };
                node.marked.raise(ObjectAspects::ALL, now);
                node.marked_below.raise(ObjectAspects::ALL, now);
            }
            None => self.unknown_marked = now,
        }
        if self.placed.remove(object).is_some() {
            self.traces.remove(object);
            self.frames_marked = now;
        }
    }

    /// Records that the application drew an area of the screen.
    pub(crate) fn draw(&mut self, area: Rect<Screen>) {
        let moment = self.next();
        // An area that is drawn repeatedly, such as a caret, is stored once.
        self.drawn.retain(|drawn| drawn.area != area);
        self.drawn.push_back(DrawnRegion { moment, area });
        if self.drawn.len() > DRAWN_MAX
            && let Some(oldest) = self.drawn.pop_front()
        {
            self.all_marked.raise(self.drawn_parts, oldest.moment);
            self.unknown_marked = self.unknown_marked.max(oldest.moment);
        }
    }

    /// Returns `true` if any area in `within` was drawn after a moment.
    fn drawn_since(&self, moment: Moment, within: Rect<Screen>) -> bool {
        self.drawn
            .iter()
            .rev()
            .take_while(|drawn| drawn.moment > moment)
            .any(|drawn| drawn.area.intersection(&within).is_some())
    }

    /// The frame of a window, if it is stored and the list of frames is current.
    pub(crate) fn frame_of(&self, window: &AtspiFrameCriteria) -> Option<ObjectRef> {
        let (frame, found_at) = self.frames.get(window)?;
        (*found_at >= self.frames_marked).then(|| frame.clone())
    }

    /// Stores the frame of a window, found from what was read at a moment.
    pub(crate) fn keep_frame(&mut self, window: &AtspiFrameCriteria, frame: &ObjectRef, read_at: Moment) {
        if self.frames.len() >= FRAMES_MAX {
            self.frames.clear();
        }
        self.frames.insert(window.clone(), (frame.clone(), read_at));
    }

    /// Records that the window of a frame is at `bounds`; extents are stale if it moved.
    pub(crate) fn place(&mut self, frame: &ObjectRef, bounds: Rect<Screen>) {
        if self.placed.len() >= FRAMES_MAX {
            self.placed.clear();
        }
        if self.placed.insert(frame.clone(), bounds).is_some_and(|before| before != bounds) {
            self.mark_with_inside(frame, ObjectAspects::EXTENTS);
        }
    }

    /// Returns the stored properties of an object and its stale parts, given the marks of its ancestors and the
    /// position of its parent. A new object gets a node, so that marks reach it.
    pub(crate) fn ask(
        &mut self,
        object: &ObjectRef,
        inherited: &AspectMoments,
        parent_bounds: Option<Rect<Screen>>,
    ) -> (MirrorEntry, ObjectAspects) {
        match self.nodes.get_mut(object) {
            Some(node) => node.gone = false,
            None => {
                self.make_room();
                self.nodes.insert(
                    object.clone(),
                    MirrorNode { since: Some(Instant::now()), ..MirrorNode::default() },
                );
            }
        }
        let Some(node) = self.nodes.get(object) else { return (MirrorEntry::default(), ObjectAspects::ALL) };
        let marked = node.marked.later(inherited).later(&self.all_marked);
        let mut stale = ObjectAspects::NONE;
        for part in ObjectAspects::EACH {
            let right_at = node.right_at.get(part);
            let drawn = || {
                self.drawn_parts.has(part)
                    && node.bounds.or(parent_bounds).is_none_or(|bounds| self.drawn_since(right_at, bounds))
            };
            // Some toolkits do not announce that an element lost the focus.
            let focused = part == ObjectAspects::STATES && node.states.has(State::Focused);
            if right_at < marked.get(part) || focused || drawn() {
                stale = stale.and(part);
            }
        }
        let known = MirrorEntry {
            states: node.states,
            head: node.head.clone(),
            details: node.details.clone(),
            below: inherited.later(&node.marked_below),
        };
        (known, stale)
    }

    /// Confirms parts of an object as read, or found current, at a moment.
    pub(crate) fn confirm(&mut self, object: &ObjectRef, parts: ObjectAspects, moment: Moment) {
        if let Some(node) = self.nodes.get_mut(object) {
            node.right_at.raise(parts, moment);
        }
    }

    /// Changes what is stored of an object.
    pub(crate) fn update(&mut self, object: &ObjectRef, change: impl FnOnce(&mut MirrorNode)) {
        if let Some(node) = self.nodes.get_mut(object) {
            change(node);
        }
    }

    /// The object that lists another one as its child. Some say nothing of their parents themselves, as the views of Dolphin.
    pub(crate) fn parent(&self, child: &ObjectRef) -> Option<ObjectRef> {
        let has_it =
            |node: &MirrorNode| node.children.as_ref().is_some_and(|children| children.contains(child));
        self.nodes.iter().find(|(_, node)| !node.gone && has_it(node)).map(|(parent, _)| parent.clone())
    }

    /// The stored children of an object.
    pub(crate) fn children(&self, object: &ObjectRef) -> Option<Arc<[ObjectRef]>> {
        self.nodes.get(object)?.children.clone()
    }

    /// The stored view of a virtual container, and what of it is stale.
    pub(crate) fn ask_view(
        &self,
        table: &ObjectRef,
        inherited: &AspectMoments,
    ) -> (Option<Arc<VirtualContainerView>>, ViewStale) {
        let Some(node) = self.nodes.get(table) else { return (None, ViewStale::All) };
        let marked = node.marked.later(inherited).later(&node.marked_below).later(&self.all_marked);
        let tells_all = self.drawn_parts.and(ObjectAspects::KIND) == ObjectAspects::ALL;
        // If every change is drawn, events of unknown objects add nothing.
        let unknown = if tells_all { 0 } else { self.unknown_marked };
        let all = marked.body.max(marked.extents).max(marked.children).max(unknown);
        let drawn: Vec<Rect<Screen>> = match node.bounds {
            Some(bounds) => {
                let since = self.drawn.iter().rev().take_while(|drawn| drawn.moment > node.view_at);
                since.filter_map(|drawn| drawn.area.intersection(&bounds)).collect()
            }
            None => Vec::new(),
        };
        let stale = if node.view.is_none() || node.view_at < all || (!tells_all && !drawn.is_empty()) {
            ViewStale::All
        } else if !drawn.is_empty() {
            ViewStale::Drawn(drawn)
        } else if node.view_at < marked.states {
            ViewStale::States
        } else {
            ViewStale::Nothing
        };
        (node.view.clone(), stale)
    }

    fn make_room(&mut self) {
        if self.nodes.len() < NODES_MAX {
            return;
        }
        let mut seen: Vec<Moment> = self.nodes.values().map(|node| node.right_at.states).collect();
        let (_, middle, _) = seen.select_nth_unstable(NODES_MAX / 2);
        let middle = *middle;
        self.nodes.retain(|_, node| node.right_at.states > middle);
    }

    /// The traces of a frame.
    pub(crate) fn traces(&self, frame: &ObjectRef) -> Option<Traces> {
        self.traces.get(frame).cloned()
    }

    /// Stores the traces of a frame.
    pub(crate) fn keep_traces(&mut self, frame: &ObjectRef, traces: Arc<[ElementFingerprint]>) {
        if self.traces.len() >= FRAMES_MAX {
            self.traces.clear();
        }
        let kept = self.traces.entry(frame.clone()).or_default();
        let before = std::mem::replace(&mut kept.last, Snapshot { traces, at: Instant::now() });
        let present: HashSet<ElementId> = kept.last.traces.iter().filter_map(|trace| trace.id).collect();
        let is_gone = |trace: &&ElementFingerprint| trace.id.is_some_and(|id| !present.contains(&id));
        if 2 * before.traces.iter().filter(is_gone).count() > before.traces.len() {
            kept.former = before;
        }
    }

    /// Returns `true` if the application did not answer last time.
    pub(crate) fn is_slow(&self) -> bool {
        self.slow
    }

    /// Records whether the application did not answer.
    pub(crate) fn set_slow(&mut self, slow: bool) {
        self.slow = slow;
    }
}

impl MirrorNode {
    /// Records its position on the screen.
    pub(crate) fn place(&mut self, bounds: Option<Rect<Screen>>) {
        self.bounds = bounds;
    }

    /// Stores the view as it was read at a moment.
    pub(crate) fn keep_view(&mut self, view: Arc<VirtualContainerView>, moment: Moment) {
        self.view = Some(view);
        self.view_at = moment;
    }
}

/// The stores of all applications, by bus name.
#[derive(Debug, Default)]
pub(crate) struct AtspiMirror {
    stores: HashMap<Arc<str>, MirrorStore>,
}

impl AtspiMirror {
    /// The store of an application that has one.
    pub(crate) fn find(&mut self, bus: &str) -> Option<&mut MirrorStore> {
        self.stores.get_mut(bus)
    }

    /// The store of an application, created if it has none.
    pub(crate) fn store(&mut self, bus: &Arc<str>, drawn_parts: ObjectAspects) -> &mut MirrorStore {
        if self.stores.len() >= APPLICATIONS_MAX && !self.stores.contains_key(bus) {
            self.stores.clear();
        }
        self.stores.entry(Arc::clone(bus)).or_insert_with(|| MirrorStore::new(drawn_parts))
    }

    /// Removes the store of an application.
    pub(crate) fn forget(&mut self, bus: &str) {
        self.stores.remove(bus);
    }

    /// The stores of all applications.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = (&Arc<str>, &mut MirrorStore)> {
        self.stores.iter_mut()
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
