//! Files and folders that only their owner can read: they show what was on the screen.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

/// The permissions of such a file.
pub(crate) const FILE_MODE: u32 = 0o600;
/// The permissions of such a folder.
const FOLDER_MODE: u32 = 0o700;

/// Creates a folder and its parents, accessible to their owner only. Existing folders keep their permissions.
///
/// # Errors
/// If it cannot be created.
pub fn create_folders(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Writes a file that only its owner can access. An existing file gets these permissions too.
///
/// # Errors
/// If it cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file =
        fs::OpenOptions::new().create(true).truncate(true).write(true).mode(FILE_MODE).open(path)?;
    // Devices and pipes such as `/dev/stdout` keep theirs.
    if file.metadata()?.is_file() {
        file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
    }
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_has_access() {
        let home = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = home.path().join("a/b");
        create_folders(&folder).unwrap();
        assert_eq!([mode(&folder), mode(&home.path().join("a"))], [0o700; 2]);
        let file = folder.join("screen.png");
        fs::write(&file, "an older and longer file").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        write_file(&file, b"new").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o600, b"new".to_vec()));
        write_file(Path::new("/dev/null"), b"new").unwrap();
    }
}
