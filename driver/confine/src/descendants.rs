//! Descendants of this process, found by the parents in `/proc`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, getpid, kill_process, wait},
};

/// Maximum number of rounds that list descendants until no new one is found: they may start others meanwhile.
const FREEZE_ROUNDS_MAX: u32 = 100;
/// Maximum number of ended children to wait for. More cannot exist.
pub(crate) const ENDED_MAX: u32 = 4_194_304;

/// Kills all descendants and waits until none is left. They are stopped first, so that none can start another.
pub(crate) fn end_descendants() {
    let mut stopped = BTreeSet::new();
    for _ in 0..FREEZE_ROUNDS_MAX {
        let new: Vec<Pid> =
            descendants().into_iter().filter(|pid| stopped.insert(pid.as_raw_nonzero())).collect();
        if new.is_empty() {
            break;
        }
        for pid in new {
            kill_process(pid, Signal::STOP).ok();
        }
    }
    for _ in 0..ENDED_MAX {
        for pid in descendants() {
            kill_process(pid, Signal::KILL).ok();
        }
        // Every descendant becomes a child of this process once its parents have ended.
        if wait(WaitOptions::empty()).is_err_and(|error| error == Errno::CHILD) {
            return;
        }
    }
}

/// The descendants of this process, from the parents in `/proc`.
pub(crate) fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
        let pid: Option<i32> = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some((pid, parent)) = pid.and_then(|pid| Some((pid, parent_of(&entry.path())?))) else {
            continue;
        };
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut open = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            open.push(child);
            found.extend(Pid::from_raw(child));
        }
    }
    found
}

/// The parent of a process (field 4 of `stat`, proc(5)); `None` if the process has ended.
fn parent_of(process: &Path) -> Option<i32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The program name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(1)?.parse().ok()
}
