//! Storage that processes hold and no folder shows: removed files that are still open or mapped, and shared
//! memory.

use std::{
    collections::{HashMap, HashSet},
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{fs::statfs, process::Pid};

/// The unit of `st_blocks`, in bytes.
pub(super) const BLOCK: u64 = 512;
/// Prefixes of the paths of shared memory mappings, besides files of `/dev/shm`.
const SHARED_MEMORY: [&str; 4] = ["/memfd:", "/dev/zero", "/SYSV", "/dev/shm/"];
/// File systems in memory, by their numbers: tmpfs and hugetlbfs.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x9584_58f6];
/// Suffix of the path of a mapping of a removed file.
const REMOVED: &str = " (deleted)";

/// Storage held by some processes.
#[derive(Debug, Default)]
pub(super) struct HiddenStorageUsage {
    /// Open files without a name, by device and inode.
    open: HashMap<(u64, u64), UnlinkedFile>,
    /// Removed files on disk that are mapped and not open, by how the kernel prints them: bytes up to the end of the mapping.
    mapped: HashMap<String, u64>,
    /// Private and shared memory, counted for each process that has it.
    resident: u64,
    /// Set if a process could not be inspected.
    is_partial: bool,
}

/// An open file without a name.
#[derive(Debug, Clone, Copy)]
struct UnlinkedFile {
    bytes: u64,
    /// `true` if it is in memory, like files from `memfd_create`.
    is_memory: bool,
}

/// A mapping in `/proc/PID/maps`, or the first line of one in `smaps`.
pub(super) struct MemoryMapping<'a> {
    length: u64,
    is_shared: bool,
    offset: u64,
    device: &'a str,
    pub(super) inode: u64,
    pub(super) path: &'a str,
}

impl HiddenStorageUsage {
    /// Measures the storage held by these processes.
    pub(super) fn by(processes: &[Pid]) -> Self {
        let mut held = Self::default();
        for process in processes {
            let folder = PathBuf::from(format!("/proc/{}", process.as_raw_nonzero()));
            held.add_memory(&folder);
            held.add_open(&folder);
            held.add_mapped(&folder);
        }
        held
    }

    fn add_memory(&mut self, process: &Path) {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let of = |line: &str| ["RssAnon:", "RssShmem:", "VmSwap:"].iter().any(|name| line.starts_with(name));
        let bytes = status.lines().filter(|line| of(line)).map(kibibytes).fold(0, u64::saturating_add);
        self.resident = self.resident.saturating_add(bytes);
    }

    fn add_open(&mut self, process: &Path) {
        let entries = match fs::read_dir(process.join("fd")) {
            Ok(entries) => entries,
            Err(error) => {
                // One that has ended holds nothing.
                self.is_partial |= error.kind() == std::io::ErrorKind::PermissionDenied;
                return;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            // Follows the link to the file itself, whatever its name.
            let Ok(data) = fs::metadata(entry.path()) else { continue };
            if data.is_file() && data.nlink() == 0 {
                let is_memory = statfs(entry.path()).is_ok_and(|system| IN_MEMORY.contains(&system.f_type));
                let open = UnlinkedFile { bytes: data.blocks().saturating_mul(BLOCK), is_memory };
                self.open.insert((data.dev(), data.ino()), open);
            }
        }
    }

    fn add_mapped(&mut self, process: &Path) {
        let maps = fs::read(process.join("maps")).unwrap_or_default();
        for line in String::from_utf8_lossy(&maps).lines() {
            let Some(mapping) = MemoryMapping::parse(line) else { continue };
            if mapping.is_shared && mapping.path.ends_with(REMOVED) && !mapping.is_shared_memory() {
                let known = self.mapped.entry(format!("{} {}", mapping.device, mapping.inode)).or_default();
                *known = (*known).max(mapping.offset.saturating_add(mapping.length));
            }
        }
    }

    /// The bytes of removed files on disk that are open or mapped, for devices that are asked about.
    pub(super) fn removed_bytes(&self, is_wanted: impl Fn(u64) -> bool) -> u64 {
        let open = self.open.iter().filter(|((device, _), _)| is_wanted(*device));
        let known: HashSet<u64> = self.open.keys().map(|(_, inode)| *inode).collect();
        let mapped = self.mapped.iter().filter(|(file, _)| {
            let inode = file.rsplit(' ').next().and_then(|inode| inode.parse().ok());
            inode.is_none_or(|inode| !known.contains(&inode))
        });
        open.map(|(_, open)| open.bytes).chain(mapped.map(|(_, bytes)| *bytes)).fold(0, u64::saturating_add)
    }

    /// The bytes of open files without a name that are in memory.
    pub(super) fn open_memory(&self) -> u64 {
        let in_memory = self.open.values().filter(|open| open.is_memory);
        in_memory.map(|open| open.bytes).fold(0, u64::saturating_add)
    }

    /// Returns `true` if a file without a name is open and in memory.
    pub(super) fn has_open_memory(&self, inode: u64) -> bool {
        self.open.iter().any(|((_, known), open)| *known == inode && open.is_memory)
    }

    /// An upper bound of the memory of all processes, in bytes: what several share counts for each.
    pub(super) fn memory_at_most(&self) -> u64 {
        self.resident.saturating_add(self.open_memory())
    }

    /// Returns `true` if something may be missing.
    pub(super) const fn is_partial(&self) -> bool {
        self.is_partial
    }
}

impl<'a> MemoryMapping<'a> {
    /// Parses `FROM-TO FLAGS OFFSET DEVICE INODE PATH`.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.splitn(6, ' ');
        let (from, to) = words.next()?.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let length = number(to)?.checked_sub(number(from)?)?;
        let is_shared = words.next()?.ends_with('s');
        let offset = number(words.next()?)?;
        let device = words.next()?;
        let inode = words.next()?.parse().ok()?;
        Some(Self {
            length,
            is_shared,
            offset,
            device,
            inode,
            path: words.next().unwrap_or_default().trim_start(),
        })
    }

    pub(super) fn is_shared_memory(&self) -> bool {
        SHARED_MEMORY.iter().any(|start| self.path.starts_with(start))
    }
}

/// The bytes of a line such as `RssAnon:     12 kB`.
pub(super) fn kibibytes(line: &str) -> u64 {
    let number = line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
    number.unwrap_or(0).saturating_mul(1024)
}
