//! A whole desktop: all capabilities together.

use deskhand_core::{
    geometry::Size,
    ids::{ElementId, WindowId},
    ui::Tree,
};
use serde::Serialize;

use super::{Capture, Clipboard, Input, Patterns, Settling, TreeLimits, UiTree, Windowing};
use crate::DesktopResult;

/// A whole desktop.
pub trait Desktop:
    Windowing + UiTree + Patterns + Input + Clipboard + Capture + Settling + Sync + Send
{
    /// What works on this desktop, told up front.
    fn capabilities(&self) -> Capabilities;

    /// All that can be seen of a window: the elements of its tree, and what else is known of it.
    ///
    /// # Errors
    /// As [`UiTree::tree`]. What could not be used for the look is a notice and no error.
    fn see(&self, window: WindowId, limits: TreeLimits) -> impl Future<Output = DesktopResult<Sight>> + Send;

    /// An id that no element has, and that none of its own will get.
    fn reserve_element_id(&self) -> ElementId;
}

/// What is seen of a window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sight {
    /// Its elements.
    pub tree: Tree,
    /// What could not be used to find them, why, and what to do about it.
    pub notices: Vec<String>,
}

/// What works on a desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// `linux-x11`, `fake`, …
    pub platform: &'static str,
    /// The size of the screen.
    pub screen: Size,
    /// Whether windows can be listed and managed.
    pub windowing: bool,
    /// Whether applications show their elements.
    pub ui_tree: bool,
    /// Whether real input events can be sent.
    pub input: bool,
    /// Whether pictures can be taken.
    pub capture: bool,
}
