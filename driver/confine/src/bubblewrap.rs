//! Namespaces by bubblewrap: what is mounted, and whether it works here.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use deskhand_process::succeeds;

use crate::{
    confinement::Confinement,
    places::{NAME_SERVERS, SYSTEM},
};

/// Own users, processes, mounts, names and System V objects; no capabilities, no terminal, ended with its parent. A user
/// namespace is not needed as root, and may be forbidden.
const NAMESPACES: [&str; 9] = [
    "--unshare-user-try",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
];
const OWN_NETWORK: &str = "--unshare-net";

/// Returns `true` if this bubblewrap can make these namespaces here, and knows all options that are used.
pub(crate) fn works(bubblewrap: &Path) -> bool {
    let mounts = [OWN_NETWORK, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];
    let sizes = ["--size", "65536", "--tmpfs", "/tmp", "--remount-ro", "/", "--"];
    let itself = [bubblewrap.as_os_str(), "--version".as_ref()];
    let options = NAMESPACES.into_iter().chain(mounts).chain(sizes).map(OsStr::new);
    succeeds(bubblewrap, options.chain(itself))
}

/// Its arguments for a confinement. `helper` is the program that is executed inside.
pub(crate) fn arguments(confinement: &Confinement, helper: &Path) -> Vec<OsString> {
    let mut all: Vec<OsString> = NAMESPACES.iter().map(OsString::from).collect();
    if !confinement.network {
        all.push(OWN_NETWORK.into());
    }
    let mut add = |option: &str, values: &[&Path]| {
        all.push(option.into());
        all.extend(values.iter().map(|value| value.as_os_str().to_owned()));
    };
    for folder in SYSTEM {
        add("--ro-bind-try", &[Path::new(folder), Path::new(folder)]);
    }
    add("--proc", &[Path::new("/proc")]);
    add("--dev", &[Path::new("/dev")]);
    add("--size", &[Path::new(&confinement.limits.memory_bytes().to_string())]);
    add("--tmpfs", &[Path::new("/dev/shm")]);
    // Without a size, it could be filled.
    add("--remount-ro", &[Path::new("/dev")]);
    add("--size", &[Path::new(&confinement.limits.file_bytes().to_string())]);
    add("--tmpfs", &[Path::new("/tmp")]);
    for (path, access) in binds(confinement) {
        let option = match (access, path.starts_with("/dev")) {
            (_, true) => "--dev-bind",
            (Access::Write, false) => "--bind",
            (Access::Read, false) => "--ro-bind-try",
        };
        add(option, &[&path, &path]);
    }
    add("--ro-bind", &[helper, helper]);
    add("--remount-ro", &[Path::new("/")]);
    if let Ok(folder) = std::env::current_dir() {
        add("--chdir", &[&folder]);
    }
    all
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Read,
    Write,
}

/// Returns the mounts besides the system, outer folders first: a later mount hides an earlier one in its place.
fn binds(confinement: &Confinement) -> Vec<(PathBuf, Access)> {
    let mut all = BTreeSet::new();
    let mut insert = |path: &Path, access: Access| {
        all.insert((path.components().count(), path.to_owned(), access));
        // A path through links is usable as it is written, and as it is resolved.
        if let Ok(real) = path.canonicalize() {
            all.insert((real.components().count(), real, access));
        }
    };
    confinement.read.iter().for_each(|path| insert(path, Access::Read));
    confinement.write.iter().for_each(|path| insert(path, Access::Write));
    if confinement.network
        && let Ok(file) = Path::new(NAME_SERVERS).canonicalize()
        && !file.starts_with("/etc")
    {
        insert(&file, Access::Read);
    }
    all.into_iter().map(|(_, path, access)| (path, access)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confinement::{ConfinementLimits, ConfinementStage, Enforcement};

    #[test]
    fn inner_folders_are_mounted_after_outer_ones() {
        let confinement = Confinement {
            stage: ConfinementStage::Supervisor,
            owner: None,
            enforcement: Enforcement::Namespaces { bubblewrap: "/usr/bin/bwrap".into() },
            write: vec!["/no-such-folder/a/b".into()],
            read: vec!["/no-such-folder/a".into(), "/no-such-folder/a/b/c".into()],
            network: false,
            limits: ConfinementLimits::default(),
            mark: "mark".to_owned(),
        };
        let found: Vec<(String, Access)> = binds(&confinement)
            .into_iter()
            .map(|(path, access)| (path.display().to_string(), access))
            .collect();
        let expected = [
            ("/no-such-folder/a", Access::Read),
            ("/no-such-folder/a/b", Access::Write),
            ("/no-such-folder/a/b/c", Access::Read),
        ];
        assert_eq!(found, expected.map(|(path, access)| (path.to_owned(), access)));
    }
}
