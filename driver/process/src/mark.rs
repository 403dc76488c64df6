//! Marks: environment variables by which a process and its descendants are found.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Read as _},
    path::Path,
};

use rustix::process::{Pid, Signal, kill_process};

/// Maximum number of scans for processes: one may fork or exec during a scan.
const ROUNDS_MAX: u32 = 50;
/// Maximum size of an environment that is read, in bytes; Linux allows 2 MiB for environment and arguments
/// together.
const ENVIRONMENT_MAX: usize = 2 * 1024 * 1024;

/// A variable with a value that only the processes of one start have in their environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessMark {
    variable: &'static str,
    value: OsString,
}

/// The result of a process scan.
#[derive(Debug, Default)]
struct ProcessScan {
    /// Processes with the mark.
    marked: Vec<Pid>,
    /// Set if a process shows no environment because it is in the middle of `exec`.
    unsure: bool,
}

impl ProcessMark {
    /// A mark with that value, which no other start may use.
    pub fn new(variable: &'static str, value: impl Into<OsString>) -> Self {
        Self { variable, value: value.into() }
    }

    /// The line of the environment: `VARIABLE=value`.
    pub(crate) fn assignment(&self) -> OsString {
        let mut assignment = OsString::from(self.variable);
        assignment.push("=");
        assignment.push(&self.value);
        assignment
    }

    /// Kills all processes with the mark; returns how many there were. `since` is the [start time](started_at) of the
    /// first of them: an older process cannot become one of them.
    pub(crate) fn kill_all(&self, since: u64) -> usize {
        let assignment = self.assignment();
        let mut killed = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let scan = scan(&assignment, since);
            if scan.marked.is_empty() {
                if !scan.unsure {
                    break;
                }
                std::thread::yield_now();
            }
            for pid in scan.marked {
                kill_process(pid, Signal::KILL).ok();
                killed.insert(pid.as_raw_nonzero());
            }
        }
        killed.len()
    }
}

/// Scans for running processes with that line in their environment.
fn scan(assignment: &OsStr, since: u64) -> ProcessScan {
    let mut scan = ProcessScan::default();
    let mut buffer = vec![0; ENVIRONMENT_MAX];
    for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { continue };
        let Ok(environment) = environment_of(&entry.path(), &mut buffer) else { continue };
        if environment.split(|byte| *byte == 0).any(|line| line == assignment.as_encoded_bytes()) {
            scan.marked.push(pid);
        } else if environment.is_empty() && is_in_exec(&entry.path(), since) {
            scan.unsure = true;
        }
    }
    scan
}

/// Returns `true` if a process without an environment has an executable and is not older than `since`. Linux shows an empty
/// environment during `exec`, until the new program is loaded (`environ_read` in `fs/proc/base.c`).
fn is_in_exec(process: &Path, since: u64) -> bool {
    fs::read_link(process.join("exe")).is_ok() && started_at(process).is_some_and(|started| started >= since)
}

/// The environment of a process, up to the size of `buffer`. It is read in one call: an `exec` between two reads would
/// yield a partial environment.
fn environment_of<'a>(process: &Path, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let length = fs::File::open(process.join("environ"))?.read(buffer)?;
    Ok(buffer.get(..length).unwrap_or_default())
}

/// When a process started, in clock ticks since boot (field 22 of `stat`, proc(5)).
pub(crate) fn started_at(process: &Path) -> Option<u64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The program name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}
