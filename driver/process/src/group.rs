//! Programs that are killed when their owner drops them.

use std::{path::Path, time::Duration};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};

use crate::{
    ended::ends_within,
    mark::{ProcessMark, started_at},
};

/// The variable that marks the processes of a group.
const VARIABLE: &str = "DESKHAND_AGENT_PROCESS";
/// Maximum time for a supervisor to end its descendants.
const SUPERVISOR_BOUND: Duration = Duration::from_secs(10);

/// A program and its descendants. Dropping it kills all of them.
#[derive(Debug)]
pub struct ProcessGroup {
    leader: Option<Pid>,
    /// Set if the leader ends its descendants when it gets a termination signal.
    supervised: bool,
    mark: ProcessMark,
    /// The start time of the leader, in clock ticks since boot; 0 if unknown.
    since: u64,
}

impl ProcessGroup {
    /// Creates a mark for a new program: the name and value of its environment variable.
    #[must_use]
    pub fn mark() -> (&'static str, String) {
        (VARIABLE, uuid::Uuid::now_v7().to_string())
    }

    /// The group of a program started as the leader of its process group, with the value of that [mark](Self::mark).
    #[must_use]
    pub fn of(leader: Option<u32>, mark: String) -> Self {
        let leader = leader.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let since = leader.and_then(|pid| started_at(&Path::new("/proc").join(pid.to_string())));
        Self { leader, supervised: false, mark: ProcessMark::new(VARIABLE, mark), since: since.unwrap_or(0) }
    }

    /// The same for a leader that ends its descendants when it gets a termination signal: it knows those that have removed
    /// the mark.
    #[must_use]
    pub fn supervised(mut self) -> Self {
        self.supervised = true;
        self
    }

    /// Records that the leader has exited and its pid may be reused.
    pub fn leader_ended(&mut self) {
        self.leader = None;
    }

    /// Kills the remaining processes; returns how many there were besides the leader.
    pub fn end(&mut self) -> usize {
        if let Some(leader) = self.leader.take() {
            if self.supervised {
                ask_to_end(leader);
            }
            // An error means that it has already exited.
            kill_process_group(leader, Signal::KILL).ok();
        }
        self.mark.kill_all(self.since)
    }
}

/// Sends a termination signal and waits until the process has exited.
fn ask_to_end(leader: Pid) {
    // An error means that it has already exited.
    let Ok(process) = pidfd_open(leader, PidfdFlags::empty()) else { return };
    kill_process(leader, Signal::TERM).ok();
    // However the wait ends, the group is killed next.
    ends_within(&process, SUPERVISOR_BOUND);
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader},
        os::unix::process::{CommandExt as _, ExitStatusExt as _},
        process::{Child, Command, Stdio},
    };

    use super::*;

    /// Starts a shell as the leader of a group and waits for its first line.
    fn start(script: &str, name: &str, value: &str) -> (Child, String) {
        let mut child = Command::new("/bin/sh")
            .args(["-c", script])
            .env(name, value)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, line.trim().to_owned())
    }

    #[test]
    fn descendants_that_left_the_group_are_killed() {
        let (name, value) = ProcessGroup::mark();
        let script = "setsid sh -c 'trap \"\" TERM HUP; echo $$; exec sleep 600' & wait";
        let (mut leader, descendant) = start(script, name, &value);
        let mut group = ProcessGroup::of(Some(leader.id()), value);
        assert!(group.end() >= 1);
        assert_eq!(leader.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        // It is not a child of this process, so `wait` cannot wait for it; a killed process needs a moment to die on a busy machine.
        let state = || std::fs::read_to_string(format!("/proc/{descendant}/stat")).unwrap_or_default();
        let is_dead = || state().is_empty() || state().contains(") Z ");
        let start = std::time::Instant::now();
        while !is_dead() && start.elapsed() < std::time::Duration::from_secs(60) {
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
        assert!(is_dead(), "{}", state());
    }

    #[test]
    fn a_supervisor_is_asked_and_waited_for() {
        let (name, value) = ProcessGroup::mark();
        // A signal ends the wait at once; what the shell does then takes a moment.
        let script = "trap 'seq 200000 > /dev/null; exit 7' TERM; sleep 600 & echo ready; wait";
        let (mut leader, _) = start(script, name, &value);
        let mut group = ProcessGroup::of(Some(leader.id()), value).supervised();
        group.end();
        assert_eq!(leader.wait().unwrap().code(), Some(7));
    }

    #[test]
    fn processes_with_another_mark_are_left_alone() {
        let (name, value) = ProcessGroup::mark();
        // The value of one mark may be the beginning of another.
        let (mut other, _) = start("echo ready; exec sleep 600", name, &format!("{value}0"));
        let mut group = ProcessGroup::of(None, value);
        assert_eq!(group.end(), 0);
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
