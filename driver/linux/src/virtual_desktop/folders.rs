//! The private folders of virtual desktops, and what is written there.
//!
//! Applications of a desktop can write to its private folder, but for the folder `own` in it. So nothing that decides anything is kept
//! outside of `own`, and what is written outside of it follows no links.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use deskhand_process::OWN_FOLDER;
use rustix::{
    fs::{CWD, Mode, OFlags, mkdirat, openat},
    io::Errno,
};

/// The folder with the portals of the desktop, in its private folder.
pub(super) const PORTALS_FOLDER: &str = "portals";
/// The folder with settings of toolkits, in the private folder of a virtual desktop.
pub(crate) const SETTINGS_FOLDER: &str = "settings";
/// The folder of messages of programs, in the folder that applications do not see.
const LOGS: &str = "logs";
/// Opens a folder and follows no link.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The folder that the private folders of this user's desktops are in. An application sees that of its own desktop alone.
pub(crate) fn desktops_folder() -> PathBuf {
    std::env::temp_dir().join(format!("deskhand-{}", rustix::process::geteuid().as_raw()))
}

/// The same, made if it is missing.
///
/// # Errors
/// It cannot be made, or it is a link, or others than this user can enter it.
pub(super) fn desktops_of_user() -> io::Result<PathBuf> {
    let folder = desktops_folder();
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let data = fs::symlink_metadata(&folder)?;
    let is_own = data.uid() == rustix::process::geteuid().as_raw() && data.mode() & 0o077 == 0;
    if data.is_dir() && is_own {
        return Ok(folder);
    }
    let problem = format!(
        "{} is not a folder that only you can enter; remove it, or set TMPDIR to another folder",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

/// Makes the folder that applications do not see, in a new private folder.
pub(super) fn create_own(private: &Path) -> io::Result<()> {
    create_private(&private.join(OWN_FOLDER).join(LOGS))
}

/// The file with the messages of a program. Applications do not see it: one that put a link in its place could have its messages written
/// to any file.
pub(crate) fn log_of(private: &Path, program: &OsStr) -> PathBuf {
    private.join(OWN_FOLDER).join(LOGS).join(program)
}

/// Creates a folder with its parents, for its owner alone. Only for folders that no application can have changed.
pub(super) fn create_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a new file for its owner alone. Only to folders that no application can have changed.
pub(crate) fn write_private(file: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    io::Write::write_all(&mut file, content)
}

/// Writes a file below a folder that applications can write to, for its owner alone, with the folders above it. What exists at that path
/// is left as it is.
///
/// # Errors
/// It cannot be written, or a folder above it is a link.
pub(super) fn write_beneath(root: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let mut folder = openat(CWD, root, FOLDER, Mode::empty())?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        match mkdirat(&folder, part.as_os_str(), Mode::RWXU) {
            Err(Errno::EXIST) => {}
            made => made?,
        }
        folder = openat(&folder, part.as_os_str(), FOLDER, Mode::empty())?;
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(&folder, name, new, Mode::RUSR | Mode::WUSR) {
        Err(Errno::EXIST) => Ok(()),
        opened => io::Write::write_all(&mut fs::File::from(opened?), content),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_of_programs_follow_no_links() {
        let [private, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let write = |path: &str| write_beneath(private.path(), Path::new(path), b"new");
        write("firefox/user.js").unwrap();
        assert_eq!(fs::read(private.path().join("firefox/user.js")).unwrap(), b"new");
        // A file that exists is kept, and so is a link, wherever it leads.
        fs::write(private.path().join("firefox/user.js"), "own").unwrap();
        symlink(elsewhere.path().join("file"), private.path().join("firefox/link")).unwrap();
        write("firefox/user.js").unwrap();
        write("firefox/link").unwrap();
        assert_eq!(fs::read(private.path().join("firefox/user.js")).unwrap(), b"own");
        symlink(elsewhere.path(), private.path().join("office")).unwrap();
        write("office/user/settings.xcu").unwrap_err();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
