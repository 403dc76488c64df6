//! Files that have the names of what is in them: workflows and schedules.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use deskhand_machine::workflow::Workflow;

/// The names in a folder, sorted: those of its files with this ending. None if there is no such folder.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn names(folder: &Path, ending: &str) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let own = name.strip_suffix(ending).filter(|own| Workflow::is_name(own));
        names.extend(own.map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Writes a file that appears whole or not at all.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
