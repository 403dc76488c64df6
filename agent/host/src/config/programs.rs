//! Programs of Deskhand that are installed separately.

use std::path::{Path, PathBuf};

use deskhand_local_client::{LocalCallError, NAME};
use deskhand_process::{PATH_DEFAULT, find_helper, find_program};

use super::environment::{variable, xdg};

/// The folder with all of them, in place of those that are searched otherwise.
const VARIABLE: &str = "DESKHAND_PROGRAMS";

/// The folder where set-up installs them. Applications do not see it.
pub(super) fn programs_dir() -> PathBuf {
    xdg("XDG_DATA_HOME", ".local/share").join("deskhand/programs")
}

/// `deskhand-local`, which computes with models on this machine; `None` if it is not installed. Blocking.
pub(crate) fn find_local() -> Option<PathBuf> {
    find(NAME)
}

/// The command that installs `deskhand-local`, in a sentence; `None` if it is installed. Blocking.
pub fn local_program_missing() -> Option<String> {
    find_local().is_none().then(|| LocalCallError::Missing.to_string())
}

/// A program of ours: in the folder of the variable, or else in that of set-up, or on PATH where applications cannot write.
fn find(name: &str) -> Option<PathBuf> {
    let in_folder = |folder: PathBuf| find_program(Path::new(".").join(name), PATH_DEFAULT.as_ref(), &folder);
    match variable(VARIABLE) {
        Some(folder) => in_folder(PathBuf::from(folder)),
        None => in_folder(programs_dir()).or_else(|| {
            let path = variable("PATH").unwrap_or_else(|| PATH_DEFAULT.into());
            find_helper(name, &path)
        }),
    }
}
