//! End of a desktop: items with unsaved changes are named first, and applications are closed as a person would
//! close them.

use std::{collections::BTreeSet, time::Duration};

use deskhand_desktop::{Documents as _, WindowManagement as _};
use deskhand_desktop_act::{UnclosedWindow, close_all};
use deskhand_ui::{DocumentInfo, WindowInfo, WindowKind};

use super::{Workspace, WorkspaceError};
use crate::{Notice, config::DesktopKind};

/// Maximum time for applications to end once their windows are closed. LibreOffice writes its profile then.
const END_MAX: Duration = Duration::from_secs(3);

impl Workspace {
    /// Ends a virtual desktop with everything on it, and names what had unsaved changes. On the current desktop, only closes the
    /// windows that were marked for closing, and names those that stay open.
    pub async fn close(self) -> Vec<Notice> {
        let notices = match (self.kind, &self.opened.known) {
            (DesktopKind::Virtual, _) => {
                self.unsaved().await.into_iter().map(|what| Notice::Lost { what }).collect()
            }
            (DesktopKind::Current, Some(_)) => {
                let open = self.close_applications().await;
                open.iter().map(|one| Notice::StaysOpen { window: one.window.label() }).collect()
            }
            (DesktopKind::Current, None) => Vec::new(),
        };
        self.end().await;
        notices
    }

    /// Ends a virtual desktop with everything on it; disconnects from the current one.
    pub(crate) async fn end(self) {
        self.desktop.into_inner().into_inner().shut_down().await;
    }

    /// Leaves a virtual desktop to its keeper for this long, with everything on it.
    ///
    /// # Errors
    /// The keeper has ended, and the desktop with it.
    pub(crate) async fn leave(self, duration: Duration) -> Result<(), WorkspaceError> {
        Ok(self.desktop.into_inner().into_inner().leave(duration).await?)
    }

    /// Returns `true` if an application shows a window.
    pub(crate) async fn shows_windows(&self) -> bool {
        let windows = self.desktop.windows().await.unwrap_or_default();
        windows.iter().any(|window| window.kind == WindowKind::Normal)
    }

    /// Asks applications to close, and returns the windows that stay because their application asked something first. On a virtual
    /// desktop waits until they have ended, so that they leave no lock file; on the current one, only windows close that were marked
    /// for closing.
    pub(crate) async fn close_applications(&self) -> Vec<UnclosedWindow> {
        let known = self.opened.known.as_deref().unwrap_or_default();
        let windows = self.desktop.windows().await.unwrap_or_default();
        let closed = close_all(&self.desktop, |window| !known.contains(&window.id)).await;
        let remaining = closed.unwrap_or_else(|error| {
            tracing::debug!(%error, "failed to close the applications");
            Vec::new()
        });
        let stays = |window: &&WindowInfo| remaining.iter().all(|one| one.window.app.pid != window.app.pid);
        let pids: BTreeSet<u32> = windows.iter().filter(stays).filter_map(|window| window.app.pid).collect();
        if self.kind == DesktopKind::Virtual
            && let Err(error) = self.back_end().await_ended(pids, END_MAX).await
        {
            tracing::debug!(%error, "failed to wait for the applications");
        }
        remaining
    }

    /// The documents with a mark of unsaved changes, by path or name. Some applications show none.
    pub(crate) async fn unsaved(&self) -> Vec<String> {
        let mut names = Vec::new();
        for window in self.desktop.windows().await.unwrap_or_default() {
            let document = self.desktop.document(&window).await.unwrap_or_default();
            names.extend(document.filter(|one| one.modified == Some(true)).map(|one| name_of(&one)));
        }
        names
    }
}

/// The name of a window that did not close.
pub(crate) fn remaining_name(one: &UnclosedWindow) -> String {
    one.document.as_ref().map_or_else(|| one.window.title.clone(), name_of)
}

fn name_of(document: &DocumentInfo) -> String {
    document.path.clone().unwrap_or_else(|| document.name.clone())
}
