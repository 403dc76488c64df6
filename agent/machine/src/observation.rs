//! Observations of agents at the start of a step.

use serde::{Deserialize, Serialize};

use deskhand_ui::{
    AppInfo, PictureRef, WindowInfo, WindowView,
    ids::{AgentId, ElementId, WindowId},
};

/// Target of an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum ObservationTarget {
    /// The whole desktop: every window that a person can switch to.
    Desktop {
        /// `true` to take a picture of the screen.
        picture: bool,
    },
    /// A window with its dialogs and pop-ups.
    Window {
        /// Its id.
        window: WindowId,
        /// `true` to take a picture of the window.
        picture: bool,
        /// The elements to annotate in the picture; `None` for all that are listed and actionable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        marks: Option<Vec<ElementId>>,
        /// Keywords of the sub-task, which decide which elements are listed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        words: Vec<String>,
    },
    /// An agent without a window: its own observation, such as the state of its device.
    Agent {
        /// Its id.
        agent: AgentId,
        /// `true` to take a picture, if the agent supports it.
        picture: bool,
    },
}

impl ObservationTarget {
    /// The same without a picture.
    #[must_use]
    pub fn without_picture(mut self) -> Self {
        match &mut self {
            Self::Desktop { picture } | Self::Window { picture, .. } | Self::Agent { picture, .. } => {
                *picture = false;
            }
        }
        self
    }
}

/// Result of an observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Observation {
    /// The desktop.
    Desktop(DesktopView),
    /// One window.
    Window(WindowView),
    /// Observation of an agent without a window.
    Agent(AgentView),
}

impl Observation {
    /// The application of an observed window.
    pub fn application(&self) -> Option<&AppInfo> {
        match self {
            Self::Window(view) => view.surfaces.first().map(|surface| &surface.window.app),
            Self::Desktop(_) | Self::Agent(_) => None,
        }
    }

    /// The window, if one was observed.
    pub const fn window(&self) -> Option<&WindowView> {
        match self {
            Self::Window(view) => Some(view),
            Self::Desktop(_) | Self::Agent(_) => None,
        }
    }

    /// The picture, if one was taken.
    pub const fn picture(&self) -> Option<&PictureRef> {
        match self {
            Self::Desktop(view) => view.picture.as_ref(),
            Self::Window(view) => view.picture.as_ref(),
            Self::Agent(view) => view.picture.as_ref(),
        }
    }
}

/// The desktop: its windows, bottom to top.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DesktopView {
    /// Every normal window, and dialogs without an owner.
    pub windows: Vec<WindowInfo>,
    /// The dialogs of these windows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<WindowInfo>,
    /// A picture of the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRef>,
}

/// Observation of an agent without a window.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentView {
    /// As text; empty if the agent observes nothing.
    pub text: String,
    /// As a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<PictureRef>,
}

/// Why an observation failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ObserveFailure {
    /// `true` if the window or agent is gone, as opposed to not responding.
    pub window_gone: bool,
    /// `true` if the whole desktop is gone, so that a retry is pointless.
    pub desktop_gone: bool,
    /// Description of the failure.
    pub message: String,
}
