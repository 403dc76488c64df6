//! The processes of an application.

use std::fs;

/// The most processes of one application.
const PROCESSES_MAX: usize = 64;
/// The most threads of one process.
const THREADS_MAX: usize = 1_024;

/// A process and all of its descendants; those that end meanwhile are left out.
pub(crate) fn processes_of(pid: u32) -> Vec<u32> {
    let (mut found, mut open) = (Vec::new(), vec![pid]);
    while let Some(pid) = open.pop() {
        found.push(pid);
        if found.len() >= PROCESSES_MAX {
            break;
        }
        for thread in threads_of(pid).unwrap_or_default() {
            let children =
                fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
            open.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found
}

/// The threads of a process; none if it has ended. `None` if there are too many to look at.
pub(super) fn threads_of(pid: u32) -> Option<Vec<u32>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
    let threads = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let threads: Vec<u32> = threads.take(THREADS_MAX).collect();
    (threads.len() < THREADS_MAX).then_some(threads)
}

/// Returns `true` if a process shows pages of a browser that is built on Chromium: a renderer, other than that of the browser's own
/// controls. Such a process separates the words of its command line by spaces.
pub(super) fn shows_pages(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let has =
        |wanted: &str| line.split(|byte| matches!(byte, 0 | b' ')).any(|word| word == wanted.as_bytes());
    has("--type=renderer") && !has("--top-chrome-webui")
}

/// Returns `true` if no thread of a process and its descendants works.
pub(crate) fn is_at_rest(pid: u32) -> bool {
    let works = |pid: u32, thread: u32| {
        let stat = Stat::read(&format!("/proc/{pid}/task/{thread}/stat"));
        stat.is_some_and(|stat| matches!(stat.state, 'R' | 'D'))
    };
    processes_of(pid).into_iter().all(|pid| {
        threads_of(pid).is_some_and(|threads| !threads.into_iter().any(|thread| works(pid, thread)))
    })
}

/// Work that the main thread of a process has done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MainThreadActivity {
    pid: u32,
    /// Its time on a processor, in nanoseconds, as the kernel writes it.
    run_time: String,
    /// `true` if it runs or waits for a processor.
    pub(crate) runs: bool,
}

/// The work of a process's main thread; the first number of `schedstat` is the time on a processor
/// (`Documentation/scheduler/sched-stats` of Linux).
pub(crate) fn work_of(pid: u32) -> Option<MainThreadActivity> {
    let stat = Stat::read(&format!("/proc/{pid}/stat"))?;
    let times = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let run_time = times.split(' ').next()?.to_owned();
    Some(MainThreadActivity { pid, run_time, runs: stat.state == 'R' })
}

/// Contents of a `stat` file of a process or thread (`proc_pid_stat(5)`).
pub(super) struct Stat {
    /// The name that it gave itself, 15 bytes at most.
    pub(super) name: String,
    /// The letter of its state.
    pub(super) state: char,
}

impl Stat {
    /// Reads the file; `None` if it has ended.
    pub(super) fn read(file: &str) -> Option<Self> {
        let text = fs::read_to_string(file).ok()?;
        // The name may contain anything, parentheses too.
        let (before, after) = text.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        Some(Self { name: name.to_owned(), state: after.trim_start().chars().next()? })
    }
}
