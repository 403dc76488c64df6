//! The terminal from which a person is watched, which is no part of what they show.

use std::{collections::HashSet, fs};

use deskhand_ui::WindowInfo;

/// The most ancestors that are followed.
const ANCESTORS_MAX: usize = 64;

/// The processes that this one was started by.
#[derive(Debug, Default)]
pub(crate) struct OwnTerminal {
    processes: HashSet<u32>,
}

impl OwnTerminal {
    /// Of this process: itself and its ancestors, without the first process of the machine, which started everything.
    pub(crate) fn of_this_process() -> Self {
        let mut processes = HashSet::new();
        let mut next = Some(std::process::id());
        while let Some(pid) = next.filter(|pid| *pid > 1 && processes.len() < ANCESTORS_MAX) {
            if !processes.insert(pid) {
                break;
            }
            next = parent(pid);
        }
        Self { processes }
    }

    /// Returns `true` if a window belongs to it.
    pub(crate) fn has(&self, window: &WindowInfo) -> bool {
        window.app.pid.is_some_and(|pid| self.processes.contains(&pid))
    }
}

/// The process that started another one (`proc_pid_stat(5)`).
fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may contain spaces and brackets.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_and_its_parent_are_its_own() {
        let own = OwnTerminal::of_this_process();
        assert!(own.processes.contains(&std::process::id()));
        assert!(own.processes.contains(&std::os::unix::process::parent_id()));
        assert!(!own.processes.contains(&1));
    }
}
