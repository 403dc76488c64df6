//! A whole desktop: all capabilities together.

use deskhand_ui::{
    Tree,
    geometry::Size,
    ids::{ElementId, WindowId},
};
use serde::Serialize;

use super::{
    Capture, Clipboard, Documents, ElementPatterns, IdleWait, InputInjection, Native, TreeLimits, UiTree,
    WindowManagement,
};
use crate::DesktopResult;

/// A whole desktop.
pub trait Desktop:
    WindowManagement
    + UiTree
    + ElementPatterns
    + InputInjection
    + Clipboard
    + Capture
    + IdleWait
    + Documents
    + Native
    + Sync
    + Send
{
    /// Returns the capabilities of this desktop, available up front.
    fn capabilities(&self) -> Capabilities;

    /// Everything that can be seen of a window: the elements of its tree, and any detected ones.
    ///
    /// # Errors
    /// As [`UiTree::tree`]. A source that could not be used is a notice, not an error.
    fn see(
        &self,
        window: WindowId,
        limits: TreeLimits,
    ) -> impl Future<Output = DesktopResult<WindowTreeSnapshot>> + Send;

    /// An id that no element has, and that none will get.
    fn reserve_element_id(&self) -> ElementId;
}

/// The result of [`Desktop::see`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WindowTreeSnapshot {
    /// Its elements.
    pub tree: Tree,
    /// The parts that could not be used, each with the cause and the next step.
    pub notices: Vec<String>,
}

/// The capabilities of a desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// `linux-x11`, `fake`, …
    pub platform: &'static str,
    /// The size of the screen.
    pub screen: Size,
    /// `true` if windows can be listed and managed.
    pub windowing: bool,
    /// `true` if applications expose their elements.
    pub ui_tree: bool,
    /// `true` if real input events can be sent.
    pub input: bool,
    /// `true` if screenshots can be taken.
    pub capture: bool,
}
