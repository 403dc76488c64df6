//! The processes of an application as the Linux kernel reports them: whether they sleep, and what could wake them.
//!
//! - `processes` finds the processes of an application.
//! - `threads` reads whether a thread sleeps, and when a timer wakes it.
//! - `files` finds the timers and sockets among the open files of a process.
//! - `sockets` reads whether a network request was sent and not answered yet, and which process is at the other end.

mod files;
mod processes;
mod sockets;
mod threads;

use std::{collections::HashSet, time::Duration};

pub(crate) use processes::{MainThreadActivity, is_at_rest, processes_of, work_of};
pub(crate) use sockets::peer_process;

/// Until so long after an input, the page of a browser looks at short intervals what it has to do first. After that, only the
/// timers of pages count: those of the browser around them are its own affairs.
const PAGES_AGREE: Duration = Duration::from_millis(400);

/// Returns the minimum time that a process and its descendants sleep on, unless an input or another process
/// wakes them: until the first of their timers is due. `None` if one of them works or waits for an answer of
/// the network to a request sent within the last `since`, the time since the last input, and where the kernel
/// does not report it, as for the processes of another user.
pub(crate) fn sleeps_for(pid: u32, since: Duration) -> Option<Duration> {
    let mut first = Duration::MAX;
    let mut sockets = HashSet::new();
    let processes = processes_of(pid);
    let pages: Vec<u32> = processes.iter().copied().filter(|pid| processes::shows_pages(*pid)).collect();
    for pid in processes {
        let counts = pages.is_empty() || since < PAGES_AGREE || pages.contains(&pid);
        let memory = threads::ProcessMemory::of(pid);
        let mut soonest = Duration::MAX;
        for thread in processes::threads_of(pid)? {
            soonest = soonest.min(threads::sleeps_for(pid, thread, &memory)?);
        }
        let open = files::open_files(pid)?;
        soonest = open.timers.into_iter().fold(soonest, Duration::min);
        sockets.extend(open.sockets);
        if counts {
            first = first.min(soonest);
        }
    }
    (!sockets::await_answer(&sockets, since)?).then_some(first)
}

#[cfg(test)]
mod tests;
