//! The tree of one window: its showing elements, level by level, within bounds.
//!
//! Where the toolkit safely tells all objects in one reply (`Cache.GetItems`), that is the seed: which objects
//! show, and their children. Gaps are read, a bounded number of calls at a time. A mirror that lives longer than one
//! call would keep the [`Seed`] and change it by events.

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::{AtomicBool, Ordering},
};

use deskhand_core::{
    geometry::{Rect, Screen},
    ui::{Element, Partial, Role, Tree},
};
use tokio::time::Instant;

use super::{
    accessibility::Accessibility,
    applications::{Application, WindowFacts},
    bus::{Bus, CallError, CallResult, gone, pipelined},
    cells::visible_cells,
    details::{Details, Head, read_details, read_head, read_states},
    quirks::Shift,
    wire::{self, ObjectRef, WireRef},
};
use crate::{DesktopResult, TreeLimits};

/// The deepest tree that is followed.
const DEPTH_MAX: u16 = 100;
/// The most items that are taken from one seed.
const SEED_MAX: usize = 100_000;

/// One item of `Cache.GetItems`: object, application, parent, index in parent, number of children,
/// interfaces, name, role, description, states.
type Item = (WireRef, WireRef, WireRef, i32, i32, Vec<String>, String, u32, String, Vec<u32>);

/// What an application told of all its objects at once.
#[derive(Debug, Default)]
pub(crate) struct Seed {
    heads: HashMap<ObjectRef, Head>,
    children: HashMap<ObjectRef, Vec<(i32, ObjectRef)>>,
    /// Objects whose children it does not count: those that manage their descendants.
    uncounted: HashSet<ObjectRef>,
}

impl Seed {
    /// Asks for it; empty where the toolkit has none.
    async fn read(bus: &Bus, application: &Application) -> CallResult<Self> {
        if !application.toolkit.has_cache() {
            return Ok(Self::default());
        }
        let cache = ObjectRef { path: "/org/a11y/atspi/cache".into(), ..application.root.clone() };
        let items: Vec<Item> = match bus.call(&cache, "org.a11y.atspi.Cache", "GetItems", &()).await {
            Ok(items) => items,
            Err(CallError::NotOffered | CallError::NoObject | CallError::Refused(_)) => Vec::new(),
            Err(error @ (CallError::BusGone | CallError::NotAnswering { .. })) => return Err(error),
        };
        let mut seed = Self::default();
        for (object, _, parent, index, count, interfaces, name, role, _, words) in
            items.into_iter().take(SEED_MAX)
        {
            let Some(object) = ObjectRef::from_wire(&object) else { continue };
            if let Some(parent) = ObjectRef::from_wire(&parent) {
                seed.children.entry(parent).or_default().push((index, object.clone()));
            }
            let head = Head {
                role: wire::role(role),
                name,
                states: wire::states(&words),
                patterns: wire::patterns(&interfaces),
                child_count: u32::try_from(count).unwrap_or(0),
                description: None,
            };
            if count < 0 {
                seed.uncounted.insert(object.clone());
            }
            seed.heads.insert(object, head);
        }
        for children in seed.children.values_mut() {
            children.sort_unstable_by_key(|(index, _)| *index);
        }
        Ok(seed)
    }

    /// The children of an object, if the seed has every one of them.
    fn complete_children(&self, object: &ObjectRef, count: u32) -> Option<Vec<ObjectRef>> {
        let children = self.children.get(object)?;
        let in_order = children.iter().zip(0..).all(|((index, _), at)| *index == at);
        (in_order && usize::try_from(count) == Ok(children.len()))
            .then(|| children.iter().map(|(_, object)| object.clone()).collect())
    }
}

/// A node of the tree while it is read.
struct Node {
    object: ObjectRef,
    element: Element,
    reported: Option<Rect<Screen>>,
    shift: Shift,
    children: Vec<usize>,
    /// The visible cells of a virtual table.
    cells: Vec<Element>,
    /// Nothing in it can show.
    closed: bool,
}

/// An object that is to be read, and the node that it belongs to.
#[derive(Clone)]
struct Wanted {
    object: ObjectRef,
    parent: Option<usize>,
}

struct Walk<'a> {
    accessibility: &'a Accessibility,
    bus: Bus,
    application: Application,
    seed: Seed,
    limits: TreeLimits,
    deadline: Instant,
    nodes: Vec<Node>,
    partial: Option<Partial>,
    /// Set at the first call without an answer: the others are not waited for one after the other.
    stalled: AtomicBool,
}

impl Accessibility {
    /// The showing elements of a window.
    pub(crate) async fn tree(&self, window: &WindowFacts, limits: TreeLimits) -> DesktopResult<Tree> {
        let deadline = Instant::now() + limits.deadline;
        let bus = self.shared.bus.until(deadline);
        let stalled =
            |error: &CallError| Tree { elements: Vec::new(), partial: Some(reason(error, deadline)) };
        let (application, frame) = match self.frame_of(&bus, window).await? {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(Tree::default()),
            Err(error) => return Ok(stalled(&error)),
        };
        let seed = match Seed::read(&bus, &application).await {
            Ok(seed) => seed,
            Err(CallError::BusGone) => return Err(gone()),
            Err(error) => return Ok(stalled(&error)),
        };
        let mut walk = Walk {
            accessibility: self,
            bus,
            application,
            seed,
            limits,
            deadline,
            nodes: Vec::new(),
            partial: None,
            stalled: AtomicBool::new(false),
        };
        walk.run(frame).await?;
        Ok(walk.into_tree())
    }
}

/// Why a call without an answer leaves the tree partial.
fn reason(error: &CallError, deadline: Instant) -> Partial {
    match error {
        CallError::NotAnswering { .. } if Instant::now() < deadline => Partial::NotAnswering,
        CallError::NotAnswering { .. } => Partial::Deadline,
        CallError::BusGone | CallError::NoObject | CallError::NotOffered | CallError::Refused(_) => {
            Partial::NotAnswering
        }
    }
}

impl Walk<'_> {
    async fn run(&mut self, frame: ObjectRef) -> DesktopResult<()> {
        let mut level = vec![Wanted { object: frame, parent: None }];
        for depth in 0..=DEPTH_MAX {
            if level.is_empty() || self.partial.is_some() {
                break;
            }
            let this = &*self;
            let read = pipelined(level.clone(), |wanted| async move { this.read(&wanted).await }).await;
            let first = self.nodes.len();
            for (wanted, result) in level.into_iter().zip(read) {
                match result {
                    Ok(Some((head, details))) => self.add(wanted, depth, head, details),
                    Ok(None) => {}
                    Err(error) => self.note(&error)?,
                }
                if self.nodes.len() >= self.limits.nodes_max {
                    self.partial = self.partial.or(Some(Partial::NodeLimit));
                    break;
                }
            }
            self.read_cells(first).await?;
            level = self.next_level(first).await?;
        }
        if self.partial.is_none() && Instant::now() >= self.deadline {
            self.partial = Some(Partial::Deadline);
        }
        Ok(())
    }

    /// Reads one object; none when it does not show.
    async fn read(&self, wanted: &Wanted) -> CallResult<Option<(Head, Details)>> {
        if self.stalled.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let toolkit = self.application.toolkit;
        let parent = wanted.parent.and_then(|at| self.nodes.get(at)).map(|parent| &parent.element.role);
        let shows =
            |states| parent.is_none() || toolkit.shows(states) || toolkit.looks_into_defunct(states, parent);
        let result = async {
            let head = match self.seed.heads.get(&wanted.object) {
                Some(head) if !shows(head.states) => return Ok(None),
                Some(head) if self.seed.uncounted.contains(&wanted.object) => {
                    let child_count = self.bus.child_count(&wanted.object).await?;
                    Head { child_count, ..head.clone() }
                }
                Some(head) => head.clone(),
                None => {
                    let states = read_states(&self.bus, &wanted.object).await?;
                    if !shows(states) {
                        return Ok(None);
                    }
                    read_head(&self.bus, &wanted.object, toolkit, states).await?
                }
            };
            let details = read_details(&self.bus, &wanted.object, &head).await?;
            Ok(Some((head, details)))
        }
        .await;
        if matches!(result, Err(CallError::NotAnswering { .. })) {
            self.stalled.store(true, Ordering::Relaxed);
        }
        result
    }

    fn add(&mut self, wanted: Wanted, depth: u16, head: Head, details: Details) {
        let parent = wanted.parent.and_then(|at| self.nodes.get(at));
        let toolkit = self.application.toolkit;
        if toolkit.is_repetition(&head.role, details.reported) {
            return;
        }
        let shift = parent.map_or(Shift::NONE, |parent| {
            toolkit.shift(&head.role, details.reported, parent.shift, parent.reported)
        });
        let parent_role = parent.map(|parent| &parent.element.role);
        let closed = toolkit.is_closed(&head.role, head.states, parent_role);
        let reported = details.reported;
        let element =
            self.accessibility.to_element(&self.application, &wanted.object, shift, depth, head, details);
        let at = self.nodes.len();
        self.nodes.push(Node {
            object: wanted.object,
            element,
            reported,
            shift,
            children: Vec::new(),
            cells: Vec::new(),
            closed,
        });
        if let Some(parent) = wanted.parent.and_then(|at| self.nodes.get_mut(at)) {
            parent.children.push(at);
        }
    }

    /// Keeps why something is missing. An object that went away meanwhile is not missed.
    fn note(&mut self, error: &CallError) -> DesktopResult<()> {
        match error {
            CallError::BusGone => return Err(gone()),
            CallError::NotAnswering { .. } => {
                self.partial = self.partial.or(Some(reason(error, self.deadline)));
            }
            CallError::NoObject => {}
            CallError::NotOffered | CallError::Refused(_) => {
                tracing::debug!(%error, "an object could not be read");
            }
        }
        Ok(())
    }

    fn is_virtual(&self, node: &Node) -> bool {
        node.element.child_count > self.limits.children_max
    }

    /// Reads the cells in view of the virtual tables among the nodes from `first` on.
    async fn read_cells(&mut self, first: usize) -> DesktopResult<()> {
        for at in first..self.nodes.len() {
            let Some(node) = self.nodes.get(at).filter(|node| self.is_virtual(node)) else { continue };
            let Some(shape) = node.element.table else { continue };
            if self.partial.is_some() {
                return Ok(());
            }
            let room = self.limits.nodes_max.saturating_sub(self.nodes.len());
            let read =
                visible_cells(&self.bus, self.application.toolkit, &node.object, shape, node.reported).await;
            let (depth, shift) = (node.element.depth.saturating_add(1), node.shift);
            let mut elements = Vec::new();
            match read {
                Ok(cells) => {
                    if cells.len() > room {
                        self.partial = Some(Partial::NodeLimit);
                    }
                    elements.extend(cells.into_iter().take(room).map(|(object, head, details)| {
                        self.accessibility.to_element(&self.application, &object, shift, depth, head, details)
                    }));
                }
                Err(error) => self.note(&error)?,
            }
            if let Some(node) = self.nodes.get_mut(at) {
                node.cells = elements;
            }
        }
        Ok(())
    }

    /// The children of the nodes from `first` on.
    async fn next_level(&mut self, first: usize) -> DesktopResult<Vec<Wanted>> {
        if self.partial.is_some() {
            return Ok(Vec::new());
        }
        let this = &*self;
        let parents: Vec<(usize, ObjectRef, Role, u32)> = self
            .nodes
            .iter()
            .enumerate()
            .skip(first)
            .filter(|(_, node)| node.element.child_count > 0 && !node.closed && !this.is_virtual(node))
            .map(|(at, node)| (at, node.object.clone(), node.element.role.clone(), node.element.child_count))
            .collect();
        let read = pipelined(parents, |(at, object, role, count)| async move {
            let children = match this.seed.complete_children(&object, count) {
                Some(children) => Ok(children),
                None => this.bus.safe_children(&object, &role, this.application.toolkit).await,
            };
            (at, children)
        })
        .await;
        let mut level = Vec::new();
        for (parent, children) in read {
            match children {
                Ok(children) => {
                    level.extend(children.into_iter().map(|object| Wanted { object, parent: Some(parent) }));
                }
                Err(error) => self.note(&error)?,
            }
        }
        Ok(level)
    }

    /// The nodes in reading order.
    fn into_tree(self) -> Tree {
        let mut nodes: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        let mut elements = Vec::with_capacity(nodes.len());
        let mut open = if nodes.is_empty() { Vec::new() } else { vec![0] };
        while let Some(at) = open.pop() {
            let Some(node) = nodes.get_mut(at).and_then(Option::take) else { continue };
            elements.push(node.element);
            elements.extend(node.cells);
            open.extend(node.children.into_iter().rev());
        }
        Tree { elements, partial: self.partial }
    }
}
