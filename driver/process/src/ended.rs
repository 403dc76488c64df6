//! Waits for the end of processes that need not be our children.

use std::{
    collections::BTreeSet,
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};

/// Waits until the processes have ended, at most `bound`. Those that cannot be watched count as ended. Blocking.
pub fn await_ended(pids: &BTreeSet<u32>, bound: Duration) {
    let until = Instant::now() + bound;
    for pid in pids {
        let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
        let Some(Ok(process)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else { continue };
        if !ends_within(&process, until.saturating_duration_since(Instant::now())) {
            return;
        }
    }
}

/// Returns `true` if the process of a descriptor (`pidfd_open`) ends within `bound`. Blocking.
pub(crate) fn ends_within(process: impl AsFd, bound: Duration) -> bool {
    let bound = Timespec::try_from(bound).ok();
    bound.is_some_and(|bound| {
        poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&bound)).is_ok_and(|ready| ready > 0)
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn it_waits_for_the_end_of_a_process_and_no_longer_than_the_bound() {
        let mut ends = Command::new("true").spawn().unwrap();
        await_ended(&BTreeSet::from([0, ends.id()]), Duration::from_secs(60));
        ends.wait().unwrap();
        let mut stays = Command::new("sleep").arg("60").spawn().unwrap();
        await_ended(&BTreeSet::from([stays.id()]), Duration::from_millis(10));
        assert!(stays.try_wait().unwrap().is_none(), "it still runs");
        stays.kill().unwrap();
        stays.wait().unwrap();
    }
}
