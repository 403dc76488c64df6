//! Folders: those of the system, and what callers ask about them.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// System folders: readable and executable, never writable. Those that are missing are skipped.
pub(crate) const SYSTEM: [&str; 12] = [
    "/bin",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/run/current-system",
    "/sbin",
    "/sys/devices/system/cpu",
    "/usr",
];

/// Harmless devices.
pub(crate) const DEVICES: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// The file with the name servers, which may be a link out of `/etc`.
pub(crate) const NAME_SERVERS: &str = "/etc/resolv.conf";

/// The folders of a search path that confined programs can execute files from, with `more` besides those of the system.
pub fn readable_path(path: &OsStr, more: &[PathBuf]) -> OsString {
    let readable = |folder: &PathBuf| {
        let system = SYSTEM.iter().any(|known| folder.starts_with(known));
        system || more.iter().any(|known| folder.starts_with(known))
    };
    std::env::join_paths(std::env::split_paths(path).filter(readable)).unwrap_or_default()
}

/// The first pair of a folder from `folders` and something of `protected` that is in it, or that it is in.
pub fn folders_with<'a>(folders: &'a [PathBuf], protected: &'a [PathBuf]) -> Option<(&'a Path, &'a Path)> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    folders.iter().find_map(|folder| {
        let opened = real(folder);
        let hit = protected.iter().find(|own| {
            let own = real(own);
            own.starts_with(&opened) || opened.starts_with(&own)
        });
        hit.map(|own| (folder.as_path(), own.as_path()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_cannot_be_read_are_not_searched() {
        let path = OsStr::new("/home/me/bin:/usr/local/bin:/srv/tools/bin:/bin:/usrlocal");
        assert_eq!(readable_path(path, &[]), "/usr/local/bin:/bin");
        assert_eq!(readable_path(path, &["/srv/tools".into()]), "/usr/local/bin:/srv/tools/bin:/bin");
    }

    #[test]
    fn protected_places_are_found_above_and_below() {
        let own = [PathBuf::from("/home/me/.config/own")];
        let check = |folder: &str, expected: bool| {
            assert_eq!(folders_with(&[folder.into()], &own).is_some(), expected, "{folder}");
        };
        check("/home/me", true);
        check("/home/me/.config/own/keys", true);
        check("/home/me/.config/other", false);
        check("/home/me/.config/own2", false);
    }
}
