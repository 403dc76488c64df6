//! Room on this machine for another session: measured, not configured.

use std::{
    collections::HashSet,
    fs,
    sync::{Mutex, PoisonError},
};

use deskhand_fleet::task::TaskId;

/// Assumed memory of a session with a desktop and an application until some were measured, in KiB.
const SESSION_KIB: u64 = 700 * 1024;
/// Memory that stays free, in KiB.
const SPARE_KIB: u64 = 300 * 1024;
/// The part of the time in which something waited for a processor, in percent over the last ten seconds (`/proc/pressure/cpu`), at which no
/// further session begins.
const WAITING_MAX: f64 = 60.0;

/// The free resources of the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MachineHeadroom {
    /// Memory that can be had without swapping, in KiB.
    pub(super) available_kib: u64,
    /// The part of the time in which something waited for a processor, in percent; `None` where the kernel does not measure it.
    pub(super) waiting: Option<f64>,
    /// The processors.
    pub(super) processors: usize,
}

impl MachineHeadroom {
    /// Measures it.
    pub(super) fn now() -> Self {
        let available = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        });
        let waiting = fs::read_to_string("/proc/pressure/cpu").ok().and_then(|text| {
            text.lines().next()?.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()
        });
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { available_kib: available.unwrap_or(0), waiting, processors }
    }

    /// Returns `true` if another session may begin beside `running` ones.
    pub(super) fn has_place(&self, running: usize) -> bool {
        if running == 0 {
            return true;
        }
        let has_memory = self.available_kib >= SESSION_KIB.saturating_add(SPARE_KIB);
        let has_time = match self.waiting {
            // Sessions mostly wait: for models, for applications.
            Some(waiting) => waiting < WAITING_MAX || running < self.processors,
            None => running < self.processors.saturating_mul(2),
        };
        has_memory && has_time
    }
}

/// Tasks whose sessions are over, and which are not at their ends: what they came to is being stored. They take no room any more.
#[derive(Debug, Default)]
pub(super) struct Over(Mutex<HashSet<TaskId>>);

impl Over {
    /// The session of a task is over.
    pub(super) fn add(&self, task: &TaskId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task.clone());
    }

    /// The task is at its end.
    pub(super) fn remove(&self, task: &TaskId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(task);
    }

    /// Returns the number of tasks.
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_waiting_for_processors_decide() {
        let idle = MachineHeadroom { available_kib: 8 * 1024 * 1024, waiting: Some(1.0), processors: 2 };
        assert!(idle.has_place(0) && idle.has_place(20));
        assert!(!MachineHeadroom { available_kib: 900 * 1024, ..idle }.has_place(1));
        assert!(MachineHeadroom { available_kib: 100, ..idle }.has_place(0), "one is always tried");
        let busy = MachineHeadroom { waiting: Some(90.0), ..idle };
        assert!(busy.has_place(1) && !busy.has_place(2));
        let unknown = MachineHeadroom { waiting: None, ..idle };
        assert!(unknown.has_place(3) && !unknown.has_place(4));
    }

    #[test]
    fn it_is_measured_here() {
        assert!(MachineHeadroom::now().available_kib > 0);
    }
}
