//! What is there before and after a run: mounts, processes, files, and their permissions.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};

use super::place::Place;
use crate::disk::Disk;

/// The most entries that are read of a folder tree.
const ENTRIES_MAX: usize = 100_000;
/// How long a desktop may take to start.
const STARTED_BOUND: Duration = Duration::from_secs(5);

/// A process of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) line: Vec<String>,
}

impl Process {
    /// Returns `true` if it runs the program of this name.
    pub(super) fn is_of(&self, name: &str) -> bool {
        self.line.first().is_some_and(|program| program.rsplit('/').next() == Some(name))
    }
}

/// All processes of the PID namespace but this one and the first.
pub(super) fn processes() -> Vec<Process> {
    let own = rustix::process::getpid();
    let of = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let line = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let mut line: Vec<String> =
            line.split('\0').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        if line.is_empty() {
            line.push(fs::read_to_string(entry.path().join("comm")).ok()?.trim().to_owned());
        }
        (pid != own && !pid.is_init()).then_some(Process { pid, line })
    };
    fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok).filter_map(of).collect()
}

/// Waits until a process has ended; whether it has.
pub(super) fn ends(pid: Pid, bound: Duration) -> bool {
    // An error means that it has ended.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let Ok(seconds) = i64::try_from(bound.as_secs()) else { return false };
    let bound = Timespec { tv_sec: seconds, tv_nsec: i64::from(bound.subsec_nanos()) };
    poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&bound)).is_ok_and(|ready| ready > 0)
}

/// Waits until no process of the run is left; returns those that are.
pub(super) fn await_end(bound: Duration) -> Vec<Process> {
    let until = Instant::now() + bound;
    loop {
        let left = processes();
        let rest = until.saturating_duration_since(Instant::now());
        let Some(first) = left.first() else { return left };
        if rest.is_zero() {
            return left;
        }
        // A process that has ended and was not reaped yet ends its wait at once.
        if ends(first.pid, rest) {
            std::thread::yield_now();
        }
    }
}

/// Mounts and files outside of the home folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    mounts: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
}

impl Seen {
    pub(super) fn now(place: &Place) -> io::Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts")?.lines().map(str::to_owned).collect();
        let mut files = BTreeSet::new();
        for folder in [Path::new("/tmp"), &place.runtime()] {
            walk(folder, &mut |path, _| {
                // The folder of all desktops of the user stays.
                let is_of_desktops = path.parent() == Some(Path::new("/tmp"))
                    && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("deskhand-"));
                if path != Path::new("/tmp").join(Disk::FILLER) && !is_of_desktops {
                    files.insert(path.to_owned());
                }
            })?;
        }
        Ok(Self { mounts, files })
    }

    /// What is there now and was not before.
    pub(super) fn left(&self, now: &Self) -> Vec<String> {
        let mounts = now.mounts.difference(&self.mounts).map(|mount| format!("mount left: {mount}"));
        let files = now.files.difference(&self.files).map(|path| format!("file left: {}", path.display()));
        mounts.chain(files).collect()
    }
}

/// Passes all entries below a folder to `see`.
pub(super) fn walk(folder: &Path, see: &mut dyn FnMut(&Path, &fs::Metadata)) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            // It may be gone by now.
            let Ok(data) = fs::symlink_metadata(&path) else { continue };
            see(&path, &data);
            count += 1;
            if data.is_dir() && count < ENTRIES_MAX {
                folders.push(path);
            }
        }
    }
    Ok(())
}

/// What others than the owner can access below the folder of the sessions, and names that do not belong there.
pub(super) fn of_sessions(place: &Place) -> Vec<String> {
    let mut wrong = Vec::new();
    let root = place.state().join("deskhand");
    let seen = walk(&root, &mut |path, data| {
        open_to_others(path, data, &mut wrong);
        let below: Vec<_> =
            path.strip_prefix(&root).unwrap_or(path).iter().filter_map(|name| name.to_str()).collect();
        let known = match below.as_slice() {
            // The latter four are made before applications start, so that none of them makes them in our place.
            ["seals" | "sessions" | "batches" | "schedules" | "serve" | "documents"]
            | ["seals", "journal.key" | "anchors"]
            | ["seals", "anchors", _]
            | ["sessions", _] => !below.iter().any(|name| name.starts_with('.')),
            // The control socket of a process that was killed; the next one replaces it.
            [
                "sessions",
                _,
                "journal.jsonl" | "lock" | "pictures" | "agents" | "desktop.json" | "control.sock",
            ]
            | ["sessions", _, "agents", ..] => true,
            ["sessions", _, name] => name.starts_with("prompts-"),
            ["sessions", _, "pictures", name] => !name.starts_with('.'),
            _ => false,
        };
        if !known {
            wrong.push(format!("file left: {}", path.display()));
        }
    });
    if let Err(error) = seen {
        wrong.push(format!("{} cannot be read: {error}", root.display()));
    }
    wrong
}

/// The private folders of desktops.
pub(super) fn desktops() -> Vec<PathBuf> {
    let of_users = fs::read_dir("/tmp").into_iter().flatten().filter_map(Result::ok);
    let of_users = of_users.filter(|entry| entry.file_name().to_string_lossy().starts_with("deskhand-"));
    let entries =
        of_users.filter_map(|entry| fs::read_dir(entry.path()).ok()).flatten().filter_map(Result::ok);
    let is_private = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("desktop-");
    entries.filter(is_private).map(|entry| entry.path()).collect()
}

/// What others than the owner could access of the private folders of desktops, if they could enter these, for longer than a desktop
/// takes to start: a bus opens its socket to everyone and says only then that it listens.
pub(super) fn of_desktops_for_long() -> Vec<String> {
    let mut wrong = of_desktops();
    let until = Instant::now() + STARTED_BOUND;
    while !wrong.is_empty() && Instant::now() < until {
        thread::yield_now();
        let now = of_desktops();
        wrong.retain(|one| now.contains(one));
    }
    wrong
}

/// What others than the owner can access of the private folders of desktops.
fn of_desktops() -> Vec<String> {
    let mut wrong = Vec::new();
    for folder in desktops() {
        if let Ok(data) = fs::symlink_metadata(&folder) {
            open_to_others(&folder, &data, &mut wrong);
        }
        for below in [
            folder.clone(),
            folder.join("own"),
            folder.join("own/logs"),
            folder.join("services"),
            folder.join("settings"),
        ] {
            for entry in fs::read_dir(below).into_iter().flatten().filter_map(Result::ok) {
                if let Ok(data) = fs::symlink_metadata(entry.path()) {
                    open_to_others(&entry.path(), &data, &mut wrong);
                }
            }
        }
    }
    wrong
}

fn open_to_others(path: &Path, data: &fs::Metadata, wrong: &mut Vec<String>) {
    let kind = data.file_type();
    let wanted = match (kind.is_dir(), kind.is_file() || kind.is_socket()) {
        (true, _) => 0o700,
        (false, true) => 0o600,
        // Links have no permissions.
        (false, false) => return,
    };
    let mode = data.permissions().mode() & 0o777;
    if mode & !wanted != 0 {
        wrong.push(format!("{} has the mode {mode:o}", path.display()));
    }
}
