//! Unpacks an archive into a folder.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    entries::{ArchiveEntryFlow, ArchiveEntryHeader, ArchiveFile},
    links::{ArchiveLink, LINKS_MAX},
    names::inside,
    place::{Destination, UnpackConflictPolicy},
};
use crate::{
    error::{FileParseError, FileReadError},
    folder::{EntryKind, NameFilter, SkippedFile},
    format::Format,
    guard::guarded,
};

/// Bytes that any archive may expand to, whatever the ratio.
const RATIO_FREE: u64 = 16 * 1024 * 1024;
/// The most entries that are named as skipped.
const SKIPPED_SHOWN: usize = 100;

/// Limits of unpacking, and what to do with files that exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnpackOptions {
    /// Glob of the entries to unpack, as in [`ListOptions`](crate::ListOptions). All of them if absent.
    pub glob: Option<String>,
    /// The most bytes of all files together.
    pub bytes_max: u64,
    /// The most bytes of one file.
    pub entry_bytes_max: u64,
    /// The most entries.
    pub entries_max: usize,
    /// The most bytes that one byte of the archive may expand to, after the first 16 MiB.
    pub ratio_max: u64,
    /// The action if the folder is not empty.
    pub existing: UnpackConflictPolicy,
}

impl Default for UnpackOptions {
    fn default() -> Self {
        Self {
            glob: None,
            bytes_max: 2 * 1024 * 1024 * 1024,
            entry_bytes_max: 1024 * 1024 * 1024,
            entries_max: 50_000,
            ratio_max: 200,
            existing: UnpackConflictPolicy::Refuse,
        }
    }
}

/// The result of unpacking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnpackSummary {
    /// The folder.
    pub folder: PathBuf,
    /// Files, links included.
    pub files: usize,
    /// Bytes of the files.
    pub bytes: u64,
    /// Entries that were skipped, the first 100.
    pub skipped: Vec<SkippedFile>,
    /// Number of skipped entries. Those that the glob does not match are not counted.
    pub skipped_total: usize,
}

/// Unpacks an archive into the folder `into`, whose parent must exist. Blocking.
///
/// The entries go to a temporary folder beside it, which is renamed at the end: a failure leaves nothing, and
/// `into` is never half full. Only if it has something in it already ([`UnpackConflictPolicy`]), files are moved one by
/// one. Files get the permissions 0644, or 0755 if they are executable; times and owners are not restored.
///
/// # Errors
/// The archive cannot be read, is damaged, password protected or exceeds a limit; the folder cannot be
/// written or has something in it.
pub fn unpack(path: &Path, into: &Path, options: &UnpackOptions) -> Result<UnpackSummary, FileReadError> {
    guarded(path, || {
        let filter = NameFilter::new(options.glob.as_deref())?;
        let archive = ArchiveFile::open(path)?;
        let destination = Destination::prepare(into, options.existing)?;
        let format = archive.format;
        let ratio_limit = archive.packed.saturating_mul(options.ratio_max).saturating_add(RATIO_FREE);
        let mut unpacking = ArchiveUnpacker {
            root: destination.root(),
            options,
            ratio_limit,
            filter,
            entries: 0,
            files: 0,
            bytes: 0,
            passed_over: 0,
            is_stream: format == Format::Tar,
            links: Vec::new(),
            skipped: Vec::new(),
            skipped_total: 0,
            encrypted: 0,
        };
        let visited = archive.visit(&mut |head, data| unpacking.entry(head, data));
        visited.map_err(|fault| failed(fault, path, into, format))?;
        unpacking.make_links();
        if unpacking.files == 0 && unpacking.encrypted > 0 {
            return Err(FileParseError::PasswordProtected.at(path, format));
        }
        let ArchiveUnpacker { files, bytes, mut skipped, mut skipped_total, .. } = unpacking;
        let kept = destination.finish()?;
        skipped_total += kept.len();
        skipped.extend(kept.into_iter().take(SKIPPED_SHOWN));
        Ok(UnpackSummary { folder: into.to_owned(), files, bytes, skipped, skipped_total })
    })
}

/// Errors with an OS error code come from writing; the others report a damaged archive.
fn failed(fault: FileParseError, path: &Path, into: &Path, format: Format) -> FileReadError {
    if let FileParseError::Io(cause) = fault {
        let is_of_system = cause.raw_os_error().is_some();
        if is_of_system {
            return FileReadError::file("unpack into", into, cause);
        }
        return FileParseError::Io(cause).at(path, format);
    }
    fault.at(path, format)
}

struct ArchiveUnpacker<'a> {
    root: PathBuf,
    options: &'a UnpackOptions,
    ratio_limit: u64,
    filter: NameFilter,
    entries: usize,
    files: usize,
    bytes: u64,
    /// Bytes of entries that were not wanted.
    passed_over: u64,
    /// `true` if entries can be reached only by decompressing the previous ones.
    is_stream: bool,
    links: Vec<ArchiveLink>,
    skipped: Vec<SkippedFile>,
    skipped_total: usize,
    encrypted: usize,
}

impl ArchiveUnpacker<'_> {
    fn entry(
        &mut self,
        head: &ArchiveEntryHeader,
        data: &mut dyn Read,
    ) -> Result<ArchiveEntryFlow, FileParseError> {
        let flow = self.take(head, data)?;
        if self.is_stream {
            // What is left of an entry is decompressed to get to the next one, so it counts.
            self.passed_over += self.copy(data, &mut io::sink())?;
        }
        Ok(flow)
    }

    fn take(
        &mut self,
        head: &ArchiveEntryHeader,
        data: &mut dyn Read,
    ) -> Result<ArchiveEntryFlow, FileParseError> {
        self.entries += 1;
        if self.entries > self.options.entries_max {
            let limit = self.options.entries_max;
            return Err(FileParseError::TooLarge(format!("it has more than {limit} entries (entries_max)")));
        }
        let path = match inside(&head.name) {
            Ok(path) => path,
            // `./` is the root itself, which has no entry.
            Err(_) if head.kind == EntryKind::Folder && head.name.trim_matches(['.', '/']).is_empty() => {
                return Ok(ArchiveEntryFlow::Next);
            }
            Err(why) => return Ok(self.skip(head, why)),
        };
        if !self.filter.matches(&path) {
            return Ok(ArchiveEntryFlow::Next);
        }
        if let Some(why) = head.unreadable {
            self.encrypted += 1;
            return Ok(self.skip(head, why));
        }
        match &head.kind {
            EntryKind::Folder => Ok(self.folder(head, &path)),
            EntryKind::File => self.file(head, &path, data),
            EntryKind::Link { .. } | EntryKind::HardLink { .. } if self.links.len() >= LINKS_MAX => {
                Ok(self.skip(head, "there are too many links"))
            }
            EntryKind::Link { target } => {
                self.links.push(ArchiveLink::Symbolic { path, target: target.clone() });
                Ok(ArchiveEntryFlow::Next)
            }
            EntryKind::HardLink { target } => {
                self.links.push(ArchiveLink::Hard { path, target: target.clone() });
                Ok(ArchiveEntryFlow::Next)
            }
            EntryKind::Other => Ok(self.skip(head, "it is a device, a pipe or of an unknown kind")),
        }
    }

    fn skip(&mut self, head: &ArchiveEntryHeader, why: &str) -> ArchiveEntryFlow {
        self.skip_name(head.name.chars().take(300).collect(), why.to_owned());
        ArchiveEntryFlow::Next
    }

    fn skip_name(&mut self, name: String, why: String) {
        self.skipped_total += 1;
        if self.skipped.len() < SKIPPED_SHOWN {
            self.skipped.push(SkippedFile { name, why });
        }
    }

    fn folder(&mut self, head: &ArchiveEntryHeader, path: &Path) -> ArchiveEntryFlow {
        match fs::create_dir_all(self.root.join(path)) {
            Ok(()) => ArchiveEntryFlow::Next,
            Err(error) => self.skip(head, &collision(&error)),
        }
    }

    fn file(
        &mut self,
        head: &ArchiveEntryHeader,
        path: &Path,
        data: &mut dyn Read,
    ) -> Result<ArchiveEntryFlow, FileParseError> {
        let mut file = match self.create(path, head.is_executable) {
            Ok(file) => file,
            Err(error) if is_collision(&error) => return Ok(self.skip(head, &collision(&error))),
            Err(error) => return Err(FileParseError::Io(error)),
        };
        let count = self.copy(data, &mut file)?;
        self.bytes += count;
        self.files += 1;
        Ok(ArchiveEntryFlow::Next)
    }

    /// A new file: never one that exists, and never through a link.
    fn create(&self, path: &Path, is_executable: bool) -> io::Result<File> {
        let place = self.root.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        let mode = if is_executable { 0o755 } else { 0o644 };
        OpenOptions::new().write(true).create_new(true).mode(mode).open(place)
    }

    /// Copies an entry within the limits.
    fn copy(&self, data: &mut dyn Read, to: &mut dyn Write) -> Result<u64, FileParseError> {
        let options = self.options;
        let used = self.bytes.saturating_add(self.passed_over);
        let limits = [
            (
                options.entry_bytes_max,
                format!("an entry has more than {} bytes (entry_bytes_max)", options.entry_bytes_max),
            ),
            (
                options.bytes_max.saturating_sub(used),
                format!("its files have more than {} bytes (bytes_max)", options.bytes_max),
            ),
            (
                self.ratio_limit.saturating_sub(used),
                format!(
                    "it expands to more than {} times its size (ratio_max), as a bomb does",
                    options.ratio_max
                ),
            ),
        ];
        let Some((limit, problem)) = limits.into_iter().min_by_key(|(limit, _)| *limit) else { return Ok(0) };
        // One byte more than is allowed, to see that there are more.
        let count = io::copy(&mut data.take(limit.saturating_add(1)), to)?;
        if count > limit { Err(FileParseError::TooLarge(problem)) } else { Ok(count) }
    }

    fn make_links(&mut self) {
        let mut links = std::mem::take(&mut self.links);
        links.sort_by_key(|link| !link.is_hard());
        for link in links {
            match link.make(&self.root) {
                Ok(()) => self.files += 1,
                Err(why) => self.skip_name(link.path().to_string_lossy().into_owned(), why),
            }
        }
    }
}

fn is_collision(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    )
}

fn collision(error: &io::Error) -> String {
    if is_collision(error) { "its name occurs twice".to_owned() } else { error.to_string() }
}
