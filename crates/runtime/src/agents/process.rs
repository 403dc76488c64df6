//! Programs that agents start: each in a group of its own with a mark, so that all of it can be ended.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The variable whose value marks every process of one start.
const MARK: &str = "DESKHAND_AGENT_PROCESS";
/// How often processes are looked for: one may start another while it is ended, or be on its way into another program.
const ROUNDS_MAX: u32 = 50;

/// How much of an environment is read, in bytes; Linux allows 2 MiB for it together with the arguments.
const ENVIRONMENT_MAX: usize = 2 * 1024 * 1024;

/// A program with everything that it starts. Dropping it ends all of that at once.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    leader: Option<Pid>,
    mark: String,
    /// When the leader was started, in clock ticks since the machine was; 0 where that is not known.
    since: u64,
}

/// What a look for processes found.
#[derive(Debug, Default)]
struct Left {
    /// Those that carry the mark.
    marked: Vec<Pid>,
    /// Whether one shows no environment yet, because it is becoming another program just now.
    unsure: bool,
}

impl ProcessGroup {
    /// A mark for a program that is about to be started: its name and value in the environment.
    pub(super) fn mark() -> (&'static str, String) {
        (MARK, uuid::Uuid::now_v7().to_string())
    }

    /// The group of a program that was started as its leader, with that mark.
    pub(super) fn of(leader: Option<u32>, mark: String) -> Self {
        let leader = leader.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let since = leader.and_then(|pid| started_at(&Path::new("/proc").join(pid.to_string())));
        Self { leader, mark, since: since.unwrap_or(0) }
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

    /// Every process that carries the mark and still runs.
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

    /// Whether a process without an environment runs a program and is younger than the leader. Linux shows none from
    /// when a process begins to run another program until that has been loaded (`environ_read` in `fs/proc/base.c`).
    fn may_become_marked(&self, process: &Path) -> bool {
        fs::read_link(process.join("exe")).is_ok()
            && started_at(process).is_some_and(|started| started >= self.since)
    }
}

/// The environment of a process, as much of it as `buffer` holds. It is read at once: a process that becomes another
/// program between two reads would show a part of it.
fn environment_of<'a>(process: &Path, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let length = fs::File::open(process.join("environ"))?.read(buffer)?;
    Ok(buffer.get(..length).unwrap_or_default())
}

/// When a process was started, in clock ticks since the machine was (field 22 of `stat`, proc(5)).
fn started_at(process: &Path) -> Option<u64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
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
