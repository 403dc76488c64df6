//! Processes started by agents: each start gets a marked process group, so that all descendants can be killed.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The environment variable that marks every process of one start.
const MARK: &str = "DESKHAND_AGENT_PROCESS";
/// How often processes are scanned for: one may fork or exec during a scan.
const ROUNDS_MAX: u32 = 50;

/// How much of an environment is read, in bytes; Linux allows 2 MiB for environment and arguments together.
const ENVIRONMENT_MAX: usize = 2 * 1024 * 1024;

/// A program and its descendants. Dropping it kills all of them.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    leader: Option<Pid>,
    mark: String,
    /// The start time of the leader, in clock ticks since boot; 0 if unknown.
    since: u64,
}

/// The result of a process scan.
#[derive(Debug, Default)]
struct Left {
    /// Processes with the mark.
    marked: Vec<Pid>,
    /// Whether a process shows no environment because it is in the middle of `exec`.
    unsure: bool,
}

impl ProcessGroup {
    /// Creates a mark for a new program: the name and value of its environment variable.
    pub(super) fn mark() -> (&'static str, String) {
        (MARK, uuid::Uuid::now_v7().to_string())
    }

    /// The group of a program started as its leader, with that mark.
    pub(super) fn of(leader: Option<u32>, mark: String) -> Self {
        let leader = leader.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let since = leader.and_then(|pid| started_at(&Path::new("/proc").join(pid.to_string())));
        Self { leader, mark, since: since.unwrap_or(0) }
    }

    /// Records that the leader has exited and its pid may be reused.
    pub(super) fn leader_ended(&mut self) {
        self.leader = None;
    }

    /// Kills the remaining processes; returns how many there were besides the leader.
    pub(super) fn end(&mut self) -> usize {
        if let Some(leader) = self.leader.take() {
            // An error means that it has already exited.
            kill_process_group(leader, Signal::KILL).ok();
        }
        let mut ended = std::collections::BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let left = self.left();
            if left.marked.is_empty() {
                if !left.unsure {
                    break;
                }
                std::thread::yield_now();
            }
            for pid in left.marked {
                kill_process(pid, Signal::KILL).ok();
                ended.insert(pid.as_raw_nonzero());
            }
        }
        ended.len()
    }

    /// Scans for running processes with the mark.
    fn left(&self) -> Left {
        let mark = format!("{MARK}={}\0", self.mark);
        let mut left = Left::default();
        let mut buffer = vec![0; ENVIRONMENT_MAX];
        for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            let Some(pid) = pid else { continue };
            let Ok(environment) = environment_of(&entry.path(), &mut buffer) else { continue };
            if environment.windows(mark.len()).any(|part| part == mark.as_bytes()) {
                left.marked.push(pid);
            } else if environment.is_empty() && self.may_become_marked(&entry.path()) {
                left.unsure = true;
            }
        }
        left
    }

    /// Whether a process without an environment has an executable and is younger than the leader. Linux shows an empty
    /// environment during `exec`, until the new program is loaded (`environ_read` in `fs/proc/base.c`).
    fn may_become_marked(&self, process: &Path) -> bool {
        fs::read_link(process.join("exe")).is_ok()
            && started_at(process).is_some_and(|started| started >= self.since)
    }
}

/// The environment of a process, up to the size of `buffer`. It is read in one call: an `exec` between two reads would
/// yield a partial environment.
fn environment_of<'a>(process: &Path, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let length = fs::File::open(process.join("environ"))?.read(buffer)?;
    Ok(buffer.get(..length).unwrap_or_default())
}

/// When a process started, in clock ticks since boot (field 22 of `stat`, proc(5)).
fn started_at(process: &Path) -> Option<u64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The program name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}

/// Finds an executable on the path like a shell; a name with a slash is relative to `folder`.
pub(super) fn find_program(name: &str, path: &std::ffi::OsStr, folder: &std::path::Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let executable = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if name.is_empty() {
        None
    } else if name.contains('/') {
        Some(folder.join(name)).filter(executable)
    } else {
        std::env::split_paths(path).filter(|at| at.is_absolute()).map(|at| at.join(name)).find(executable)
    }
}
