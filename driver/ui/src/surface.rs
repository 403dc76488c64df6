//! Windows with their elements, as one observation.

use serde::{Deserialize, Serialize};

use crate::{Element, PictureRef, State, Tree, WindowInfo};

/// A window with its dialogs and pop-ups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowView {
    /// The window itself first, then its dialogs and pop-ups, bottom to top. Never empty.
    pub surfaces: Vec<Surface>,
    /// A picture of the window with its dialogs and pop-ups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRef>,
    /// Missing parts of the observation, such as a detector that does not respond.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A window and the elements in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// The window.
    pub window: WindowInfo,
    /// Its elements; empty if the application has no accessibility tree for it. Without the cells of a sheet if a modal dialog
    /// blocks it.
    pub tree: Tree,
}

impl Surface {
    /// Returns `true` if it is a modal dialog, which blocks the windows below.
    pub fn is_modal(&self) -> bool {
        self.tree.elements.first().is_some_and(|root| root.states.has(State::Modal))
    }
}

impl WindowView {
    /// Every element of every surface.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.surfaces.iter().flat_map(|surface| &surface.tree.elements)
    }
}
