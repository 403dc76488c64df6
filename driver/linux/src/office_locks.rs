//! The lock files that LibreOffice keeps beside open documents, and which of them are stale.
//!
//! A lock is a line of fields: full name, login name, host, time, and the address of the profile of the program that has the document
//! open. Each private desktop has a profile of its own.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The longest lock file that is read, in bytes.
const LOCK_MAX: u64 = 4_096;

/// A lock beside a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficeLock {
    /// The lock file.
    pub file: PathBuf,
    /// Who has the document open: `Ada on workstation (since 25.11.2026 04:41)`.
    pub owner: String,
    /// The host of that program.
    host: String,
    /// The profile of that program.
    profile: Option<PathBuf>,
}

impl OfficeLock {
    /// The lock of a document; `None` if it has none.
    pub fn find(document: &Path) -> Option<Self> {
        let name = document.file_name()?.to_string_lossy();
        let file = document.with_file_name(format!(".~lock.{name}#"));
        if fs::metadata(&file).ok()?.len() > LOCK_MAX {
            return None;
        }
        Some(Self::read(file.clone(), &fs::read_to_string(&file).ok()?))
    }

    fn read(file: PathBuf, text: &str) -> Self {
        let mut fields = text.trim().trim_end_matches(';').split(',').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        let (full, login, host, since, profile) = (next(), next(), next(), next(), next());
        let who = [full, login].into_iter().find(|name| !name.is_empty()).unwrap_or("somebody");
        let mut owner = who.to_owned();
        if !host.is_empty() {
            owner.push_str(&format!(" on {host}"));
        }
        if !since.is_empty() {
            owner.push_str(&format!(" (since {since})"));
        }
        let profile = profile.strip_prefix("file://").map(PathBuf::from);
        Self { file, owner, host: host.to_owned(), profile }
    }

    /// Returns `true` if the program that wrote it is gone: it ran on this host, with a profile that no longer exists, as that of a private
    /// desktop that has ended.
    pub fn is_stale(&self) -> bool {
        let here = rustix::system::uname().nodename().to_string_lossy().into_owned();
        self.host == here && self.profile.as_ref().is_some_and(|profile| !profile.exists())
    }

    /// Removes the lock file.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The locks of the programs of the desktop with this private folder: beside the files that any process has open. Blocking.
    pub(crate) fn of_desktop(private_folder: &Path) -> Vec<Self> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let opened = processes.filter_map(|process| fs::read_dir(process.path().join("fd")).ok());
        let files: BTreeSet<PathBuf> =
            opened.flatten().flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
        let locks = files.iter().filter(|file| file.is_absolute()).filter_map(|file| Self::find(file));
        locks
            .filter(|lock| lock.profile.as_ref().is_some_and(|profile| profile.starts_with(private_folder)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_stale_once_its_profile_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (document, profile) = (folder.path().join("a b.odt"), folder.path().join("profile"));
        fs::create_dir(&profile).unwrap();
        assert_eq!(OfficeLock::find(&document), None);
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let write = |host: &str| {
            let text = format!("Ada,ada,{host},25.11.2026 04:41,file://{};", profile.display());
            fs::write(folder.path().join(".~lock.a b.odt#"), text).unwrap();
            OfficeLock::find(&document).unwrap()
        };
        let lock = write(&host);
        assert_eq!(lock.owner, format!("Ada on {host} (since 25.11.2026 04:41)"));
        assert!(!lock.is_stale(), "its program may run");
        fs::remove_dir(&profile).unwrap();
        assert!(lock.is_stale());
        assert!(!write("elsewhere").is_stale(), "another host has other folders");
        lock.remove().unwrap();
        lock.remove().unwrap();
        assert_eq!(OfficeLock::find(&document), None);
    }
}
