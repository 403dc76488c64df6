//! What a look carries along while it walks a window: its limits, what it has read, and the nodes found so far.

use std::sync::{Mutex, PoisonError, atomic::AtomicBool};

use deskhand_core::{
    geometry::{Rect, Screen},
    ui::{Element, Partial},
};
use tokio::time::Instant;

use super::{
    super::{
        accessibility::Accessibility,
        application::Application,
        bus::{Bus, CallError, gone},
        quirks::Shift,
        view::Pixels,
        wire::ObjectRef,
    },
    parts::{Moment, Moments},
    seed::Seed,
    store::Store,
};
use deskhand_desktop::{DesktopResult, TreeLimits};

/// An object that belongs into the tree, and the node that it belongs to.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) object: ObjectRef,
    pub(super) parent: Option<usize>,
}

/// A node of the tree while it is put together.
pub(super) struct Node {
    pub(super) object: ObjectRef,
    pub(super) element: Element,
    pub(super) reported: Option<Rect<Screen>>,
    /// The part of that which lies in everything above it.
    pub(super) visible: Option<Rect<Screen>>,
    /// What is drawn in here may have changed it.
    pub(super) seen: Option<Rect<Screen>>,
    pub(super) shift: Shift,
    pub(super) children: Vec<usize>,
    /// The visible cells of a virtual table.
    pub(super) cells: Vec<InView>,
    /// Nothing in it can show.
    pub(super) closed: bool,
    /// Whether its children are to be asked for.
    pub(super) children_doubtful: bool,
    /// When everything in it became doubtful.
    pub(super) below: Moments,
}

/// A child in view of a virtual container.
pub(super) struct InView {
    pub(super) object: ObjectRef,
    pub(super) element: Element,
    /// Its row and column, where that is what it is known by.
    pub(super) place: Option<(u32, u32)>,
}

/// One look at a window.
pub(super) struct Walk<'a, 'p> {
    pub(super) accessibility: &'a Accessibility,
    pub(super) bus: Bus,
    pub(super) application: &'a Application,
    pub(super) pixels: Option<Pixels<'p>>,
    /// The store of a walk that reads afresh.
    pub(super) own: Option<Mutex<Store>>,
    /// What was read at once, and when.
    pub(super) seed: Option<(Seed, Moment)>,
    pub(super) limits: TreeLimits,
    pub(super) deadline: Instant,
    /// What was right at this moment is right for this look.
    pub(super) begun: Moment,
    pub(super) nodes: Vec<Node>,
    pub(super) partial: Option<Partial>,
    /// Set at the first call without an answer: the others are not waited for one after the other.
    pub(super) stalled: AtomicBool,
    /// Something that the store had is gone.
    pub(super) outdated: bool,
    /// How many objects were read.
    pub(super) reads: usize,
}

/// Why a call without an answer leaves the tree partial.
pub(super) fn reason(error: &CallError, deadline: Instant) -> Partial {
    match error {
        CallError::NotAnswering { .. } if Instant::now() < deadline => Partial::NotAnswering,
        CallError::NotAnswering { .. } => Partial::Deadline,
        CallError::BusGone | CallError::NoObject | CallError::NotOffered | CallError::Refused(_) => {
            Partial::NotAnswering
        }
    }
}

impl Walk<'_, '_> {
    pub(super) fn with_store<T>(&self, work: impl FnOnce(&mut Store) -> T) -> T {
        match &self.own {
            Some(own) => work(&mut own.lock().unwrap_or_else(PoisonError::into_inner)),
            None => self.accessibility.with_mirror(|mirror| {
                work(mirror.store(&self.application.root.bus, self.application.toolkit.drawn_parts()))
            }),
        }
    }

    /// Keeps why something is missing.
    pub(super) fn note(&mut self, error: &CallError) -> DesktopResult<()> {
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

    pub(super) fn is_virtual(&self, node: &Node) -> bool {
        node.element.child_count > self.limits.children_max
    }
}
