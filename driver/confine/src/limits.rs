//! Limits and privileges of the restricted process; whatever it starts inherits them.

use std::{fs, io, os::unix::fs::MetadataExt as _};

use rustix::{
    process::{Resource, Rlimit, getrlimit, getuid, setrlimit},
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities, set_no_new_privs,
    },
};

use crate::confinement::{Confinement, Enforcement};

/// Bytes of address space that a process gets for each byte of memory: runtimes reserve much more than they
/// use.
const ADDRESS_SPACE_FACTOR: u64 = 16;
/// The priority with which the kernel ends a process when the machine has no memory left: the highest.
const OOM_SCORE: &str = "1000";

/// Sets the limits.
pub(crate) fn apply(confinement: &Confinement) -> io::Result<()> {
    let limits = &confinement.limits;
    let processes = match confinement.enforcement {
        // Processes of a user namespace are counted by themselves.
        Enforcement::Namespaces { .. } => u64::from(limits.processes),
        Enforcement::Nothing | Enforcement::Rules => {
            u64::from(limits.processes).saturating_add(threads_of_user())
        }
    };
    // `Data` counts memory that is used. Address space also bounds shared memory, which `Data` does not count.
    let wanted = [
        (Resource::Core, 0),
        (Resource::Data, limits.memory_bytes()),
        (Resource::As, limits.memory_bytes().saturating_mul(ADDRESS_SPACE_FACTOR)),
        (Resource::Fsize, limits.file_bytes()),
        (Resource::Nofile, u64::from(limits.open_files)),
        (Resource::Nproc, processes),
    ];
    for (resource, most) in wanted {
        let most = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // Where it cannot be set, the kernel chooses by size.
    fs::write("/proc/self/oom_score_adj", OOM_SCORE).ok();
    Ok(())
}

/// The threads of this user now: without a user namespace, the limit counts them too.
fn threads_of_user() -> u64 {
    let own = getuid().as_raw();
    let threads = |process: &fs::DirEntry| {
        fs::read_dir(process.path().join("task")).map_or(1, |tasks| u64::try_from(tasks.count()).unwrap_or(1))
    };
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()))
        .filter(|entry| entry.metadata().is_ok_and(|data| data.uid() == own))
        .map(|process| threads(&process))
        .fold(0, u64::saturating_add)
}

/// Drops all capabilities, for this process and whatever it executes, and the gain of others.
pub(crate) fn drop_privileges() -> io::Result<()> {
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        // Only a process with capabilities may do that; without any, there are none to drop.
        remove_capability_from_bounding_set(capability).ok();
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    set_no_new_privs(true)?;
    Ok(())
}
