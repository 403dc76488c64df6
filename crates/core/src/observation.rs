//! What an agent sees at the start of a step.

use serde::{Deserialize, Serialize};

use crate::{
    ids::{AgentId, ElementId, WindowId},
    ui::{PictureRef, Tree, WindowInfo},
};

/// What to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Look {
    /// The whole desktop: every window that a person could switch to.
    Desktop {
        /// Whether to take a picture of the screen.
        picture: bool,
    },
    /// One window with the dialogs and pop-ups that belong to it.
    Window {
        /// Which one.
        window: WindowId,
        /// Whether to take a picture of it.
        picture: bool,
        /// The elements to mark in it; none for all that are listed and can be acted on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        marks: Option<Vec<ElementId>>,
        /// What the agent's sub-task is about, as far as that decides which elements are listed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        words: Vec<String>,
    },
    /// What an agent without a window has before it, such as the state of its device.
    Agent {
        /// Which one.
        agent: AgentId,
        /// Whether to take a picture, where it can.
        picture: bool,
    },
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Observation {
    /// The desktop.
    Desktop(DesktopView),
    /// One window.
    Window(WindowView),
    /// What an agent without a window has before it.
    Agent(AgentView),
}

impl Observation {
    /// The picture, if one was taken.
    pub const fn picture(&self) -> Option<&PictureRef> {
        match self {
            Self::Desktop(view) => view.picture.as_ref(),
            Self::Window(view) => view.picture.as_ref(),
            Self::Agent(view) => view.picture.as_ref(),
        }
    }
}

/// The desktop: its windows, top-most last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DesktopView {
    /// Every normal window, and dialogs that belong to no other window.
    pub windows: Vec<WindowInfo>,
    /// The screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRef>,
}

/// One window with what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowView {
    /// The window itself first, then its dialogs and pop-ups, top-most last. Never empty.
    pub surfaces: Vec<Surface>,
    /// The window as it looks, with its dialogs and pop-ups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRef>,
    /// What could not be used when it was looked at, such as a detector that does not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// What an agent without a window has before it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentView {
    /// In words; empty for agents that have nothing to look at.
    pub text: String,
    /// As it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRef>,
}

/// A window and the elements in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// The window.
    pub window: WindowInfo,
    /// What is in it; empty where the application has no accessibility tree for it.
    pub tree: Tree,
}

impl WindowView {
    /// Every element of every surface.
    pub fn elements(&self) -> impl Iterator<Item = &crate::ui::Element> {
        self.surfaces.iter().flat_map(|surface| &surface.tree.elements)
    }
}

/// Why nothing could be seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ObserveFailure {
    /// Whether the window or agent that was to be seen is gone (as opposed to a desktop that does not answer).
    pub window_gone: bool,
    /// Whether the whole desktop is gone, so that looking again is of no use.
    pub desktop_gone: bool,
    /// What happened.
    pub message: String,
}
