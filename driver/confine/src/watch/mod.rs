//! Limits that the kernel does not enforce: the disk space of all files together, and memory without a control group.
//!
//! The kernel reports no event when either grows, so a thread of the supervisor looks regularly. A look is cheap if nothing was
//! written: then it reads the free space of the file systems alone. Otherwise pauses between looks grow with what a look
//! costs.

mod disk;
mod held;
mod memory;

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::mpsc;

use self::{disk::Disk, held::HiddenStorageUsage, memory::exact_bytes};
use crate::{confinement::Confinement, descendants::descendants};

/// The shortest pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// Ratio of the pause to the look before it, so that looks take at most a twentieth of the time.
const PAUSE_FACTOR: u32 = 19;
/// The longest pause, however long a look takes, and the longest time between two walks through the folders.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Looks at what a program uses.
pub(crate) struct ResourcePoller {
    disk: Disk,
    /// The most memory in bytes; `None` if a control group enforces it.
    memory: Option<u64>,
    walked: Instant,
}

/// A watch that runs on a thread of its own until it is dropped.
pub(crate) struct ResourceMonitor {
    reasons: mpsc::Receiver<String>,
    /// Dropping it ends the thread.
    _until: Sender<()>,
}

impl ResourceMonitor {
    /// Returns the reason once a limit is exceeded; `None` if the thread has ended.
    pub(crate) async fn exceeded(&mut self) -> Option<String> {
        self.reasons.recv().await
    }
}

impl ResourcePoller {
    /// Measures what is below the writable folders before the program starts. Blocking.
    pub(crate) fn prepare(confinement: &Confinement, memory_is_limited: bool) -> Result<Self, String> {
        let memory = (!memory_is_limited).then(|| confinement.limits.memory_bytes());
        Ok(Self { disk: Disk::measure(confinement)?, memory, walked: Instant::now() })
    }

    /// Looks at the descendants of this process from now on.
    pub(crate) fn start(mut self) -> std::io::Result<ResourceMonitor> {
        let (_until, ended) = channel::<()>();
        let (sender, reasons) = mpsc::channel(1);
        std::thread::Builder::new().name("watch".to_owned()).spawn(move || {
            if let Some(reason) = self.run(&ended) {
                // Nobody listens once the program has ended.
                sender.blocking_send(reason).ok();
            }
        })?;
        Ok(ResourceMonitor { reasons, _until })
    }

    /// Returns why the program has to end; `None` once nobody waits for it.
    fn run(&mut self, ended: &Receiver<()>) -> Option<String> {
        let mut took = Duration::ZERO;
        while self.pause(ended, took) {
            let started = processor_time();
            // What is moved while it is counted may be counted twice, so a second look has to agree.
            if self.look(false).is_some()
                && let Some(reason) = self.look(true)
            {
                return Some(reason);
            }
            took = processor_time().saturating_sub(started);
        }
        None
    }

    /// Waits for the next look, also for less if the disk fills quickly; `false` once nobody waits for the result.
    fn pause(&self, ended: &Receiver<()>, took: Duration) -> bool {
        let started = Instant::now();
        let pause = took.saturating_mul(PAUSE_FACTOR).clamp(PAUSE, PAUSE_MAX);
        loop {
            let rest = pause.saturating_sub(started.elapsed());
            match ended.recv_timeout(rest.min(PAUSE)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
            }
            let waited = started.elapsed();
            if waited >= pause || (waited >= took && self.disk.may_be_full()) {
                return true;
            }
        }
    }

    /// Why the program has to end, if it has. Walks through the folders if anything was written, or if it must.
    fn look(&mut self, must_walk: bool) -> Option<String> {
        let walks = must_walk || self.walked.elapsed() >= PAUSE_MAX || self.disk.has_changed();
        if !walks && self.memory.is_none() {
            return None;
        }
        let processes = descendants();
        let held = HiddenStorageUsage::by(&processes);
        if let Some(most) = self.memory
            && held.memory_at_most() > most
            && exact_bytes(&processes, &held) > most
        {
            return Some(format!(
                "it used more than {} MiB of memory; `memory_mb` in `limits` sets how much it may use",
                most >> 20
            ));
        }
        if !walks {
            return None;
        }
        self.walked = Instant::now();
        self.disk.exceeded(&held)
    }
}

/// The time that this thread has computed. On a busy machine, a look takes longer and costs no more.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds.saturating_add(Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0)))
}
