//! A running desktop: what was opened on it, and how it ends.

use std::{path::Path, time::Duration};

use deskhand_core::{
    command::Verdict,
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

use super::{DesktopNote, Document, WorkspaceError, documents, windows::find_window};
use crate::Notice;

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
    pub(super) opened: Opened,
}

/// What was opened on a desktop.
#[derive(Default)]
pub(super) struct Opened {
    /// The window that was opened last.
    pub(super) last: Option<WindowInfo>,
    /// Documents opened on a private desktop, which close with it.
    pub(super) unlock: Vec<Document>,
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

    /// Ends a virtual desktop with everything on it. On the current desktop, only closes the windows that were marked for
    /// closing. Returns notices for those that stay open.
    pub async fn close(self) -> Vec<Notice> {
        let notices = match &self.opened.known {
            Some(known) => self.close_new(known).await,
            None => Vec::new(),
        };
        self.desktop.into_inner().into_inner().shut_down().await;
        for document in &self.opened.unlock {
            documents::unlock(document);
        }
        notices
    }

    /// Writes the address of the desktop into the session folder and keeps the desktop for this long if this process dies.
    /// Does nothing for a desktop without a keeper.
    ///
    /// # Errors
    /// The note cannot be written, or the keeper has exited.
    pub(crate) fn note_in(&self, folder: &Path, keep: Duration) -> Result<(), WorkspaceError> {
        let Some(handle) = self.back_end().handle() else { return Ok(()) };
        let documents = self.opened.unlock.iter().map(|document| document.path.clone()).collect();
        DesktopNote { handle: handle.clone(), documents }.write(folder)?;
        Ok(self.back_end().keep_for(keep)?)
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

    /// Asks the windows that were opened since the start to close. An application that asks about unsaved work stays
    /// open.
    async fn close_new(&self, known: &[WindowId]) -> Vec<Notice> {
        let Ok(windows) = self.desktop.windows().await else { return Vec::new() };
        let new =
            windows.iter().filter(|window| window.kind == WindowKind::Normal && !known.contains(&window.id));
        let mut notices = Vec::new();
        for window in new {
            let closed = act::close(&self.desktop, window.id, &ActLimits::default()).await;
            if !matches!(&closed, Ok(report) if report.effect() == Verdict::Seen) {
                notices.push(Notice::StaysOpen { window: window.label() });
            }
        }
        notices
    }
}
