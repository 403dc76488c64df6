//! The desktop of a session as it is now, for somebody who watches it or takes part.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_desktop_linux::{LinuxDesktop, LiveInput};
use deskhand_runtime::SessionFolder;

pub use deskhand_desktop_linux::{InputMessage, LiveScreen};

use crate::{
    HostError,
    workspace::{DesktopNote, WorkspaceError},
};

/// A person's eyes and hands on a desktop. Its session is not involved, and is not slowed.
#[derive(Debug)]
pub struct LiveDesktop {
    /// Screen contents, updated as they change.
    pub screen: LiveScreen,
    /// A pointer and a keyboard.
    pub input: LiveInput,
}

/// The note of a desktop that is there.
fn note_of(folder: &SessionFolder) -> Option<DesktopNote> {
    DesktopNote::find(folder).filter(|note| note.handle.socket.exists())
}

/// Returns `true` if a session has a desktop that others can reach.
pub(crate) fn is_there(folder: &SessionFolder) -> bool {
    note_of(folder).is_some()
}

/// The desktop of a session; `None` if it has none that others can reach.
pub(crate) async fn of(folder: &SessionFolder) -> Result<Option<LiveDesktop>, HostError> {
    let Some(note) = note_of(folder) else { return Ok(None) };
    let screen = LiveScreen::open(&note.handle).await.map_err(WorkspaceError::from)?;
    let input = LiveInput::open(&note.handle).await.map_err(WorkspaceError::from)?;
    Ok(Some(LiveDesktop { screen, input }))
}

/// Location of the screen of a session that runs in this process, once its private desktop is up.
#[derive(Debug, Clone, Default)]
pub struct ScreenPlace(Arc<Mutex<Option<(String, PathBuf)>>>);

impl ScreenPlace {
    /// Notes which desktop it is.
    pub(crate) fn note(&self, desktop: &LinuxDesktop) {
        let place =
            desktop.private_folder().map(|folder| (desktop.display_name().to_owned(), folder.to_owned()));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }

    /// Opens the screen, without hands; `None` as long as there is none.
    ///
    /// # Errors
    /// The display does not answer, or has ended.
    pub async fn open(&self) -> Result<Option<LiveScreen>, HostError> {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((display, folder)) = place else { return Ok(None) };
        Ok(Some(LiveScreen::open_private(&display, &folder).await.map_err(WorkspaceError::from)?))
    }
}
