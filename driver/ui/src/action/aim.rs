//! Targets of actions.

use serde::{Deserialize, Serialize};

use crate::{
    Element, Role, WindowInfo, WindowKind, element_label,
    geometry::{Point, Screen},
    ids::{ElementId, WindowId},
    window_label,
};

/// An element as the action saw it before it acted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementRef {
    /// Its id.
    pub id: ElementId,
    /// Its role.
    pub role: Role,
    /// Its accessible name; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The element that was asked for, if that one is gone and this one took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<ElementId>,
}

impl ElementRef {
    /// Its name in messages: `push button "Finish"`.
    pub fn label(&self) -> String {
        element_label(&self.role, &self.name)
    }
}

impl From<&Element> for ElementRef {
    fn from(element: &Element) -> Self {
        Self {
            id: element.id,
            role: element.role.clone(),
            name: element.name.clone(),
            instead_of: element.instead_of,
        }
    }
}

/// A window as the action saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowRef {
    /// Its id.
    pub id: WindowId,
    /// Its kind.
    pub kind: WindowKind,
    /// Its title; may be empty.
    pub title: String,
}

impl WindowRef {
    /// Its name in messages: `w2 “Untitled 1 — LibreOffice Calc”`.
    pub fn label(&self) -> String {
        window_label(self.id, &self.title)
    }

    /// Returns the usual word for its kind; a pop-up that an action opens is a menu.
    pub const fn kind_word(&self) -> &'static str {
        match self.kind {
            WindowKind::Normal | WindowKind::Panel => "window",
            WindowKind::Dialog => "dialog",
            WindowKind::Popup => "menu",
            WindowKind::Tooltip => "tool tip",
        }
    }
}

impl From<&WindowInfo> for WindowRef {
    fn from(window: &WindowInfo) -> Self {
        Self { id: window.id, kind: window.kind, title: window.title.clone() }
    }
}

/// Target of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "aim", rename_all = "snake_case")]
pub enum Aim {
    /// An element.
    Element {
        /// The element.
        element: ElementRef,
    },
    /// A point of the screen.
    Point {
        /// The point.
        point: Point<Screen>,
        /// The element there, if the application exposes one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<ElementRef>,
    },
    /// A window as a whole.
    Window {
        /// The window.
        window: WindowRef,
    },
    /// Whatever has the keyboard focus in a window.
    Focus {
        /// The window.
        window: WindowRef,
    },
    /// The desktop as a whole, such as its clipboard.
    Desktop,
    /// The target was not found, so that the action was refused; the refusal says what was looked for.
    Unresolved,
}

impl Aim {
    /// An element.
    pub fn element(element: &Element) -> Self {
        Self::Element { element: element.into() }
    }

    /// A window.
    pub fn window(window: &WindowInfo) -> Self {
        Self::Window { window: window.into() }
    }

    /// The focused element of a window.
    pub fn focus_of(window: &WindowInfo) -> Self {
        Self::Focus { window: window.into() }
    }

    /// The element that it names, if any.
    pub const fn named_element(&self) -> Option<&ElementRef> {
        match self {
            Self::Element { element } | Self::Point { on: Some(element), .. } => Some(element),
            Self::Point { on: None, .. }
            | Self::Window { .. }
            | Self::Focus { .. }
            | Self::Desktop
            | Self::Unresolved => None,
        }
    }
}
