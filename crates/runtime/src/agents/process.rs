//! Programs that agents start: each in a group of its own with a mark, so that all of it can be ended.

use std::{fs, path::PathBuf};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The variable whose value marks every process of one start.
const MARK: &str = "DESKHAND_AGENT_PROCESS";
/// How often processes are looked for: one may start another while it is ended.
const ROUNDS_MAX: u32 = 20;

/// A program with everything that it starts. Dropping it ends all of that at once.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    leader: Option<Pid>,
    mark: String,
}

impl ProcessGroup {
    /// A mark for a program that is about to be started: its name and value in the environment.
    pub(super) fn mark() -> (&'static str, String) {
        (MARK, uuid::Uuid::now_v7().to_string())
    }

    /// The group of a program that was started as its leader, with that mark.
    pub(super) fn of(leader: Option<u32>, mark: String) -> Self {
        let leader = leader.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        Self { leader, mark }
    }

    /// The leader has ended and its number may be given to another process.
    pub(super) fn leader_ended(&mut self) {
        self.leader = None;
    }

    /// Ends what is left, and returns how many processes that were beside the leader.
    pub(super) fn end(&mut self) -> usize {
        if let Some(leader) = self.leader.take() {
            // An error says that it is gone, which is what is wanted.
            kill_process_group(leader, Signal::KILL).ok();
        }
        let mut ended = std::collections::BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let left = self.left();
            if left.is_empty() {
                break;
            }
            for pid in left {
                kill_process(pid, Signal::KILL).ok();
                ended.insert(pid.as_raw_nonzero());
            }
        }
        ended.len()
    }

    /// Every process that carries the mark and still runs.
    fn left(&self) -> Vec<Pid> {
        let mark = format!("{MARK}={}\0", self.mark);
        let of = |entry: fs::DirEntry| {
            let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let marked = environment.windows(mark.len()).any(|part| part == mark.as_bytes());
            marked.then_some(pid)
        };
        fs::read_dir("/proc")
            .map(|entries| entries.filter_map(Result::ok).filter_map(of).collect())
            .unwrap_or_default()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}

/// The program of that name on the path, as a shell would find it; a name with a slash is taken from `folder`.
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
