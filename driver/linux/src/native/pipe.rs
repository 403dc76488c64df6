//! The pipe that LibreOffice listens on: a Unix socket with a random name, which only this user can open.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The file in the private folder that holds the name, where no application can change it: the file of the pipe is removed by it.
const NAME_FILE: &str = "own/office-pipe";
/// The random bytes of a name.
const NAME_BYTES: usize = 16;

/// The name of the pipe of the desktop with this private folder; made when it is asked for first. Blocking.
///
/// # Errors
/// The name cannot be kept.
pub(crate) fn pipe_name(private: &Path) -> io::Result<String> {
    let file = private.join(NAME_FILE);
    match fs::read_to_string(&file) {
        Ok(name) => Ok(name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0_u8; NAME_BYTES];
            getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
            let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let name = format!("deskhand_{name}");
            crate::virtual_desktop::folders::write_private(&file, name.as_bytes())?;
            Ok(name)
        }
        Err(error) => Err(error),
    }
}

/// The socket of LibreOffice on a desktop, which stays if LibreOffice is killed.
pub(crate) struct OfficePipe {
    places: [PathBuf; 2],
}

impl OfficePipe {
    /// The pipe of the desktop with this private folder, if it has one. Blocking.
    pub(crate) fn of(private: &Path) -> Option<Self> {
        let name = fs::read_to_string(private.join(NAME_FILE)).ok()?;
        let user = fs::metadata(private).ok()?.uid();
        let file = format!("OSL_PIPE_{user}_{name}");
        Some(Self { places: ["/tmp", "/var/tmp"].map(|folder| Path::new(folder).join(&file)) })
    }

    /// Removes it. Blocking.
    pub(crate) fn remove(&self) {
        for socket in &self.places {
            match fs::remove_file(socket) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::debug!(%error, "failed to remove the pipe of LibreOffice");
                }
                Ok(()) | Err(_) => {}
            }
        }
    }
}
