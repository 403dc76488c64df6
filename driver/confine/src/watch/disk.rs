//! The disk space and the files below writable folders.

use std::{
    collections::HashSet,
    ffi::CStr,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat, statvfs},
    io::Errno,
};

use super::held::{BLOCK, HiddenStorageUsage};
use crate::confinement::{Confinement, ConfinementLimits};

/// The most files and folders that are counted before a program starts. Where there are more, its disk space cannot be bounded.
const ENTRIES_MAX: u64 = 2_000_000;
/// Maximum nesting depth of folders. One descriptor is open for each level.
const DEPTH_MAX: usize = 256;

/// Contents of the writable folders before the program started, and the limits for what it may add.
pub(super) struct Disk {
    folders: Vec<Folder>,
    limits: ConfinementLimits,
    /// Amount that the program had added at the last walk.
    added: u64,
    /// The free space at the last walk, for each folder.
    free: Vec<Free>,
}

/// A writable folder.
struct Folder {
    path: PathBuf,
    device: u64,
    before: Count,
    free_before: Free,
}

/// Contents of a folder, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    bytes: u64,
    entries: u64,
    /// Folders that cannot be read.
    hidden: u64,
}

/// Free space of a file system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Free {
    bytes: u64,
    files: u64,
}

/// Why a folder cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Uncountable {
    Many,
    Deep,
}

impl Disk {
    pub(super) fn measure(confinement: &Confinement) -> Result<Self, String> {
        let mut real: Vec<PathBuf> =
            confinement.write.iter().filter_map(|path| path.canonicalize().ok()).collect();
        real.sort();
        let mut folders: Vec<Folder> = Vec::new();
        for path in real {
            let Ok(data) = fs::metadata(&path) else { continue };
            let device = data.dev();
            let is_counted =
                folders.iter().any(|known| path.starts_with(&known.path) && device == known.device);
            if is_counted || !(data.is_dir() || data.is_file()) {
                continue;
            }
            let before = count(&path, device, ENTRIES_MAX).map_err(|why| {
                let why = match why {
                    Uncountable::Many => format!("more than {ENTRIES_MAX} files"),
                    Uncountable::Deep => format!("folders nested more than {DEPTH_MAX} deep"),
                };
                format!(
                    "{} has {why}, so the disk space that the program fills there cannot be bounded; let it write \
                     to a smaller folder",
                    path.display()
                )
            })?;
            let free_before = Free::at(&path);
            folders.push(Folder { path, device, before, free_before });
        }
        let free = folders.iter().map(|folder| folder.free_before).collect();
        Ok(Self { folders, limits: confinement.limits, added: 0, free })
    }

    /// Returns `true` if anything was written since the last walk, as far as the file systems report it.
    pub(super) fn has_changed(&self) -> bool {
        self.folders.iter().map(|folder| Free::at(&folder.path)).ne(self.free.iter().copied())
    }

    /// Returns `true` if more was written since the last walk than the program may still add.
    pub(super) fn may_be_full(&self) -> bool {
        let left = self.limits.disk_bytes().saturating_sub(self.added);
        self.folders
            .iter()
            .zip(&self.free)
            .any(|(folder, before)| Free::at(&folder.path).less_than(before) > left)
    }

    /// Walks through the folders; returns why the program has to end, if it has.
    pub(super) fn exceeded(&mut self, held: &HiddenStorageUsage) -> Option<String> {
        self.free = self.folders.iter().map(|folder| Free::at(&folder.path)).collect();
        let (most_bytes, most_files) = (self.limits.disk_bytes(), self.limits.disk_files);
        let removed = held.removed_bytes(|device| self.folders.iter().any(|folder| folder.device == device));
        let (mut bytes, mut files) = (removed, 0_u64);
        let mut largest: Option<(u64, &Folder)> = None;
        for (folder, free) in self.folders.iter().zip(&self.free) {
            let most = folder.before.entries.saturating_add(most_files);
            let now = match count(&folder.path, folder.device, most) {
                Ok(now) => now,
                Err(Uncountable::Many) => return Some(too_many(&folder.path, most_files)),
                Err(Uncountable::Deep) => {
                    return Some(format!(
                        "it nested folders more than {DEPTH_MAX} deep below {}",
                        folder.path.display()
                    ));
                }
            };
            let mut added = now.bytes.saturating_sub(folder.before.bytes);
            if now.hidden > folder.before.hidden || held.is_partial() {
                // What cannot be counted shows in the free space; others who write there are counted too.
                added = added.max(free.less_than(&folder.free_before));
            }
            bytes = bytes.saturating_add(added);
            files = files.saturating_add(now.entries.saturating_sub(folder.before.entries));
            if files > most_files {
                return Some(too_many(&folder.path, most_files));
            }
            if largest.is_none_or(|(most, _)| added > most) {
                largest = Some((added, folder));
            }
        }
        self.added = bytes;
        let (_, folder) = largest.filter(|_| bytes > most_bytes)?;
        let open = if removed > 0 { ", or held in files that it had removed," } else { "" };
        Some(format!(
            "it stored more than {} MiB below {}{open} in addition to what was there before; `disk_mb` in `limits` sets \
             how much it may store",
            self.limits.disk_mb,
            folder.path.display()
        ))
    }
}

fn too_many(folder: &Path, most: u64) -> String {
    format!(
        "it added more than {most} files and folders below {}; `disk_files` in `limits` sets how many it may add",
        folder.display()
    )
}

impl Free {
    /// Of the file system with this path; nothing if that cannot be found out.
    fn at(path: &Path) -> Self {
        statvfs(path).map_or_else(
            |_| Self::default(),
            |found| Self { bytes: found.f_bfree.saturating_mul(found.f_frsize), files: found.f_ffree },
        )
    }

    /// By how many bytes there is less than before.
    fn less_than(self, before: &Self) -> u64 {
        before.bytes.saturating_sub(self.bytes)
    }
}

/// Counts what is in a folder on this device, or the file. Links are not followed, and each file counts once. Folders are opened
/// from their parents, so that no depth makes a path too long, and no link leads elsewhere.
fn count(path: &Path, device: u64, entries_max: u64) -> Result<Count, Uncountable> {
    let mut count = Count::default();
    let first = match open_folder(CWD, path) {
        Ok(first) => first,
        Err(error) => {
            count.hidden = u64::from(error == Errno::ACCESS);
            count.bytes = fs::symlink_metadata(path).map_or(0, |data| data.blocks().saturating_mul(BLOCK));
            return Ok(count);
        }
    };
    let mut linked = HashSet::new();
    let mut open = vec![first];
    while let Some(folder) = open.last_mut() {
        let Some(Ok(entry)) = folder.read() else {
            open.pop();
            continue;
        };
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let inner = add(&mut count, folder, name, device, &mut linked).unwrap_or_default();
        if count.entries > entries_max {
            return Err(Uncountable::Many);
        }
        if open.len() >= DEPTH_MAX && inner.is_some() {
            return Err(Uncountable::Deep);
        }
        open.extend(inner);
    }
    Ok(count)
}

/// Counts one entry, and opens it if it is a folder on this device. An error means that it is gone.
fn add(
    count: &mut Count,
    folder: &Dir,
    name: &CStr,
    device: u64,
    linked: &mut HashSet<u64>,
) -> io::Result<Option<Dir>> {
    let parent = folder.fd()?;
    let data = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if data.st_dev != device {
        return Ok(None);
    }
    count.entries = count.entries.saturating_add(1);
    let is_folder = FileType::from_raw_mode(data.st_mode) == FileType::Directory;
    if is_folder || data.st_nlink <= 1 || linked.insert(data.st_ino) {
        count.bytes =
            count.bytes.saturating_add(u64::try_from(data.st_blocks).unwrap_or(0).saturating_mul(BLOCK));
    }
    if !is_folder {
        return Ok(None);
    }
    match open_folder(parent, name) {
        Ok(inner) => Ok(Some(inner)),
        Err(error) => {
            if error != Errno::NOENT {
                count.hidden = count.hidden.saturating_add(1);
            }
            Ok(None)
        }
    }
}

fn open_folder(parent: impl rustix::fd::AsFd, name: impl rustix::path::Arg) -> Result<Dir, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened: OwnedFd = openat(parent, name, flags, Mode::empty())?;
    Dir::new(opened)
}
