//! The elements of windows, as the accessibility tree exposes them.

use std::time::Duration;

use deskhand_ui::{
    Element, ElementTreePath, Tree, WindowInfo,
    geometry::{Point, Screen},
    ids::{ElementId, WindowId},
};

use crate::DesktopResult;

/// The limits of one read of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// The most elements to return.
    pub nodes_max: usize,
    /// A node with more children than this is not enumerated; only its visible part is read.
    pub children_max: u32,
    /// If `true`, the visible cells of a spreadsheet are read, which is often most of the work.
    pub cells: bool,
    /// The timeout after which a partial tree is returned.
    pub deadline: Duration,
    /// If `true`, bounds are read again where they may have changed, which can take most of the time. The bounds
    /// of the last look suffice for comparing what elements contain.
    pub bounds_now: bool,
}

impl TreeLimits {
    /// Only the root of a window.
    pub const ROOT_ONLY: Self = Self {
        nodes_max: 1,
        children_max: 1,
        cells: false,
        deadline: Duration::from_secs(2),
        bounds_now: false,
    };
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self {
            nodes_max: 4_000,
            children_max: 200,
            cells: true,
            deadline: Duration::from_secs(5),
            bounds_now: true,
        }
    }
}

/// The elements of windows. A `true` from a toolkit proves nothing: callers read the state back.
pub trait UiTree {
    /// The showing elements of one window, within `limits`; a truncated tree says so.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] if it is gone; an application that does not answer yields a partial tree.
    fn tree(&self, window: WindowId, limits: TreeLimits) -> impl Future<Output = DesktopResult<Tree>> + Send;

    /// Returns `true` if the application of a window without elements may still come to expose some; `false` once
    /// its toolkit is found to have none.
    ///
    /// # Errors
    /// [`crate::DesktopError::Failed`] if that cannot be found out.
    fn may_show_elements(&self, window: &WindowInfo) -> impl Future<Output = DesktopResult<bool>> + Send;

    /// One element, read again (`depth` is 0).
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] if it is gone.
    fn element(&self, id: ElementId) -> impl Future<Output = DesktopResult<Element>> + Send;

    /// The children of an element, visible or not, read again; at most `max`. Not for virtual tables.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] if it is gone.
    fn children(&self, id: ElementId, max: usize)
    -> impl Future<Output = DesktopResult<Vec<Element>>> + Send;

    /// The selected children of an element (`Selection`), a bounded number of them.
    ///
    /// # Errors
    /// [`crate::DesktopError::NotOffered`] if it does not support selection.
    fn selected(&self, id: ElementId) -> impl Future<Output = DesktopResult<Vec<Element>>> + Send;

    /// The deepest element of `window` at a point of the screen, if it can be determined.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] if the window is gone.
    fn element_at(
        &self,
        window: WindowId,
        point: Point<Screen>,
    ) -> impl Future<Output = DesktopResult<Option<Element>>> + Send;

    /// Returns `true` if `id` is `ancestor` or a descendant of it.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoElement`] if one is gone.
    fn is_within(
        &self,
        id: ElementId,
        ancestor: ElementId,
    ) -> impl Future<Output = DesktopResult<bool>> + Send;

    /// The element of a window that has the keyboard focus, read again, if that is known without looking for it in the tree.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] if the window is gone.
    fn known_focus(&self, window: WindowId) -> impl Future<Output = DesktopResult<Option<Element>>> + Send;

    /// Returns the place where an element was last listed in a tree, also if it is gone; `None` if it never was.
    fn last_place(&self, id: ElementId) -> Option<ElementTreePath>;
}
