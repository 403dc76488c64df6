//! Pace of a viewer: longer intervals while all processors are busy, so that viewers do not delay agents.

use std::{
    fs,
    time::{Duration, Instant},
};

/// The shortest time between two updates.
const INTERVAL_MIN: Duration = Duration::from_millis(40);
/// The shortest time between two updates where others wait for a processor.
const INTERVAL_BUSY: Duration = Duration::from_millis(240);
/// After an update the thread rests for so many times as long as that took.
const REST: u32 = 2;
/// The niceness of the thread (`setpriority(2)`): with 10, it gets a tenth of the time of a thread that competes with it.
const NICENESS: i32 = 10;

/// When the thread of a viewer works.
#[derive(Debug)]
pub(super) struct ViewerPace {
    /// When the next update may be made. Until then, nothing is read from the server.
    due: Instant,
    spent: Option<ThreadSchedulerTime>,
}

impl ViewerPace {
    /// The pace of this thread, which lets others go first from here on.
    pub(super) fn of_this_thread() -> Self {
        // On Linux, the priority is that of the thread.
        let thread = rustix::thread::gettid();
        if let Err(error) = rustix::process::setpriority_process(Some(thread), NICENESS) {
            tracing::debug!(?error, "a viewer works at the priority of the agents");
        }
        Self { due: Instant::now(), spent: ThreadSchedulerTime::so_far() }
    }

    /// Returns the time to rest from now on.
    pub(super) fn rest(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// Something was seen and not looked at: the next moment to listen comes an interval later.
    pub(super) fn listened(&mut self, begun: Instant) {
        self.due = begun + INTERVAL_MIN;
    }

    /// An update was made, or tried.
    pub(super) fn looked(&mut self, begun: Instant) {
        let ended = Instant::now();
        let spent = ThreadSchedulerTime::so_far();
        let is_busy = self.spent.zip(spent).is_some_and(|(before, now)| now.has_waited_since(before));
        self.spent = spent;
        let interval = if is_busy { INTERVAL_BUSY } else { INTERVAL_MIN };
        self.due = (begun + interval).max(ended + (ended - begun) * REST);
    }
}

/// Scheduler statistics of this thread (`/proc/PID/schedstat`, in `Documentation/scheduler/sched-stats.rst`),
/// in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadSchedulerTime {
    running: u64,
    /// Ready to run, while others ran.
    waiting: u64,
}

impl ThreadSchedulerTime {
    /// `None` where the kernel does not tell.
    fn so_far() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
    }

    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok());
        Some(Self { running: numbers.next()??, waiting: numbers.next()?? })
    }

    /// Returns `true` if it waited for a processor for at least half as long as it ran.
    const fn has_waited_since(self, before: Self) -> bool {
        let (ran, waited) =
            (self.running.saturating_sub(before.running), self.waiting.saturating_sub(before.waiting));
        waited > ran / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waited_half_as_long_as_it_ran_is_slowed_down_by_others() {
        let before = ThreadSchedulerTime::read("1000 500 3\n").unwrap();
        assert!(!ThreadSchedulerTime::read("2000 1000 4").unwrap().has_waited_since(before));
        assert!(ThreadSchedulerTime::read("2000 1001 4").unwrap().has_waited_since(before));
        assert_eq!(ThreadSchedulerTime::read("unknown"), None);
    }

    #[test]
    fn the_kernel_tells_what_this_thread_spent() {
        let before = ThreadSchedulerTime::so_far().unwrap();
        let mut sum = 0_u64;
        while ThreadSchedulerTime::so_far().unwrap().running == before.running {
            sum = std::hint::black_box(sum + 1);
        }
    }
}
