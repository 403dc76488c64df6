//! A control group for one program, if this process is root.
//!
//! The kernel exempts root from the limit of processes per user (`copy_process` in `kernel/fork.c`), so a group counts them.
//! Both versions of control groups are supported. Without a writable hierarchy there is no group.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::confinement::ConfinementLimits;

/// Mount point of control groups.
const MOUNT: &str = "/sys/fs/cgroup";
/// Prefix of the names of our groups.
const PREFIX: &str = "deskhand-";
/// Maximum number of attempts to create a group: another supervisor may remove it as a leftover before it has a
/// member.
const ATTEMPTS_MAX: u32 = 5;
/// Maximum number of rounds that list and kill the members of a group: they may start others meanwhile.
const KILL_ROUNDS_MAX: u32 = 100;

/// The files of a hierarchy that limit processes and memory.
#[derive(Debug, Clone, Copy)]
struct CgroupFiles {
    folder: &'static str,
    processes: Option<&'static str>,
    memory: &'static [&'static str],
}

/// Version 2, one hierarchy for everything.
const UNIFIED: [CgroupFiles; 1] =
    [CgroupFiles { folder: "", processes: Some("pids.max"), memory: &["memory.max"] }];
/// Version 1, one hierarchy for each controller.
const SEPARATE: [CgroupFiles; 2] = [
    CgroupFiles { folder: "pids", processes: Some("pids.max"), memory: &[] },
    CgroupFiles {
        folder: "memory",
        processes: None,
        // The second one includes swap; it exists only where swap is accounted for.
        memory: &["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"],
    },
];

/// Control groups of one program. Dropping it removes them; they must be empty.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    /// The folders of the groups, and of those that this process was in before.
    folders: Vec<(PathBuf, PathBuf)>,
    limits_memory: bool,
}

impl ControlGroup {
    /// Creates a group with these limits; `None` if this process is not root or cannot make one.
    pub(crate) fn create(limits: &ConfinementLimits) -> io::Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let mut folders = Vec::new();
        let mut limits_memory = false;
        let kinds =
            if Path::new(MOUNT).join("cgroup.controllers").exists() { &UNIFIED[..] } else { &SEPARATE };
        let own = fs::read_to_string("/proc/self/cgroup")?;
        for files in kinds {
            let mount = Path::new(MOUNT).join(files.folder);
            let Some(before) = own_group(&own, files.folder) else { continue };
            let before = mount.join(before.trim_start_matches('/'));
            if let Some(folder) = create_in(&mount, files, limits)? {
                limits_memory |= files.memory.iter().any(|name| folder.join(name).exists());
                folders.push((folder, before));
            }
        }
        Ok((!folders.is_empty()).then_some(Self { folders, limits_memory }))
    }

    /// Returns `true` if this process can limit the number of processes.
    pub(crate) fn is_possible() -> bool {
        Self::create(&ConfinementLimits::default()).is_ok_and(|group| group.is_some())
    }

    /// Returns `true` if the group limits the memory of all its processes together.
    pub(crate) const fn limits_memory(&self) -> bool {
        self.limits_memory
    }

    /// Kills all processes in the group, where the kernel can do that at once.
    pub(crate) fn kill(&self) {
        for (folder, _) in &self.folders {
            kill_members(folder);
        }
    }

    /// Kills what is left in the groups of supervisors that were killed, and removes these groups.
    pub(crate) fn remove_abandoned() {
        for folder in ["", "pids", "memory"] {
            remove_leftovers(&Path::new(MOUNT).join(folder));
        }
    }

    /// Moves this process into the group.
    pub(crate) fn enter(&self) -> io::Result<()> {
        self.folders.iter().try_for_each(|(folder, _)| join(folder))
    }

    /// Moves this process back to where it was.
    pub(crate) fn leave(&self) -> io::Result<()> {
        self.folders.iter().try_for_each(|(_, before)| join(before))
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        for (folder, _) in &self.folders {
            fs::remove_dir(folder).ok();
        }
    }
}

fn join(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("cgroup.procs"), "0")
}

/// The path of this process in a hierarchy, from `/proc/self/cgroup`.
fn own_group<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    })
}

/// Creates a group below the root of a hierarchy; `None` if the hierarchy is missing, read-only or without the controller.
fn create_in(mount: &Path, files: &CgroupFiles, limits: &ConfinementLimits) -> io::Result<Option<PathBuf>> {
    remove_leftovers(mount);
    for attempt in 0..ATTEMPTS_MAX {
        let folder = mount.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(_) => return Ok(None),
        }
        let bytes = limits.memory_bytes().to_string();
        let mut wanted: Vec<(&str, String)> =
            files.memory.iter().map(|name| (*name, bytes.clone())).collect();
        wanted.extend(files.processes.map(|name| (name, limits.processes.to_string())));
        let set = wanted
            .iter()
            .filter(|(name, _)| folder.join(name).exists())
            .try_for_each(|(name, value)| fs::write(folder.join(name), value));
        match set {
            Ok(()) if wanted.iter().any(|(name, _)| folder.join(name).exists()) => return Ok(Some(folder)),
            // Removed by another supervisor, which took it for a leftover.
            Err(_) if !folder.exists() => {}
            Ok(()) | Err(_) => {
                fs::remove_dir(&folder)?;
                return Ok(None);
            }
        }
    }
    Ok(None)
}

/// Removes groups of supervisors that were killed, after what is left in them.
fn remove_leftovers(mount: &Path) {
    for entry in fs::read_dir(mount).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name();
        let owner =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|rest| rest.split('-').next());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            kill_members(&entry.path());
            fs::remove_dir(entry.path()).ok();
        }
    }
}

/// Kills all members of a group. A group that is removed before they have ended stays for the next attempt.
fn kill_members(folder: &Path) {
    // Version 2 kills all at once; a new member is killed too.
    if fs::write(folder.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    for _ in 0..KILL_ROUNDS_MAX {
        let members = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        if members.is_empty() {
            return;
        }
        for member in members.lines().filter_map(|line| line.parse().ok()).filter_map(Pid::from_raw) {
            kill_process(member, Signal::KILL).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_in_both_versions() {
        assert_eq!(own_group("0::/user.slice/a:b\n", ""), Some("/user.slice/a:b"));
        let separate = "5:memory:/a\n4:cpu,pids:/b\n0::/c\n";
        assert_eq!(own_group(separate, "pids"), Some("/b"));
        assert_eq!(own_group(separate, "memory"), Some("/a"));
        assert_eq!(own_group("0::/c\n", "pids"), None);
    }
}
