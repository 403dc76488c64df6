//! The elements of windows, as the accessibility tree holds them.

use std::time::Duration;

use deskhand_core::{
    geometry::{Point, Screen},
    ids::{ElementId, WindowId},
    ui::{Element, Tree},
};

use crate::DesktopResult;

/// Bounds of one read of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// The most elements to return.
    pub nodes_max: usize,
    /// A node with more children than this is never enumerated; only its visible part is read.
    pub children_max: u32,
    /// The time after which what was read so far is returned.
    pub deadline: Duration,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { nodes_max: 4_000, children_max: 200, deadline: Duration::from_secs(5) }
    }
}

/// The elements of windows. A `true` from a toolkit proves nothing: callers read back.
pub trait UiTree {
    /// The showing elements of one window, within `limits`; a tree that is cut says so.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] when it is gone; an application that does not answer gives a partial tree.
    fn tree(&self, window: WindowId, limits: TreeLimits) -> impl Future<Output = DesktopResult<Tree>> + Send;

    /// One element, read afresh (`depth` is 0).
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] when it is gone.
    fn element(&self, id: ElementId) -> impl Future<Output = DesktopResult<Element>> + Send;

    /// The children of an element, showing or not, read afresh; at most `max`. Never for a virtual table.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] when it is gone.
    fn children(&self, id: ElementId, max: usize)
    -> impl Future<Output = DesktopResult<Vec<Element>>> + Send;

    /// The children of an element that are selected (`Selection`), at most a few.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] when it does not select among its children.
    fn selected(&self, id: ElementId) -> impl Future<Output = DesktopResult<Vec<Element>>> + Send;

    /// The deepest element of `window` at a point of the screen, where the toolkit can tell.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] when the window is gone.
    fn element_at(
        &self,
        window: WindowId,
        point: Point<Screen>,
    ) -> impl Future<Output = DesktopResult<Option<Element>>> + Send;

    /// Whether `id` is `ancestor` or lies in it.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] when one is gone.
    fn is_within(
        &self,
        id: ElementId,
        ancestor: ElementId,
    ) -> impl Future<Output = DesktopResult<bool>> + Send;
}
