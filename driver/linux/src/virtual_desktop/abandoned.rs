//! Desktops whose keeper and guard were both killed: the next desktop that starts ends what is left of them.
//!
//! Whoever holds a desktop has a lock in its private folder, which the kernel releases with the last process that has it.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use deskhand_process::OWN_FOLDER;

use super::{folders::create_own, processes::end_abandoned};

/// Prefix of the names of private folders.
pub(super) const PREFIX: &str = "desktop-";
/// The file that is locked.
const HELD: &str = "own/held";
/// The most desktops that are ended at once.
const ABANDONED_MAX: usize = 16;

/// Locks a new private folder.
pub(super) fn hold(folder: &Path) -> io::Result<File> {
    create_own(folder)?;
    // The file gets its name once it is locked.
    let new = folder.join(OWN_FOLDER).join("held.new");
    let file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
    file.lock()?;
    fs::rename(new, folder.join(HELD))?;
    Ok(file)
}

/// Ends what is left of abandoned desktops of this user, and removes their folders. Failures are only logged.
pub(super) async fn remove(desktops: &Path, path: &OsStr) {
    for folder in find(desktops) {
        if let Err(error) = end_abandoned(&folder, path).await {
            tracing::warn!(%error, "failed to remove what is left of a virtual desktop");
        }
    }
}

/// The private folders of this user that nobody holds.
fn find(desktops: &Path) -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let is_abandoned = |entry: &fs::DirEntry| {
        let is_private = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_own = || entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == user);
        let held = || File::open(entry.path().join(HELD));
        is_private && is_own() && held().is_ok_and(|file| file.try_lock_shared().is_ok())
    };
    let entries = fs::read_dir(desktops).into_iter().flatten().filter_map(Result::ok);
    entries.filter(is_abandoned).take(ABANDONED_MAX).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::virtual_desktop::environment::MARK;

    #[tokio::test]
    async fn only_desktops_that_nobody_holds_are_ended() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = temporary.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        };
        let [kept, abandoned, starting, other] =
            ["desktop-kept", "desktop-abandoned", "desktop-starting", "other"].map(folder);
        let held = hold(&kept).unwrap();
        drop(hold(&abandoned).unwrap());
        drop(hold(&other).unwrap());
        let mut left = Command::new("sleep").arg("600").env(MARK, &abandoned).spawn().unwrap();
        let reaped = std::thread::spawn(move || left.wait().unwrap());
        remove(temporary.path(), &std::env::var_os("PATH").unwrap()).await;
        assert!(!reaped.join().unwrap().success());
        assert!(kept.exists() && !abandoned.exists() && starting.exists() && other.exists());
        drop(held);
        assert_eq!(find(temporary.path()), [kept]);
    }
}
