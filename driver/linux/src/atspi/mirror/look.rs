//! A look at one window: its showing elements, level by level, within limits.
//!
//! What the store has and is not stale is taken from there. The rest is read, with a bounded number of concurrent
//! calls, and stored. A fresh walk is the same with an empty store of its own.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use deskhand_ui::{
    IncompleteTreeCause, Role, State, Tree,
    geometry::{Rect, Screen},
};
use tokio::time::Instant;

use super::{
    super::{
        accessibility::Accessibility,
        application::AtspiFrameCriteria,
        bus::{AtspiCallError, pipelined},
        details::Details,
        header::AtspiObjectHeader,
        view::Pixels,
        wire::ObjectRef,
    },
    parts::{AspectMoments, ObjectAspects},
    read::{ObjectReadResult, Parent},
    seed::Seed,
    store::{MirrorEntry, MirrorStore},
    walk::{AtspiTreeWalk, WalkNode, WalkQueueEntry, reason},
};
use deskhand_desktop::{DesktopResult, TreeLimits};

/// The deepest tree that is followed.
const DEPTH_MAX: u16 = 100;
/// Maximum number of restarts of a look because an object that it relied on is gone.
const ATTEMPTS_MAX: usize = 3;
/// With this many objects to read in one level, all of them are read at once if the toolkit supports it.
const SEED_WORTH: usize = 24;

/// Data that a look may rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkSource {
    /// The mirror.
    Mirror,
    /// Nothing: everything is read.
    Fresh,
}

/// An object that is showing.
struct ShowingObject {
    head: AtspiObjectHeader,
    details: Details,
    below: AspectMoments,
    children_stale: bool,
}

impl Accessibility {
    /// The showing elements of a window.
    pub(crate) async fn tree(
        &self,
        window: &AtspiFrameCriteria,
        limits: TreeLimits,
        source: WalkSource,
        pixels: Option<Pixels<'_>>,
    ) -> DesktopResult<Tree> {
        let deadline = Instant::now() + limits.deadline;
        let bus = self.shared.bus.until(deadline);
        let mut tree = Tree::default();
        for _ in 0..ATTEMPTS_MAX {
            let (application, frame, answers) = match self.frame_of(&bus, window, source).await? {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(Tree::default()),
                Err(error) => {
                    return Ok(Tree { elements: Vec::new(), partial: Some(reason(&error, deadline)) });
                }
            };
            let mut walk = AtspiTreeWalk {
                accessibility: self,
                bus: bus.clone(),
                application: &application,
                kind: window.kind,
                pixels,
                own: (source == WalkSource::Fresh)
                    .then(|| Mutex::new(MirrorStore::new(application.toolkit.drawn_parts()))),
                seed: None,
                limits,
                deadline,
                begun: 0,
                nodes: Vec::new(),
                partial: (!answers).then_some(IncompleteTreeCause::NotAnswering),
                stalled: AtomicBool::new(!answers),
                outdated: false,
                reads: 0,
            };
            walk.begun = walk.with_store(|store| {
                store.place(&frame, window.bounds);
                store.now()
            });
            walk.run(&frame, window.bounds).await?;
            let outdated = walk.outdated;
            tree = walk.into_tree(&frame).await?;
            let is_whole = source == WalkSource::Mirror && tree.partial.is_none();
            if is_whole && application.has_pages && !shows_page(&tree) {
                let parts = application.toolkit.drawn_parts();
                self.with_mirror(|mirror| {
                    mirror.store(&frame.bus, parts).mark_with_inside(&frame, ObjectAspects::ALL);
                });
            }
            if !outdated {
                break;
            }
        }
        Ok(tree)
    }
}

/// Returns `true` if a page is in a tree. One that comes up after its window is not always announced, so a browser's window without one is
/// read anew.
fn shows_page(tree: &Tree) -> bool {
    tree.elements.iter().any(|element| element.role == Role::DOCUMENT_WEB)
}

/// The area whose drawing may have changed an element: it scrolls together with its parent, wherever it is itself.
fn seen_area(bounds: Option<Rect<Screen>>, parent: Option<Rect<Screen>>) -> Option<Rect<Screen>> {
    let (Some(bounds), Some(parent)) = (bounds, parent) else { return bounds.or(parent) };
    let inside = parent.intersection(&bounds) == Some(bounds);
    Some(if inside { bounds } else { bounds.enclosing(&parent) })
}

impl AtspiTreeWalk<'_, '_> {
    async fn run(&mut self, frame: &ObjectRef, window: Rect<Screen>) -> DesktopResult<()> {
        let mut level = vec![WalkQueueEntry { object: frame.clone(), parent: None }];
        let stalled = self.partial.is_some();
        for depth in 0..=DEPTH_MAX {
            if level.is_empty() || (self.partial.is_some() && !stalled) || self.outdated {
                break;
            }
            let first = self.nodes.len();
            self.read_level(level, depth, window).await?;
            self.read_views(first).await?;
            level = self.next_level(first).await?;
        }
        self.leave_out_rows().await?;
        self.tell_beyond();
        if self.partial.is_none() && Instant::now() >= self.deadline {
            self.partial = Some(IncompleteTreeCause::Deadline);
        }
        Ok(())
    }

    /// Adds the nodes of one level.
    async fn read_level(
        &mut self,
        level: Vec<WalkQueueEntry>,
        depth: u16,
        window: Rect<Screen>,
    ) -> DesktopResult<()> {
        let asked: Vec<(WalkQueueEntry, MirrorEntry, ObjectAspects)> = self.with_store(|store| {
            level
                .into_iter()
                .map(|wanted| {
                    let parent = wanted.parent.and_then(|at| self.nodes.get(at));
                    let inherited = parent.map(|parent| parent.below).unwrap_or_default();
                    let seen = parent.map_or(Some(window), |parent| parent.seen);
                    let (known, stale) = store.ask(&wanted.object, &inherited, seen);
                    (wanted, known, stale)
                })
                .collect()
        });
        let to_read = asked.iter().filter(|(_, _, stale)| stale.has(ObjectAspects::BODY)).count();
        if to_read >= SEED_WORTH && self.seed.is_none() && self.application.toolkit.has_cache {
            let read_at = self.with_store(|store| store.now());
            match Seed::read(&self.bus, self.application).await {
                Ok(seed) => self.seed = Some((seed, read_at)),
                Err(error) => self.note(&error)?,
            }
        }
        let this = &*self;
        let read = pipelined(asked, |(wanted, known, stale)| async move {
            let result = this.read(&wanted, known, stale).await;
            (wanted, stale, result)
        })
        .await;
        for (wanted, stale, result) in read {
            match result {
                Ok(Some(read)) if read.has_ended() => self.lose(&wanted),
                Ok(Some(read)) => {
                    if let Some(shown) = self.keep(&wanted.object, stale, read) {
                        self.add(wanted, depth, window, shown);
                    }
                }
                Ok(None) => {}
                Err(AtspiCallError::NoObject) => self.lose(&wanted),
                Err(error) => self.note(&error)?,
            }
            if self.nodes.len() >= self.limits.nodes_max {
                self.partial = self.partial.or(Some(IncompleteTreeCause::NodeLimit));
                break;
            }
        }
        Ok(())
    }

    /// Stores what was read, and returns what the tree needs of it.
    fn keep(
        &mut self,
        object: &ObjectRef,
        stale: ObjectAspects,
        read: ObjectReadResult,
    ) -> Option<ShowingObject> {
        let ObjectReadResult { mut known, shows, fresh, read_at, was_at } = read;
        self.reads += usize::from(fresh != ObjectAspects::NONE);
        let begun = self.begun;
        self.with_store(|store| {
            if fresh != ObjectAspects::NONE {
                store.update(object, |node| {
                    node.states = known.states;
                    node.head.clone_from(&known.head);
                    node.details.clone_from(&known.details);
                });
                store.confirm(object, fresh, read_at);
                let is_at = known.details.as_ref().map(|details| details.reported);
                if was_at.is_some() && is_at.is_some() && was_at != is_at {
                    // Its content has moved with it.
                    store.mark_inside(object, ObjectAspects::EXTENTS, &mut known.below);
                }
            }
            let right = ObjectAspects::ALL.without(stale);
            store.confirm(object, if shows { right } else { right.common(ObjectAspects::STATES) }, begun);
        });
        let (true, Some(head), Some(details)) = (shows, known.head, known.details) else { return None };
        // Which of too many are listed depends on where they are.
        let by_place = stale.has(ObjectAspects::EXTENTS)
            && self.application.toolkit.recycles(&head.role)
            && head.child_count > self.limits.children_max;
        let children_stale = stale.has(ObjectAspects::CHILDREN) || by_place;
        Some(ShowingObject { head, details, below: known.below, children_stale })
    }

    fn add(&mut self, wanted: WalkQueueEntry, depth: u16, window: Rect<Screen>, shown: ShowingObject) {
        let ShowingObject { head, details, below, children_stale } = shown;
        let parent = wanted.parent.and_then(|at| self.nodes.get(at));
        let toolkit = self.application.toolkit;
        let parent_role = parent.map(|parent| &parent.element.role);
        if toolkit.is_repetition(&head.role, details.reported) {
            return;
        }
        if parent.is_some_and(|parent| toolkit.repeats(&parent.element, &head, &details.description)) {
            let around = wanted.parent.and_then(|at| self.nodes.get_mut(at));
            if let Some(around) = around.filter(|_| head.states.has(State::Focused)) {
                around.element.states = around.element.states.with(State::Focused);
            }
            return;
        }
        if toolkit.is_out_of_view((&head.role, head.states), parent_role, details.reported) {
            // It comes into view as soon as something is drawn there.
            let seen = parent.and_then(|parent| parent.seen);
            self.with_store(|store| store.update(&wanted.object, |node| node.place(seen)));
            return;
        }
        let shift = match parent {
            None => self.application.frame_shift(details.reported, window, self.kind),
            Some(parent) => {
                let roles = (&head.role, &parent.element.role);
                self.application.shift(roles, details.reported, parent.shift, parent.reported)
            }
        };
        let closed = toolkit.is_closed(&head.role, head.states, parent_role);
        let reported = details.reported;
        let bounds = reported.filter(|reported| !reported.is_empty()).map(|reported| shift.apply(reported));
        let seen = seen_area(bounds, parent.map_or(Some(window), |parent| parent.seen));
        let within = parent.and_then(|parent| parent.visible);
        // The pointer reaches no more of a row than what is in view.
        let clipped = parent.is_some_and(|parent| parent.clipped || toolkit.recycles(&parent.element.role));
        let visible = match (reported, within) {
            (Some(reported), Some(within)) if clipped => reported.intersection(&within),
            (Some(reported), Some(within)) => reported.intersection(&within).or(Some(reported)),
            (reported, within) => reported.or(within),
        };
        self.with_store(|store| store.update(&wanted.object, |node| node.place(seen)));
        if clipped && visible.is_none() && reported.is_some() {
            return;
        }
        let details = if clipped { Details { reported: visible, ..details } } else { details };
        let is_selected = parent.is_some_and(|parent| {
            let around = &parent.element;
            around.states.has(State::Selected) && toolkit.is_selected_with(&head.role, &around.role)
        });
        let mut element = self.accessibility.to_element(toolkit, shift, (depth, parent_role), head, details);
        if is_selected {
            element.states = element.states.with(State::Selected);
        }
        let at = self.nodes.len();
        self.nodes.push(WalkNode {
            object: wanted.object,
            element,
            reported,
            visible,
            seen,
            shift,
            children: Vec::new(),
            cells: Vec::new(),
            view: None,
            closed,
            clipped,
            children_stale,
            below,
        });
        if let Some(parent) = wanted.parent.and_then(|at| self.nodes.get_mut(at)) {
            parent.children.push(at);
        }
    }

    /// Removes an object that is gone. If the store had listed it, the children of its parent are read again.
    fn lose(&mut self, wanted: &WalkQueueEntry) {
        let parent = wanted.parent.and_then(|at| self.nodes.get(at));
        let by_memory = parent.is_none_or(|parent| !parent.children_stale);
        let parent = parent.map(|parent| parent.object.clone());
        self.with_store(|store| {
            store.remove(&wanted.object);
            match &parent {
                Some(parent) if by_memory => {
                    store.mark(parent, ObjectAspects::KIND_AND_BODY.and(ObjectAspects::CHILDREN));
                }
                Some(_) => {}
                None => store.mark_frames(),
            }
        });
        self.outdated |= by_memory;
    }

    /// The children of the nodes from `first` on.
    async fn next_level(&mut self, first: usize) -> DesktopResult<Vec<WalkQueueEntry>> {
        let stalled = self.stalled.load(Ordering::Relaxed);
        if (self.partial.is_some() && !stalled) || self.outdated {
            return Ok(Vec::new());
        }
        let this = &*self;
        let toolkit = self.application.toolkit;
        let parents: Vec<Parent> = self.with_store(|store| {
            let with_children = this
                .nodes
                .iter()
                .enumerate()
                .skip(first)
                .filter(|(_, node)| node.element.child_count > 0 && !node.closed && !this.has_view(node));
            with_children
                .map(|(at, node)| {
                    let known = (!node.children_stale || stalled).then(|| store.children(&node.object));
                    let count = node.element.child_count;
                    let fits = |children: &Arc<[ObjectRef]>| {
                        toolkit.announces_children || stalled || u32::try_from(children.len()) == Ok(count)
                    };
                    Parent {
                        at,
                        object: node.object.clone(),
                        role: node.element.role.clone(),
                        count,
                        view: node.visible.filter(|_| this.is_virtual(node)),
                        known: known.flatten().filter(fits),
                    }
                })
                .collect()
        });
        let read = pipelined(parents, |parent| async move {
            let at = parent.at;
            if let Some(children) = parent.known {
                return (at, Ok((children, None)));
            }
            if this.stalled.load(Ordering::Relaxed) {
                return (at, Ok((Arc::default(), None)));
            }
            (at, this.read_children(&parent).await.map(|(children, read_at)| (children, Some(read_at))))
        })
        .await;
        let mut level = Vec::new();
        for (parent, children) in read {
            match children {
                Ok((children, read_at)) => {
                    if let (Some(read_at), Some(node)) = (read_at, self.nodes.get(parent)) {
                        self.with_store(|store| {
                            store.update(&node.object, |node| node.children = Some(Arc::clone(&children)));
                            store.confirm(&node.object, ObjectAspects::CHILDREN, read_at);
                        });
                    }
                    let wanted =
                        |object: &ObjectRef| WalkQueueEntry { object: object.clone(), parent: Some(parent) };
                    level.extend(children.iter().map(wanted));
                }
                Err(error) => self.note(&error)?,
            }
        }
        Ok(level)
    }
}
