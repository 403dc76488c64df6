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

/// Whether no thread of a process and its descendants works.
pub(crate) fn is_at_rest(pid: u32) -> bool {
    let works = |pid: u32, thread: u32| {
        let state = state_of(&format!("/proc/{pid}/task/{thread}/stat"));
        matches!(state, Some('R' | 'D'))
    };
    processes_of(pid).into_iter().all(|pid| {
        threads_of(pid).is_some_and(|threads| !threads.into_iter().any(|thread| works(pid, thread)))
    })
}

/// What the main thread of a process has done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Work {
    pid: u32,
    /// Its time on a processor, in nanoseconds, as the kernel writes it.
    run_time: String,
    /// Whether it runs or waits for a processor.
    pub(crate) runs: bool,
}

/// The work of a process's main thread; the first number of `schedstat` is the time on a processor
/// (`Documentation/scheduler/sched-stats` of Linux).
pub(crate) fn work_of(pid: u32) -> Option<Work> {
    let state = state_of(&format!("/proc/{pid}/stat"))?;
    let times = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let run_time = times.split(' ').next()?.to_owned();
    Some(Work { pid, run_time, runs: state == 'R' })
}

/// The state in a `stat` file (`proc_pid_stat(5)`): it follows the name, which may contain anything.
pub(super) fn state_of(stat: &str) -> Option<char> {
    fs::read_to_string(stat).ok()?.rsplit_once(')')?.1.trim_start().chars().next()
}
