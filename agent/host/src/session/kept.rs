//! Desktops of sessions that are kept after their run ended: found, attached to, and ended.

use std::time::Duration;

use deskhand_desktop_linux::{DesktopHandle, LinuxDesktop};
use deskhand_runtime::{
    HeldSession, HoldError, JournalError, SessionFolder, SessionStore, UnsealedJournalPolicy,
};
use deskhand_ui::ids::SessionId;

use super::{
    SessionError,
    find::{find, hold},
};
use crate::{
    HostError, Notice,
    config::Config,
    workspace::{DesktopNote, Workspace, WorkspaceError, WorkspacePlan},
};

/// A virtual desktop that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDesktop {
    /// Its session.
    pub session: SessionId,
    /// Handle by which programs reach the desktop.
    pub handle: DesktopHandle,
    /// `true` if a process works on the desktop.
    pub in_use: bool,
}

/// A desktop that this process holds, until it [leaves](Self::leave) or [ends](Self::end) it. Its session cannot be resumed by others
/// in the meantime.
pub struct AttachedDesktop {
    workspace: Workspace,
    /// Locked for as long as the desktop is held.
    held: HeldSession,
    /// Time for which the desktop is kept once it is left.
    duration: Duration,
}

impl AttachedDesktop {
    /// The desktop.
    pub const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Leaves the desktop to its keeper again. Returns for how long.
    ///
    /// # Errors
    /// The keeper has ended.
    pub async fn leave(self) -> Result<Duration, HostError> {
        self.workspace.leave(self.duration).await?;
        Ok(self.duration)
    }

    /// Ends the desktop with everything on it, and names the unsaved changes that end with it.
    pub async fn end(self) -> Vec<Notice> {
        DesktopNote::remove(self.held.folder().path());
        self.workspace.close().await
    }
}

/// The desktops that are still there, those of the newest sessions first.
pub(crate) fn list(store: &SessionStore) -> Result<Vec<KeptDesktop>, SessionError> {
    let folders = store.list()?.into_iter().filter_map(|id| Some((store.find(&id.0).ok()?, id)));
    Ok(folders.filter_map(|(folder, session)| of(&folder, session)).collect())
}

fn of(folder: &SessionFolder, session: SessionId) -> Option<KeptDesktop> {
    let handle = DesktopNote::find(folder)?.handle;
    // The folder goes with the desktop.
    let is_there = handle.socket.exists();
    let in_use = folder.is_in_use().unwrap_or_default();
    is_there.then_some(KeptDesktop { session, handle, in_use })
}

/// The desktop of a session.
pub(crate) fn one(store: &SessionStore, name: &str) -> Result<KeptDesktop, SessionError> {
    let folder = find(store, name)?;
    let session = SessionId(folder.name());
    of(&folder, session).ok_or_else(|| SessionError::NoDesktop { session: folder.name() })
}

/// Takes hold of the desktop of a session; `None` if another process uses it.
pub(crate) async fn attach(
    config: &Config,
    store: &SessionStore,
    name: &str,
) -> Result<Option<AttachedDesktop>, HostError> {
    let kept = one(store, name)?;
    let held = match hold(find(store, &kept.session.0)?, UnsealedJournalPolicy::Accept) {
        Err(SessionError::Hold { error: HoldError::Journal(JournalError::InUse { .. }), .. }) => {
            return Ok(None);
        }
        other => other?,
    };
    let desktop = LinuxDesktop::attach(&kept.handle, held.ids()).await.map_err(WorkspaceError::from)?;
    let name = held.in_force().desktop.clone();
    let workspace = WorkspacePlan::private(config)?.workspace(desktop, name).await?;
    let duration = config.desktop.kept_for();
    workspace.keep_for(duration)?;
    Ok(Some(AttachedDesktop { workspace, held, duration }))
}
