//! Top-level windows and the applications they belong to.

use serde::{Deserialize, Serialize};

use super::{DocumentInfo, fold_name};
use crate::{
    geometry::{Rect, Screen},
    ids::WindowId,
};

/// The application of a window.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AppInfo {
    /// Display name: `LibreOffice Writer`.
    pub name: String,
    /// Application root, the cache key of AppAgents: the class part of `WM_CLASS`, lower case.
    pub root: String,
    /// Process that owns the window, if the window names it.
    pub pid: Option<u32>,
}

/// The kind of a top-level window (EWMH `_NET_WM_WINDOW_TYPE`, and override-redirect).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// A normal window.
    Normal,
    /// A dialog with an owner window.
    Dialog,
    /// A menu or drop-down list with an owner window.
    Popup,
    /// A tool tip with an owner window: it says something and takes no input.
    Tooltip,
    /// A panel, a dock, a splash screen, or the background of the desktop: no window that a person switches to.
    Panel,
}

impl WindowKind {
    /// Returns `true` if it shows for a while on top of its owner window, without a frame.
    pub const fn is_popup(self) -> bool {
        matches!(self, Self::Popup | Self::Tooltip)
    }
}

/// Size state of a window on the screen (EWMH `_NET_WM_STATE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowState {
    /// As large as it is.
    #[default]
    Usual,
    /// Maximized in both directions.
    Maximized,
    /// The whole screen, without a frame.
    FullScreen,
}

impl WindowState {
    /// The word that is printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Maximized => "maximized",
            Self::FullScreen => "full screen",
        }
    }

    const fn is_usual(&self) -> bool {
        matches!(self, Self::Usual)
    }
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
    /// Its kind.
    pub kind: WindowKind,
    /// The owner of a dialog or pop-up (`WM_TRANSIENT_FOR`, else the application's window).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<WindowId>,
    /// `true` if it has the input focus (`_NET_ACTIVE_WINDOW`).
    #[serde(default)]
    pub active: bool,
    /// `true` if the application exposes the window to assistive technology.
    #[serde(default)]
    pub accessible: bool,
    /// The document that it shows, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentInfo>,
    /// Size state on the screen.
    #[serde(default, skip_serializing_if = "WindowState::is_usual")]
    pub state: WindowState,
    /// The number of the monitor that most of it is on, from 1, where there are several (RandR, in its order).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<u32>,
}

impl WindowInfo {
    /// Its name in messages: `w2 “Untitled 1 — LibreOffice Calc”`.
    pub fn label(&self) -> String {
        window_label(self.id, &self.title)
    }
}

impl WindowInfo {
    /// Returns `true` if a name that somebody gives fits its title or application: titles gain and lose marks and the names of programs.
    pub fn may_be_called(&self, name: &str) -> bool {
        let wanted = fold_name(name);
        let is = |known: &str| {
            let known = fold_name(known);
            !known.is_empty() && (known.contains(&wanted) || wanted.contains(&known))
        };
        wanted.is_empty() || is(&self.title) || is(&self.app.name) || is(&self.app.root)
    }
}

/// A window in messages: `w2 “Untitled 1 — LibreOffice Calc”`.
pub fn window_label(id: WindowId, title: &str) -> String {
    format!("{id} “{title}”")
}

/// The most owners that are followed from a dialog to its window.
const OWNERS_MAX: usize = 8;

impl WindowInfo {
    /// Returns `true` if a person could switch to it: a normal window, or a dialog that belongs to no other window.
    pub fn stands_alone(&self) -> bool {
        match self.kind {
            WindowKind::Normal => true,
            WindowKind::Dialog => self.owner.is_none(),
            WindowKind::Popup | WindowKind::Tooltip | WindowKind::Panel => false,
        }
    }
}

/// Returns `true` if two windows are of one application.
pub fn same_app(one: &WindowInfo, other: &WindowInfo) -> bool {
    match (one.app.pid, other.app.pid) {
        (Some(one), Some(other)) => one == other,
        (_, _) => one.app.root == other.app.root,
    }
}

/// Returns `true` if `info` is `main` or a dialog or pop-up of it, directly or by way of others. A dialog or pop-up without an
/// owner belongs to every window of its application.
pub fn belongs_to(windows: &[WindowInfo], info: &WindowInfo, main: &WindowInfo) -> bool {
    if info.id == main.id {
        return true;
    }
    if matches!(info.kind, WindowKind::Normal | WindowKind::Panel) && info.owner.is_none() {
        return false;
    }
    let mut owner = info.owner;
    for _ in 0..OWNERS_MAX {
        match owner {
            Some(id) if id == main.id => return true,
            Some(id) => owner = windows.iter().find(|other| other.id == id).and_then(|other| other.owner),
            None => break,
        }
    }
    info.owner.is_none() && same_app(info, main)
}

/// A window with its dialogs and pop-ups, in the order of `windows`: bottom-most first. `None` when the window is not
/// among them.
pub fn surfaces(windows: &[WindowInfo], main: WindowId) -> Option<Vec<&WindowInfo>> {
    let main = windows.iter().find(|info| info.id == main)?;
    Some(windows.iter().filter(|info| belongs_to(windows, info, main)).collect())
}

/// Returns `true` if a window is a pop-up of an application that shows no other window, such as a notification: a person sees it, and answers it
/// where it is.
pub fn is_notice(windows: &[WindowInfo], info: &WindowInfo) -> bool {
    let is_other = |other: &WindowInfo| !other.kind.is_popup() && same_app(other, info);
    info.kind == WindowKind::Popup && info.owner.is_none() && !windows.iter().any(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(id: u32, root: &str, kind: WindowKind, owner: Option<u32>) -> WindowInfo {
        WindowInfo {
            id: WindowId(id),
            title: String::new(),
            app: AppInfo { name: root.to_owned(), root: root.to_owned(), pid: None },
            bounds: Rect::new(0, 0, 10, 10),
            kind,
            owner: owner.map(WindowId),
            active: false,
            accessible: true,
            document: None,
            state: WindowState::default(),
            monitor: None,
        }
    }

    #[test]
    fn a_window_has_its_dialogs_their_dialogs_and_those_of_its_application_without_an_owner() {
        let windows = [
            window(1, "calc", WindowKind::Normal, None),
            window(2, "calc", WindowKind::Normal, None),
            window(3, "calc", WindowKind::Dialog, Some(1)),
            window(4, "calc", WindowKind::Popup, Some(3)),
            window(5, "calc", WindowKind::Dialog, None),
            window(6, "gedit", WindowKind::Dialog, None),
            window(7, "gedit", WindowKind::Normal, Some(8)),
            window(8, "gedit", WindowKind::Dialog, Some(7)),
        ];
        let check = |main: u32, expected: Option<&[u32]>| {
            let found = surfaces(&windows, WindowId(main));
            let ids = found.map(|found| found.iter().map(|info| info.id.0).collect::<Vec<_>>());
            assert_eq!(ids.as_deref(), expected, "w{main}");
        };
        check(1, Some(&[1, 3, 4, 5]));
        check(2, Some(&[2, 5]));
        check(3, Some(&[3, 4, 5]));
        // Owners that name each other come to an end.
        check(7, Some(&[6, 7, 8]));
        check(9, None);
        let alone = windows.iter().filter(|info| info.stands_alone()).map(|info| info.id.0);
        assert_eq!(alone.collect::<Vec<_>>(), [1, 2, 5, 6, 7]);
        let with_notice = [
            window(1, "calc", WindowKind::Normal, None),
            window(2, "calc", WindowKind::Popup, None),
            window(3, "notifyd", WindowKind::Popup, None),
            window(4, "notifyd", WindowKind::Tooltip, None),
        ];
        let notices = with_notice.iter().filter(|info| is_notice(&with_notice, info)).map(|info| info.id.0);
        assert_eq!(notices.collect::<Vec<_>>(), [3]);
    }
}
