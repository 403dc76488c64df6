//! The memory of several processes, where what they share counts once.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
};

use rustix::process::Pid;

use super::held::{HiddenStorageUsage, MemoryMapping, kibibytes};

/// Their memory in bytes, without files on disk that can be read again. Expensive: the kernel looks at every page.
pub(super) fn exact_bytes(processes: &[Pid], held: &HiddenStorageUsage) -> u64 {
    let mapped = processes.iter().map(|process| mapped_bytes(*process, held));
    mapped.fold(held.open_memory(), u64::saturating_add)
}

/// Which pages of a mapping count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageAccounting {
    All,
    /// Those that differ from the file.
    Changed,
    /// None: it is counted as an open file.
    None,
}

/// The proportional share that a process has of its mappings.
fn mapped_bytes(process: Pid, held: &HiddenStorageUsage) -> u64 {
    let Ok(file) = File::open(format!("/proc/{}/smaps", process.as_raw_nonzero())) else { return 0 };
    let (mut total, mut counted, mut share) = (0_u64, PageAccounting::None, 0);
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if let Some(mapping) = MemoryMapping::parse(&line) {
            counted = match mapping.inode {
                0 => PageAccounting::All,
                inode if mapping.is_shared_memory() && !held.has_open_memory(inode) => PageAccounting::All,
                _ if mapping.is_shared_memory() => PageAccounting::None,
                _ => PageAccounting::Changed,
            };
        } else if line.starts_with("Pss:") {
            share = kibibytes(&line);
            if counted == PageAccounting::All {
                total = total.saturating_add(share);
            }
        } else if line.starts_with("Anonymous:") && counted == PageAccounting::Changed {
            total = total.saturating_add(kibibytes(&line).min(share));
        } else if line.starts_with("SwapPss:") && counted != PageAccounting::None {
            total = total.saturating_add(kibibytes(&line));
        }
    }
    total
}
