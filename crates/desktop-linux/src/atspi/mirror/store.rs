//! What was read of the objects of applications, and which of it may have changed since.
//!
//! Time is a counter here that every mark moves on. A part of an object is right as long as it was read, or
//! found right, after everything that made it doubtful. So a change that is announced while a read is under way
//! is never lost, in whatever order the two come in: the read counts from when it was sent.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use deskhand_core::{
    geometry::{Rect, Screen},
    ids::ElementId,
    ui::{State, States},
};

use super::{
    super::{
        application::WindowFacts,
        details::{Details, Head},
        view::View,
        wire::ObjectRef,
    },
    parts::{Moment, Moments, Parts},
    trace::Trace,
};

/// The most objects of one application that are kept; beyond, those that were not seen for longest are dropped.
const NODES_MAX: usize = 40_000;
/// The most applications that are kept.
const APPLICATIONS_MAX: usize = 256;
/// The most drawn areas that are kept apart; beyond, what was looked at before the oldest is doubtful as a whole.
const DRAWN_MAX: usize = 256;
/// The most windows whose frames are remembered.
const FRAMES_MAX: usize = 256;

/// What is doubtful of the view of a virtual container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ViewDoubt {
    /// Nothing.
    Nothing,
    /// The states of what is in view.
    States,
    /// What lies in these areas of the screen, and the states.
    Drawn(Vec<Rect<Screen>>),
    /// Everything.
    All,
}

/// What is known of one object.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    pub(crate) states: States,
    pub(crate) head: Option<Head>,
    pub(crate) details: Option<Details>,
    pub(crate) children: Option<Arc<[ObjectRef]>>,
    view: Option<Arc<View>>,
    /// Where it was on the screen.
    bounds: Option<Rect<Screen>>,
    /// When each part was known to be right for the last time.
    right_at: Moments,
    view_at: Moment,
    /// When each part became doubtful for the last time.
    marked: Moments,
    /// The same for everything in it.
    marked_below: Moments,
    /// Whether the application said that it is gone.
    gone: bool,
}

/// The answer to what is known of an object.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) states: States,
    pub(crate) head: Option<Head>,
    pub(crate) details: Option<Details>,
    /// When everything in it became doubtful for the last time.
    pub(crate) below: Moments,
}

/// An area that was drawn.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    moment: Moment,
    area: Rect<Screen>,
}

/// What is known of one application.
#[derive(Debug)]
pub(crate) struct Store {
    nodes: HashMap<ObjectRef, Node>,
    now: Moment,
    /// Nothing that was right before this is known to be right now.
    all_marked: Moments,
    /// What is drawn makes these parts doubtful.
    drawn_parts: Parts,
    drawn: VecDeque<Drawn>,
    /// When something happened to an object that is not here: a cell of a virtual table, as far as is known.
    unknown_marked: Moment,
    /// When the top-level objects, or their names, may have changed.
    frames_marked: Moment,
    frames: HashMap<WindowFacts, (ObjectRef, Moment)>,
    /// Where the window of a frame was when it was looked at.
    placed: HashMap<ObjectRef, Rect<Screen>>,
    /// What the elements of a frame are found again by.
    traces: HashMap<ObjectRef, Traces>,
    /// Whether the application did not answer when it was asked last.
    slow: bool,
}

/// What the elements of a frame are found again by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traces {
    /// At the last look.
    pub(super) last: Arc<[Trace]>,
    /// At the look before most of them went away, as behind a modal dialog of a web page.
    pub(super) former: Arc<[Trace]>,
}

impl Store {
    pub(crate) fn new(drawn_parts: Parts) -> Self {
        let mut all_marked = Moments::default();
        // Nothing was read at moment 0.
        all_marked.raise(Parts::ALL, 1);
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

    /// The present moment: what is read from now on counts from here.
    pub(crate) fn now(&self) -> Moment {
        self.now
    }

    fn next(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    /// Parts of an object are doubtful from now on.
    pub(crate) fn mark(&mut self, object: &ObjectRef, parts: Parts) {
        let now = self.next();
        if !self.has(object) {
            self.unknown_marked = now;
        }
        if let Some(node) = self.nodes.get_mut(object) {
            node.marked.raise(parts, now);
        }
    }

    /// Parts of an object and of everything in it are doubtful from now on.
    pub(crate) fn mark_with_inside(&mut self, object: &ObjectRef, parts: Parts) {
        let now = self.next();
        if !self.has(object) {
            self.unknown_marked = now;
        }
        if let Some(node) = self.nodes.get_mut(object) {
            node.marked.raise(parts, now);
            node.marked_below.raise(parts, now);
        }
    }

    /// Parts of everything in an object are doubtful from now on, also for a look that has come by the object.
    pub(crate) fn mark_inside(&mut self, object: &ObjectRef, parts: Parts, below: &mut Moments) {
        let now = self.next();
        below.raise(parts, now);
        if let Some(node) = self.nodes.get_mut(object) {
            node.marked_below.raise(parts, now);
        }
    }

    /// Parts of the known children of an object are doubtful from now on.
    pub(crate) fn mark_children(&mut self, object: &ObjectRef, parts: Parts) {
        let children = self.nodes.get(object).and_then(|node| node.children.clone());
        self.mark(object, parts);
        for child in children.iter().flat_map(|children| children.iter()) {
            self.mark(child, parts);
        }
    }

    /// The top-level objects or their names may have changed.
    pub(crate) fn mark_frames(&mut self) {
        self.frames_marked = self.next();
    }

    /// Everything is doubtful from now on.
    pub(crate) fn mark_all(&mut self) {
        let now = self.next();
        self.all_marked.raise(Parts::ALL, now);
        self.unknown_marked = now;
        self.frames_marked = now;
    }

    /// Whether an object is here.
    pub(crate) fn has(&self, object: &ObjectRef) -> bool {
        self.nodes.get(object).is_some_and(|node| !node.gone)
    }

    /// Whether an object is the frame of a window that was looked at.
    pub(crate) fn is_frame(&self, object: &ObjectRef) -> bool {
        self.placed.contains_key(object)
    }

    /// An object is gone. Its place is kept, with everything in it marked: an object that comes back, as after it was moved
    /// to another parent or wrongly called itself defunct, still passes marks on to what is in it.
    pub(crate) fn remove(&mut self, object: &ObjectRef) {
        let now = self.next();
        match self.nodes.get_mut(object).filter(|node| !node.gone) {
            Some(node) => {
                *node = Node { gone: true, ..Node::default() };
                node.marked.raise(Parts::ALL, now);
                node.marked_below.raise(Parts::ALL, now);
            }
            None => self.unknown_marked = now,
        }
        if self.placed.remove(object).is_some() {
            self.traces.remove(object);
            self.frames_marked = now;
        }
    }

    /// An area of the screen was drawn by the application.
    pub(crate) fn draw(&mut self, area: Rect<Screen>) {
        let moment = self.next();
        // An area that was drawn a moment ago, as a caret is again and again, counts once.
        self.drawn.retain(|drawn| drawn.area != area);
        self.drawn.push_back(Drawn { moment, area });
        if self.drawn.len() > DRAWN_MAX
            && let Some(oldest) = self.drawn.pop_front()
        {
            self.all_marked.raise(self.drawn_parts, oldest.moment);
            self.unknown_marked = self.unknown_marked.max(oldest.moment);
        }
    }

    /// The areas of `within` that were drawn after a moment.
    fn drawn_since(&self, moment: Moment, within: Rect<Screen>) -> bool {
        self.drawn
            .iter()
            .rev()
            .take_while(|drawn| drawn.moment > moment)
            .any(|drawn| drawn.area.intersection(&within).is_some())
    }

    /// The frame of a window, if it is known and nothing has changed about frames since.
    pub(crate) fn frame_of(&self, window: &WindowFacts) -> Option<ObjectRef> {
        let (frame, found_at) = self.frames.get(window)?;
        (*found_at >= self.frames_marked).then(|| frame.clone())
    }

    /// Keeps which frame a window has, found from what was read at a moment.
    pub(crate) fn keep_frame(&mut self, window: &WindowFacts, frame: &ObjectRef, read_at: Moment) {
        if self.frames.len() >= FRAMES_MAX {
            self.frames.clear();
        }
        self.frames.insert(window.clone(), (frame.clone(), read_at));
    }

    /// The window of a frame is at `bounds`; what moved with it is doubtful.
    pub(crate) fn place(&mut self, frame: &ObjectRef, bounds: Rect<Screen>) {
        if self.placed.len() >= FRAMES_MAX {
            self.placed.clear();
        }
        if self.placed.insert(frame.clone(), bounds).is_some_and(|before| before != bounds) {
            self.mark_with_inside(frame, Parts::EXTENTS);
        }
    }

    /// What is known of an object and which parts of it are doubtful, given the moments at which what it lies in
    /// marked it, and where its parent is. An object that is new here gets a place, so that marks find it.
    pub(crate) fn ask(
        &mut self,
        object: &ObjectRef,
        inherited: &Moments,
        parent_bounds: Option<Rect<Screen>>,
    ) -> (Known, Parts) {
        match self.nodes.get_mut(object) {
            Some(node) => node.gone = false,
            None => {
                self.make_room();
                self.nodes.insert(object.clone(), Node::default());
            }
        }
        let Some(node) = self.nodes.get(object) else { return (Known::default(), Parts::ALL) };
        let marked = node.marked.later(inherited).later(&self.all_marked);
        let mut doubtful = Parts::NONE;
        for part in Parts::EACH {
            let right_at = node.right_at.get(part);
            let drawn = || {
                self.drawn_parts.has(part)
                    && node.bounds.or(parent_bounds).is_none_or(|bounds| self.drawn_since(right_at, bounds))
            };
            // Some toolkits are silent when the focus leaves an element.
            let focused = part == Parts::STATES && node.states.has(State::Focused);
            if right_at < marked.get(part) || focused || drawn() {
                doubtful = doubtful.and(part);
            }
        }
        let known = Known {
            states: node.states,
            head: node.head.clone(),
            details: node.details.clone(),
            below: inherited.later(&node.marked_below),
        };
        (known, doubtful)
    }

    /// The parts of an object were found right, or read, at a moment.
    pub(crate) fn confirm(&mut self, object: &ObjectRef, parts: Parts, moment: Moment) {
        if let Some(node) = self.nodes.get_mut(object) {
            node.right_at.raise(parts, moment);
        }
    }

    /// Changes what is known of an object.
    pub(crate) fn update(&mut self, object: &ObjectRef, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(object) {
            change(node);
        }
    }

    /// The children of an object that were read before.
    pub(crate) fn children(&self, object: &ObjectRef) -> Option<Arc<[ObjectRef]>> {
        self.nodes.get(object)?.children.clone()
    }

    /// What was in view of a virtual container, and what of it is doubtful.
    pub(crate) fn ask_view(&self, table: &ObjectRef, inherited: &Moments) -> (Option<Arc<View>>, ViewDoubt) {
        let Some(node) = self.nodes.get(table) else { return (None, ViewDoubt::All) };
        let marked = node.marked.later(inherited).later(&node.marked_below).later(&self.all_marked);
        let tells_all = self.drawn_parts == Parts::ALL;
        // Where everything that changes is drawn, objects that are not here tell nothing new.
        let unknown = if tells_all { 0 } else { self.unknown_marked };
        let all = marked.body.max(marked.extents).max(marked.children).max(unknown);
        let drawn: Vec<Rect<Screen>> = match node.bounds {
            Some(bounds) => {
                let since = self.drawn.iter().rev().take_while(|drawn| drawn.moment > node.view_at);
                since.filter_map(|drawn| drawn.area.intersection(&bounds)).collect()
            }
            None => Vec::new(),
        };
        let doubt = if node.view.is_none() || node.view_at < all || (!tells_all && !drawn.is_empty()) {
            ViewDoubt::All
        } else if !drawn.is_empty() {
            ViewDoubt::Drawn(drawn)
        } else if node.view_at < marked.states {
            ViewDoubt::States
        } else {
            ViewDoubt::Nothing
        };
        (node.view.clone(), doubt)
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

    /// What the elements of a frame are found again by.
    pub(crate) fn traces(&self, frame: &ObjectRef) -> Option<Traces> {
        self.traces.get(frame).cloned()
    }

    /// Keeps what the elements of a frame are found again by.
    pub(crate) fn keep_traces(&mut self, frame: &ObjectRef, traces: Arc<[Trace]>) {
        if self.traces.len() >= FRAMES_MAX {
            self.traces.clear();
        }
        let kept = self.traces.entry(frame.clone()).or_default();
        let before = std::mem::replace(&mut kept.last, traces);
        let present: HashSet<ElementId> = kept.last.iter().filter_map(|trace| trace.id).collect();
        let gone = before.iter().filter(|trace| trace.id.is_some_and(|id| !present.contains(&id))).count();
        if 2 * gone > before.len() {
            kept.former = before;
        }
    }

    /// Whether the application did not answer when it was asked last.
    pub(crate) fn is_slow(&self) -> bool {
        self.slow
    }

    /// Keeps whether the application answers.
    pub(crate) fn set_slow(&mut self, slow: bool) {
        self.slow = slow;
    }
}

impl Node {
    /// Where it is on the screen.
    pub(crate) fn place(&mut self, bounds: Option<Rect<Screen>>) {
        self.bounds = bounds;
    }

    /// The cells in view, as read at a moment.
    pub(crate) fn keep_view(&mut self, view: Arc<View>, moment: Moment) {
        self.view = Some(view);
        self.view_at = moment;
    }
}

/// The stores of all applications, by bus name.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    stores: HashMap<Arc<str>, Store>,
}

impl Mirror {
    /// The store of an application that was looked at.
    pub(crate) fn find(&mut self, bus: &str) -> Option<&mut Store> {
        self.stores.get_mut(bus)
    }

    /// The store of an application, made if there is none yet.
    pub(crate) fn store(&mut self, bus: &Arc<str>, drawn_parts: Parts) -> &mut Store {
        if self.stores.len() >= APPLICATIONS_MAX && !self.stores.contains_key(bus) {
            self.stores.clear();
        }
        self.stores.entry(Arc::clone(bus)).or_insert_with(|| Store::new(drawn_parts))
    }

    /// The application is gone.
    pub(crate) fn forget(&mut self, bus: &str) {
        self.stores.remove(bus);
    }

    /// The stores of every application.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = (&Arc<str>, &mut Store)> {
        self.stores.iter_mut()
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
