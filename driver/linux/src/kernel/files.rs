//! The timers and sockets among the open files of a process.

use std::{fs, io::ErrorKind, time::Duration};

/// Open files that could wake their process.
#[derive(Debug, Default)]
pub(super) struct OpenFiles {
    /// Time until each armed timer is due (`timerfd_create(2)`).
    pub(super) timers: Vec<Duration>,
    /// The inodes of the sockets.
    pub(super) sockets: Vec<u64>,
}

/// The open files of a process; `None` if the kernel does not list them.
pub(super) fn open_files(pid: u32) -> Option<OpenFiles> {
    let mut found = OpenFiles::default();
    let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Some(found),
        Err(_) => return None,
    };
    for entry in entries.filter_map(Result::ok) {
        let Ok(link) = fs::read_link(entry.path()) else { continue };
        let link = link.to_string_lossy();
        if link == "anon_inode:[timerfd]" {
            let number = entry.file_name();
            let about = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", number.to_string_lossy()));
            found.timers.extend(due(&about.unwrap_or_default()));
        } else if let Some(inode) = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) {
            found.sockets.extend(inode.parse::<u64>());
        }
    }
    Some(found)
}

/// When an armed timer is due, by `it_value: (SECONDS, NANOSECONDS)` (`proc_pid_fdinfo(5)`).
fn due(about: &str) -> Option<Duration> {
    let value = about.lines().find_map(|line| line.strip_prefix("it_value:"))?;
    let (seconds, nanoseconds) = value.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    let left = Duration::new(seconds.trim().parse().ok()?, nanoseconds.trim().parse().ok()?);
    (!left.is_zero()).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_armed_timer_is_due_and_a_disarmed_one_never() {
        let about =
            |value: &str| format!("pos:\t0\nclockid: 1\nticks: 0\nit_value: {value}\nit_interval: (0, 0)\n");
        assert_eq!(due(&about("(1, 500000000)")), Some(Duration::from_millis(1_500)));
        assert_eq!(due(&about("(0, 0)")), None);
        assert_eq!(due("pos:\t0\n"), None);
    }
}
