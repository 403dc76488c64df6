//! Top-level windows and the applications they belong to.

use serde::{Deserialize, Serialize};

use crate::{
    geometry::{Rect, Screen},
    ids::WindowId,
};

/// The application behind a window.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AppInfo {
    /// The name that people use: `LibreOffice Writer`.
    pub name: String,
    /// The application root: what AppAgents are cached by. The class part of `WM_CLASS`, lower case.
    pub root: String,
    /// The process that owns the window, where the window says so.
    pub pid: Option<u32>,
}

/// What a top-level window is for (EWMH `_NET_WM_WINDOW_TYPE`, and override-redirect).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// A window that a person switches to.
    Normal,
    /// A dialog; it belongs to its owner.
    Dialog,
    /// A menu, drop-down list or tool tip; it belongs to its owner.
    Popup,
}

/// One top-level window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowInfo {
    /// Its id.
    pub id: WindowId,
    /// Its title (`_NET_WM_NAME`).
    pub title: String,
    /// Its application.
    pub app: AppInfo,
    /// Its client area.
    pub bounds: Rect<Screen>,
    /// What it is for.
    pub kind: WindowKind,
    /// The window that it belongs to, for dialogs and pop-ups (`WM_TRANSIENT_FOR`, else the application's).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<WindowId>,
    /// Whether it has the input focus (`_NET_ACTIVE_WINDOW`).
    #[serde(default)]
    pub active: bool,
    /// Whether the application shows this window to assistive technology.
    #[serde(default)]
    pub accessible: bool,
}

impl WindowInfo {
    /// How messages name it: `w2 “Untitled 1 — LibreOffice Calc”`.
    pub fn label(&self) -> String {
        format!("{} “{}”", self.id, self.title)
    }
}
