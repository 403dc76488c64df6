//! Pages in processes of their own: the process that owns the window answers for them before they have handled an input, so
//! it is asked of the kernel whether they still work.

use std::{fs, time::Duration};

/// Two looks this far apart find the same run times if a process is at rest.
const APART: Duration = Duration::from_millis(8);
/// The most looks: a page that never rests, as one with an animation, is not waited for any longer.
const LOOKS_MAX: usize = 16;
/// The most processes of one application.
const PROCESSES_MAX: usize = 64;

/// Waits until the main threads of a process and of all its descendants are at rest, briefly. There is no event for it;
/// where the kernel does not tell, nothing is waited for.
pub(super) async fn rest(pid: u32) {
    let mut before = work_of(pid);
    for _ in 0..LOOKS_MAX {
        if before.is_empty() {
            return;
        }
        tokio::time::sleep(APART).await;
        let now = work_of(pid);
        if now == before && now.iter().all(|one| !one.runs) {
            return;
        }
        before = now;
    }
}

/// What the main thread of a process has done.
#[derive(Debug, PartialEq, Eq)]
struct Work {
    pid: u32,
    /// Its time on a processor, in nanoseconds, as the kernel writes it.
    run_time: String,
    /// Whether it runs or waits for a processor.
    runs: bool,
}

/// The work of a process and its descendants.
fn work_of(pid: u32) -> Vec<Work> {
    let (mut found, mut open) = (Vec::new(), vec![pid]);
    while let Some(pid) = open.pop() {
        let Some(work) = work_of_one(pid) else { continue };
        found.push(work);
        if found.len() >= PROCESSES_MAX {
            break;
        }
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
        for thread in threads {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            open.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found
}

/// `proc_pid_stat(5)`: the state follows the name, which may contain anything. The first number of `schedstat` is the time
/// on a processor (`Documentation/scheduler/sched-stats` of Linux).
fn work_of_one(pid: u32) -> Option<Work> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let state = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
    let times = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let run_time = times.split(' ').next()?.to_owned();
    Some(Work { pid, run_time, runs: state == 'R' })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_work_of_descendants_counts() {
        let script = "while :; do :; done & read -r _; kill $!";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().expect("start a shell");
        let busy = || work_of(shell.id()).iter().any(|one| one.pid != shell.id() && one.runs);
        let is_seen = (0..1_000_000).any(|_| busy());
        drop(shell.stdin.take());
        shell.wait().expect("end the shell");
        assert!(is_seen, "the busy process in the background was not found");
        assert_eq!(work_of(shell.id()), [], "it has ended");
    }
}
