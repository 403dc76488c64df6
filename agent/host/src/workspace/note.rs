//! The note beside a journal with the address of the session's virtual desktop, for resuming.

use deskhand_desktop_linux::DesktopHandle;
use deskhand_runtime::{SessionFolder, private};
use serde::{Deserialize, Serialize};
use std::{fs, io, path::Path};

use super::WorkspaceError;

const FILE: &str = "desktop.json";

/// The address of a session's desktop. It grants access to that desktop, so only its owner can read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DesktopNote {
    pub(crate) handle: DesktopHandle,
}

impl DesktopNote {
    /// Reads the note of a session; `None` if its desktop was not kept.
    pub(crate) fn find(folder: &SessionFolder) -> Option<Self> {
        serde_json::from_slice(&private::read_deciding(&folder.path().join(FILE)).ok()?).ok()
    }

    /// Writes the note atomically.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), WorkspaceError> {
        let file = folder.join(FILE);
        let write = || -> io::Result<()> { private::replace_file(&file, &serde_json::to_vec_pretty(self)?) };
        write().map_err(|source| WorkspaceError::Note { path: file.clone(), source })
    }

    /// Removes the note of a desktop that has ended.
    pub(crate) fn remove(folder: &Path) {
        if let Err(error) = fs::remove_file(folder.join(FILE))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "failed to remove the note of a desktop that has ended");
        }
    }
}
