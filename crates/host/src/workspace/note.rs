//! The note beside a journal that says where the session's virtual desktop is, for whoever resumes it.

use deskhand_desktop_linux::DesktopHandle;
use deskhand_runtime::SessionFolder;
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use super::WorkspaceError;

const FILE: &str = "desktop.json";

/// Where the desktop of a session is. Whoever reads it can work on that desktop, so only its owner can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DesktopNote {
    pub(crate) handle: DesktopHandle,
    /// What was opened there and ends with it.
    pub(crate) documents: Vec<PathBuf>,
}

impl DesktopNote {
    /// The note of a session; `None` if its desktop was not kept.
    pub(crate) fn find(folder: &SessionFolder) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.path().join(FILE)).ok()?).ok()
    }

    /// Writes the note; the file is there whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), WorkspaceError> {
        let (file, part) = (folder.join(FILE), folder.join(".desktop.json.part"));
        let write = || -> io::Result<()> {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            options.open(&part)?.write_all(&serde_json::to_vec_pretty(self)?)?;
            fs::rename(&part, &file)
        };
        write().map_err(|source| WorkspaceError::Note { path: file.clone(), source })
    }

    /// Removes the note: the desktop is gone.
    pub(crate) fn remove(folder: &Path) {
        if let Err(error) = fs::remove_file(folder.join(FILE))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the note of a desktop that is gone stays behind");
        }
    }
}
