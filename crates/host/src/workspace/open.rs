//! A running desktop, and what was opened on it.

use std::{path::Path, time::Duration};

use deskhand_core::{
    ids::WindowId,
    secret::SecretPermit,
    ui::{WindowInfo, WindowKind},
};
use deskhand_desktop::{LaunchRequest, QuietLimits, Settling as _, Windowing as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, Veiled};
use deskhand_desktop_detect::Seeing;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_secret::Secrets;

use super::{DesktopNote, Document, WorkspaceError, windows::find_window};
use crate::config::DesktopKind;

/// A running desktop.
pub struct Workspace {
    /// The desktop itself, as agents see it: secrets are hidden.
    pub desktop: Seeing<Veiled<LinuxDesktop>>,
    /// The secrets that may be typed on it.
    pub secrets: Secrets,
    /// Where they may be typed.
    pub permits: Vec<SecretPermit>,
    /// Its display name: `virtual 1920x1080`.
    pub name: String,
    /// Which kind of desktop it is.
    pub(super) kind: DesktopKind,
    pub(super) opened: Opened,
}

/// What was opened on a desktop.
#[derive(Default)]
pub(super) struct Opened {
    /// The window that was opened last.
    pub(super) last: Option<WindowInfo>,
    /// The windows that existed before, if later ones are closed at the end.
    pub(super) known: Option<Vec<WindowId>>,
}

impl Workspace {
    /// The desktop below, which shows everything.
    pub const fn back_end(&self) -> &LinuxDesktop {
        self.desktop.inner().inner()
    }

    /// Finds a window by id, title or application. Without a name: the one that was opened last, else the active one.
    ///
    /// # Errors
    /// No window or several windows match.
    pub async fn window(&self, wanted: Option<&str>) -> Result<WindowInfo, WorkspaceError> {
        let windows = self.desktop.windows().await?;
        if let Some(text) = wanted {
            return find_window(&windows, text);
        }
        let opened = self.opened.last.as_ref();
        opened
            .and_then(|opened| windows.iter().find(|window| window.id == opened.id))
            .or_else(|| windows.iter().find(|window| window.active))
            .or_else(|| windows.iter().rev().find(|window| window.kind == WindowKind::Normal))
            .cloned()
            .ok_or(WorkspaceError::NoWindow)
    }

    /// Writes the address of the desktop into the session folder and keeps the desktop for this long if this process dies.
    /// Does nothing for a desktop without a keeper.
    ///
    /// # Errors
    /// The note cannot be written, or the keeper has exited.
    pub(crate) fn note_in(&self, folder: &Path, keep: Duration) -> Result<(), WorkspaceError> {
        let Some(handle) = self.back_end().handle() else { return Ok(()) };
        DesktopNote { handle: handle.clone() }.write(folder)?;
        self.keep_for(keep)
    }

    /// Keeps the desktop for this long if this process dies. Does nothing for a desktop without a keeper.
    ///
    /// # Errors
    /// The keeper has ended.
    pub(crate) fn keep_for(&self, duration: Duration) -> Result<(), WorkspaceError> {
        Ok(self.back_end().keep_for(duration)?)
    }

    /// Waits, with a bound, until applications have finished work such as writing a file, before their desktop ends.
    pub(crate) async fn settle(&self) {
        if let Ok(watch) = self.desktop.watch(None).await {
            self.desktop.settle(watch, QuietLimits::default()).await.ok();
        }
    }

    pub(super) async fn open(&self, document: &Document) -> Result<WindowInfo, WorkspaceError> {
        let mut first_error = None;
        for program in document.programs {
            match self.start(program, Some(&document.path)).await {
                Ok(window) => return Ok(window),
                Err(error) => first_error.get_or_insert(error),
            };
        }
        Err(first_error.unwrap_or_else(|| WorkspaceError::NoProgram { path: document.path.clone() }))
    }

    pub(super) async fn start(
        &self,
        program: &str,
        file: Option<&(impl AsRef<Path> + ?Sized)>,
    ) -> Result<WindowInfo, WorkspaceError> {
        let arguments = file.iter().map(|file| file.as_ref().display().to_string()).collect();
        let request = LaunchRequest { program: program.to_owned(), arguments };
        let report = act::launch(&self.desktop, &request, &ActLimits::default()).await?;
        let problem = report.summary();
        report.window.ok_or_else(|| WorkspaceError::NoWindowShown { program: program.to_owned(), problem })
    }
}
