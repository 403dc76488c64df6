//! The desktop of a session as it is now, for somebody who watches it or takes part.

use deskhand_desktop_linux::{LiveInput, LiveScreen};
use deskhand_runtime::SessionFolder;

pub use deskhand_desktop_linux::InputMessage;

use crate::{
    HostError,
    workspace::{DesktopNote, WorkspaceError},
};

/// A person's eyes and hands on a desktop. Its session is not involved, and is not slowed.
#[derive(Debug)]
pub struct LiveDesktop {
    /// What is shown, as it changes.
    pub screen: LiveScreen,
    /// A pointer and a keyboard.
    pub input: LiveInput,
}

/// The note of a desktop that is there.
fn note_of(folder: &SessionFolder) -> Option<DesktopNote> {
    DesktopNote::find(folder).filter(|note| note.handle.socket.exists())
}

/// Whether a session has a desktop that others can reach.
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
