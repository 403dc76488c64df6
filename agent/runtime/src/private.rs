//! Files and folders that only their owner can read: they show what was on the screen, or decide what we do.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

/// The permissions of such a file.
pub(crate) const FILE_MODE: u32 = 0o600;
/// The permissions of such a folder.
const FOLDER_MODE: u32 = 0o700;
/// The permissions with which others than the owner can change a file.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// The largest file that decides something, in bytes.
const DECIDING_BYTES_MAX: u64 = 16 << 20;

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

/// Reads a file of ours that decides something, such as an address or a key. A link in its place is not followed.
///
/// # Errors
/// It cannot be read; or it is no plain file, is larger than 16 MiB, belongs to another user, or others can write to it.
pub fn read_deciding(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::File::from(openat(CWD, path, flags, Mode::empty())?);
    let data = file.metadata()?;
    let owner = rustix::process::geteuid().as_raw();
    let problem = if !data.is_file() {
        "is not a plain file"
    } else if data.uid() != owner && data.uid() != 0 {
        "belongs to another user"
    } else if data.mode() & WRITABLE_BY_OTHERS != 0 {
        "can be changed by other users; take their permission away"
    } else if data.len() > DECIDING_BYTES_MAX {
        "is too large"
    } else {
        let mut bytes = Vec::new();
        file.take(DECIDING_BYTES_MAX).read_to_end(&mut bytes)?;
        return Ok(bytes);
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {problem}", path.display())))
}

/// Replaces a file of ours as a whole, accessible to its owner only. A link in its place is replaced, not followed.
///
/// # Errors
/// It cannot be written; the file is as it was then.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".").suffix(".new").tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().sync_data()?;
    new.persist(path)?;
    fs::File::open(folder)?.sync_all()
}

/// Makes a new file in a new folder of `root`, accessible to its owner only. Others than us may write to `root`: no link is followed.
///
/// # Errors
/// Either exists, `root` is a link, or they cannot be made.
pub fn new_file_in(root: &Path, folder: &OsStr, name: &OsStr) -> io::Result<fs::File> {
    let directory = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = openat(CWD, root, directory, Mode::empty())?;
    mkdirat(&root, folder, Mode::RWXU)?;
    let folder = openat(&root, folder, directory, Mode::empty())?;
    let new = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(&folder, name, new, Mode::RUSR | Mode::WUSR)?.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

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

    #[test]
    fn what_decides_is_a_plain_file_of_the_user() {
        let home = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| home.path().join(name));
        replace_file(&file, b"first").unwrap();
        assert_eq!(read_deciding(&file).unwrap(), b"first");
        symlink(&file, &link).unwrap();
        read_deciding(&link).unwrap_err();
        // The link is replaced; what it led to stays.
        replace_file(&link, b"second").unwrap();
        assert_eq!(
            (read_deciding(&file).unwrap(), read_deciding(&link).unwrap()),
            (b"first".to_vec(), b"second".to_vec())
        );
        fs::set_permissions(&file, fs::Permissions::from_mode(0o620)).unwrap();
        assert!(read_deciding(&file).unwrap_err().to_string().contains("other users"));
        read_deciding(home.path()).unwrap_err();
        let fifo = home.path().join("pipe");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(read_deciding(&fifo).unwrap_err().to_string().contains("plain file"));
        let left = fs::read_dir(home.path()).unwrap().filter_map(Result::ok);
        assert!(left.map(|entry| entry.file_name()).all(|name| !name.to_string_lossy().ends_with(".new")));
    }

    #[test]
    fn documents_are_put_where_no_link_leads_away() {
        let [root, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let new = |folder: &str| new_file_in(root.path(), folder.as_ref(), "note.txt".as_ref());
        new("1").unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read(root.path().join("1/note.txt")).unwrap(), b"new");
        new("1").unwrap_err();
        symlink(elsewhere.path(), root.path().join("2")).unwrap();
        new("2").unwrap_err();
        let link = root.path().join("link");
        symlink(elsewhere.path(), &link).unwrap();
        new_file_in(&link, "3".as_ref(), "note.txt".as_ref()).unwrap_err();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
