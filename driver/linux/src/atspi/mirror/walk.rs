//! State that a look carries along while it walks a window: its limits, its reads, and the nodes found so far.

use std::sync::{Mutex, PoisonError, atomic::AtomicBool};

use deskhand_ui::{
    CellRange, Element, IncompleteTreeCause, WindowKind,
    geometry::{Rect, Screen},
};
use tokio::time::Instant;

use super::{
    super::{
        accessibility::Accessibility,
        application::Application,
        bus::{AtspiCallError, Bus, gone},
        shift::Shift,
        view::Pixels,
        wire::ObjectRef,
    },
    parts::{AspectMoments, Moment},
    seed::Seed,
    store::MirrorStore,
};
use deskhand_desktop::{DesktopResult, TreeLimits};

/// An object that belongs to the tree, and the index of its parent node.
#[derive(Clone)]
pub(super) struct WalkQueueEntry {
    pub(super) object: ObjectRef,
    pub(super) parent: Option<usize>,
}

/// A node of the tree while it is being built.
pub(super) struct WalkNode {
    pub(super) object: ObjectRef,
    pub(super) element: Element,
    pub(super) reported: Option<Rect<Screen>>,
    /// The part of it that is inside all its ancestors.
    pub(super) visible: Option<Rect<Screen>>,
    /// The area whose drawing may have changed it.
    pub(super) seen: Option<Rect<Screen>>,
    pub(super) shift: Shift,
    pub(super) children: Vec<usize>,
    /// The visible cells of a virtual table.
    pub(super) cells: Vec<InView>,
    /// The part of a virtual table that shows.
    pub(super) view: Option<CellRange>,
    /// `true` if nothing inside it can be visible.
    pub(super) closed: bool,
    /// `true` if its bounds are those of the part of it that is in view.
    pub(super) clipped: bool,
    /// `true` if its children have to be read.
    pub(super) children_stale: bool,
    /// When its descendants were last marked as stale.
    pub(super) below: AspectMoments,
}

/// A visible child of a virtual container.
pub(super) struct InView {
    pub(super) object: ObjectRef,
    pub(super) element: Element,
    /// Its row and column, if it is identified by them.
    pub(super) place: Option<(u32, u32)>,
}

/// One look at a window.
pub(super) struct AtspiTreeWalk<'a, 'p> {
    pub(super) accessibility: &'a Accessibility,
    pub(super) bus: Bus,
    pub(super) application: &'a Application,
    /// The kind of the window.
    pub(super) kind: WindowKind,
    pub(super) pixels: Option<Pixels<'p>>,
    /// The store of a fresh walk.
    pub(super) own: Option<Mutex<MirrorStore>>,
    /// The objects that were read at once, and when.
    pub(super) seed: Option<(Seed, Moment)>,
    pub(super) limits: TreeLimits,
    pub(super) deadline: Instant,
    /// Start of the look: data that was current at this moment is current for it.
    pub(super) begun: Moment,
    pub(super) nodes: Vec<WalkNode>,
    pub(super) partial: Option<IncompleteTreeCause>,
    /// Set at the first call without an answer: the remaining objects are not waited for one by one.
    pub(super) stalled: AtomicBool,
    /// Set if an object that the store had is gone.
    pub(super) outdated: bool,
    /// Number of objects that were read.
    pub(super) reads: usize,
}

/// Why a call without an answer makes the tree partial.
pub(super) fn reason(error: &AtspiCallError, deadline: Instant) -> IncompleteTreeCause {
    match error {
        AtspiCallError::NotAnswering { .. } if Instant::now() < deadline => IncompleteTreeCause::NotAnswering,
        AtspiCallError::NotAnswering { .. } => IncompleteTreeCause::Deadline,
        AtspiCallError::BusGone
        | AtspiCallError::NoObject
        | AtspiCallError::NotOffered
        | AtspiCallError::Refused(_) => IncompleteTreeCause::NotAnswering,
    }
}

impl AtspiTreeWalk<'_, '_> {
    pub(super) fn with_store<T>(&self, work: impl FnOnce(&mut MirrorStore) -> T) -> T {
        match &self.own {
            Some(own) => work(&mut own.lock().unwrap_or_else(PoisonError::into_inner)),
            None => self.accessibility.with_mirror(|mirror| {
                work(mirror.store(&self.application.root.bus, self.application.toolkit.drawn_parts()))
            }),
        }
    }

    /// Records why something is missing.
    pub(super) fn note(&mut self, error: &AtspiCallError) -> DesktopResult<()> {
        match error {
            AtspiCallError::BusGone => return Err(gone()),
            AtspiCallError::NotAnswering { .. } => {
                self.partial = self.partial.or(Some(reason(error, self.deadline)));
            }
            AtspiCallError::NoObject => {}
            AtspiCallError::NotOffered | AtspiCallError::Refused(_) => {
                tracing::debug!(%error, "cannot read an object");
            }
        }
        Ok(())
    }

    pub(super) fn is_virtual(&self, node: &WalkNode) -> bool {
        node.element.child_count > self.limits.children_max
    }

    /// Returns `true` if what is in view of a node is read as a [`View`](super::super::view::View).
    pub(super) fn has_view(&self, node: &WalkNode) -> bool {
        self.is_virtual(node) && !self.has_rows_by_place(node)
    }
}
