//! Files and the network, restricted by Landlock.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};

use crate::{
    confinement::{Confinement, Enforcement},
    places::{DEVICES, NAME_SERVERS, SYSTEM},
};

/// The newest Landlock version used. With namespaces, older kernels enforce the rules that they support.
const RULES: ABI = ABI::V6;

/// Files in which the kernel reports about itself; the rest of `/proc` belongs to processes.
const ABOUT_THE_MACHINE: [&str; 10] = [
    "/proc/cpuinfo",
    "/proc/devices",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/proc/vmstat",
];
/// Paths that are private in a mount namespace.
const PRIVATE: [&str; 4] = ["/dev/ptmx", "/dev/pts", "/dev/shm", "/tmp"];

/// The most entries of `/etc` that are looked at. Beyond that, nothing of it is readable.
const ENTRIES_MAX: usize = 100_000;
const FOR_OTHERS: u32 = 0o004;

/// Restricts this process.
pub(crate) fn restrict(confinement: &Confinement) -> Result<(), String> {
    let of = |error: landlock::RulesetError| error.to_string();
    let (read, all) = (AccessFs::from_read(RULES), AccessFs::from_all(RULES));
    let use_device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let mut rules = Ruleset::default().handle_access(all).map_err(of)?;
    rules = rules.scope(Scope::from_all(RULES)).map_err(of)?;
    if !confinement.network {
        rules = rules.handle_access(AccessNet::from_all(RULES)).map_err(of)?;
    }
    let mut rules = rules.create().map_err(of)?;
    let mut allow = |paths: Vec<PathBuf>, access: BitFlags<AccessFs>| -> Result<(), String> {
        // Paths that cannot be opened are skipped by the library.
        (&mut rules).add_rules(path_beneath_rules(paths, access)).map(|_| ()).map_err(of)
    };
    allow(SYSTEM.iter().filter(|folder| **folder != "/etc").map(PathBuf::from).collect(), read)?;
    allow(vec!["/etc".into()], AccessFs::ReadDir.into())?;
    let mut budget = ENTRIES_MAX;
    allow(public(Path::new("/etc"), &mut budget).map_err(|error| error.to_string())?, read)?;
    allow(DEVICES.iter().map(PathBuf::from).collect(), use_device)?;
    match confinement.enforcement {
        Enforcement::Namespaces { .. } => {
            allow(vec!["/proc".into()], read)?;
            allow(PRIVATE.iter().map(PathBuf::from).collect(), all)?;
        }
        Enforcement::Nothing | Enforcement::Rules => {
            allow(ABOUT_THE_MACHINE.iter().map(PathBuf::from).collect(), read)?;
            // The id of this process stays the same when it becomes the program.
            allow(vec![PathBuf::from(format!("/proc/{}", std::process::id()))], read)?;
        }
    }
    if confinement.network {
        allow(vec![NAME_SERVERS.into()], read)?;
    }
    allow(confinement.read.clone(), read)?;
    allow(confinement.write.clone(), all)?;
    enforce(rules)
}

fn enforce(rules: RulesetCreated) -> Result<(), String> {
    match rules.restrict_self().map_err(|error| error.to_string())?.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err("the kernel has no Landlock".to_owned()),
    }
}

/// The largest parts of a folder that every user may read. Root could read the rest: password hashes and host keys.
fn public(folder: &Path, budget: &mut usize) -> io::Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    let mut is_whole = true;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        *budget = budget.checked_sub(1).ok_or_else(|| {
            io::Error::other(format!("{} has more than {ENTRIES_MAX} entries", folder.display()))
        })?;
        let data = entry.metadata()?;
        if data.is_symlink() {
            // Judged by where it leads.
            continue;
        }
        if data.permissions().mode() & FOR_OTHERS == 0 {
            is_whole = false;
        } else if data.is_dir() {
            let inner = public(&entry.path(), budget)?;
            is_whole &= inner == [entry.path()];
            parts.extend(inner);
        } else {
            parts.push(entry.path());
        }
    }
    Ok(if is_whole { vec![folder.to_owned()] } else { parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_everybody_may_read_is_public() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["open/deep/a", "mixed/b", "mixed/key", "c"] {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        for name in ["", "open", "open/deep", "mixed"] {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(root.join("mixed/key"), fs::Permissions::from_mode(0o600)).unwrap();
        let mut found = public(root, &mut 100).unwrap();
        found.sort();
        assert_eq!(found, ["c", "mixed/b", "open"].map(|name| root.join(name)));
        assert!(public(root, &mut 3).is_err());
        fs::remove_file(root.join("mixed/key")).unwrap();
        assert_eq!(public(root, &mut 100).unwrap(), [root]);
    }
}
