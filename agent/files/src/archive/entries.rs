//! The entries of an archive of any kind, one after the other.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek as _},
    path::Path,
    time::{Duration, SystemTime},
};

use tar::EntryType;
use zip::ZipArchive;

use super::stream::{ByteBudget, LimitedReader, decompressed};
use crate::{
    error::{FileParseError, FileReadError},
    folder::EntryKind,
    format::{Format, Signature, extension, shown, signature},
    office::fault as zip_fault,
    read::{head, open},
};

/// Length in bytes of the first header of a tar file, which identifies the format.
const TAR_HEADER: usize = 512;
/// The most bytes of headers of one entry of a tar file: long names and extended attributes.
const HEADERS_MAX: u64 = 1024 * 1024;
/// The longest target of a link, in bytes.
const TARGET_MAX: u64 = 4_096;
/// The most entries of a zip archive.
const ZIP_ENTRIES_MAX: usize = 500_000;

/// The metadata of an entry, as the archive states them.
pub(super) struct ArchiveEntryHeader {
    pub(super) name: String,
    pub(super) kind: EntryKind,
    /// Bytes as the archive claims, 0 if it does not say.
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    pub(super) is_executable: bool,
    /// Why its content cannot be read.
    pub(super) unreadable: Option<&'static str>,
}

/// The next step after an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveEntryFlow {
    Next,
    Stop,
}

/// An archive that was recognised.
pub(super) struct ArchiveFile {
    file: File,
    head: Vec<u8>,
    pub(super) format: Format,
    /// The name of the one file, if it is not an archive but compressed.
    single: String,
    /// Size of the file, in bytes.
    pub(super) packed: u64,
}

type Visitor<'a> =
    dyn FnMut(&ArchiveEntryHeader, &mut dyn Read) -> Result<ArchiveEntryFlow, FileParseError> + 'a;

impl ArchiveFile {
    pub(super) fn open(path: &Path) -> Result<Self, FileReadError> {
        let failed = |error| FileReadError::file("read", path, error);
        let file = open(path)?;
        let packed = file.metadata().map_err(failed)?.len();
        let head = head(&file, TAR_HEADER).map_err(failed)?;
        let format = match signature(&head) {
            Signature::Zip => Format::Zip,
            Signature::Tar => Format::Tar,
            Signature::Gzip | Signature::Xz | Signature::Zstd => {
                // The error of a damaged file comes when its entries are read.
                let is_tar = is_tar_inside(&file, &head).map_err(failed)? || named_tar(path);
                if is_tar { Format::Tar } else { Format::Compressed }
            }
            Signature::Other if extension(path) == "tar" && head.len() == TAR_HEADER => Format::Tar,
            Signature::Other | Signature::Compound | Signature::Pdf => {
                return Err(FileReadError::UnknownFormat {
                    path: path.to_owned(),
                    first_bytes: shown(&head),
                });
            }
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let single = if stem.is_empty() { "content".to_owned() } else { stem.into_owned() };
        Ok(Self { file, head, format, single, packed })
    }

    /// Visits the entries in the order of the archive.
    pub(super) fn visit(mut self, visitor: &mut Visitor<'_>) -> Result<(), FileParseError> {
        self.file.rewind()?;
        if self.format == Format::Zip {
            return visit_zip(self.file, visitor);
        }
        let mut data = decompressed(self.file, &self.head);
        if self.format == Format::Tar {
            return visit_tar(data, visitor);
        }
        let head = ArchiveEntryHeader {
            name: self.single,
            kind: EntryKind::File,
            size: 0,
            modified: None,
            is_executable: false,
            unreadable: None,
        };
        visitor(&head, &mut data).map(|_| ())
    }
}

fn is_tar_inside(file: &File, head: &[u8]) -> io::Result<bool> {
    let mut again = file.try_clone()?;
    again.rewind()?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(TAR_HEADER).unwrap_or(u64::MAX);
    let is_read = decompressed(again, head).take(limit).read_to_end(&mut bytes).is_ok();
    Ok(is_read && signature(&bytes) == Signature::Tar)
}

fn named_tar(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    [".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tzst"].iter().any(|end| name.ends_with(end))
}

fn visit_zip(file: File, visitor: &mut Visitor<'_>) -> Result<(), FileParseError> {
    let mut zip = ZipArchive::new(BufReader::new(file)).map_err(zip_fault)?;
    if zip.len() > ZIP_ENTRIES_MAX {
        return Err(FileParseError::TooLarge(format!(
            "it has {} entries, and {ZIP_ENTRIES_MAX} is the limit",
            zip.len()
        )));
    }
    for index in 0..zip.len() {
        let mut head = zip_head(&mut zip, index)?;
        let flow = if head.unreadable.is_some() {
            visitor(&head, &mut io::empty())?
        } else {
            let mut entry = zip.by_index(index).map_err(zip_fault)?;
            if matches!(head.kind, EntryKind::Link { .. }) {
                let mut target = Vec::new();
                entry.by_ref().take(TARGET_MAX).read_to_end(&mut target)?;
                head.kind = EntryKind::Link { target: String::from_utf8_lossy(&target).into_owned() };
            }
            visitor(&head, &mut entry)?
        };
        if flow == ArchiveEntryFlow::Stop {
            break;
        }
    }
    Ok(())
}

fn zip_head(
    zip: &mut ZipArchive<BufReader<File>>,
    index: usize,
) -> Result<ArchiveEntryHeader, FileParseError> {
    // The raw entry can be looked at even if it is encrypted.
    let entry = zip.by_index_raw(index).map_err(zip_fault)?;
    let name = entry.name().unwrap_or_else(|_| String::from_utf8_lossy(entry.name_raw())).into_owned();
    let kind = if entry.is_dir() {
        EntryKind::Folder
    } else if entry.is_symlink() {
        EntryKind::Link { target: String::new() }
    } else {
        EntryKind::File
    };
    let is_known =
        matches!(entry.compression(), zip::CompressionMethod::Stored | zip::CompressionMethod::Deflated);
    let unreadable = match (entry.encrypted(), is_known) {
        (true, _) => Some("it is password protected"),
        (false, false) => Some("it is compressed by a method that is not supported"),
        (false, true) => None,
    };
    let is_executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
    // Times of zip files have no time zone.
    Ok(ArchiveEntryHeader { name, kind, size: entry.size(), modified: None, is_executable, unreadable })
}

fn visit_tar(source: Box<dyn Read>, visitor: &mut Visitor<'_>) -> Result<(), FileParseError> {
    let allowance = ByteBudget::new(HEADERS_MAX);
    let mut tar = tar::Archive::new(LimitedReader::new(source, allowance.clone()));
    let mut entries = tar.entries()?;
    loop {
        // Long names are read into memory before an entry is returned.
        allowance.set(HEADERS_MAX);
        let Some(entry) = entries.next() else { return Ok(()) };
        let mut entry = entry?;
        allowance.set(u64::MAX);
        let head = tar_head(&entry);
        if visitor(&head, &mut entry)? == ArchiveEntryFlow::Stop {
            return Ok(());
        }
        io::copy(&mut entry, &mut io::sink())?;
    }
}

fn tar_head<R: Read>(entry: &tar::Entry<'_, R>) -> ArchiveEntryHeader {
    let target = || {
        let target = entry.link_name_bytes().unwrap_or_default();
        String::from_utf8_lossy(&target).into_owned()
    };
    let header = entry.header();
    let of_kind = header.entry_type();
    let kind = if matches!(of_kind, EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse) {
        EntryKind::File
    } else if of_kind == EntryType::Directory {
        EntryKind::Folder
    } else if of_kind == EntryType::Symlink {
        EntryKind::Link { target: target() }
    } else if of_kind == EntryType::Link {
        EntryKind::HardLink { target: target() }
    } else {
        // Devices, pipes, and kinds that are not known.
        EntryKind::Other
    };
    let modified =
        header.mtime().ok().and_then(|time| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(time)));
    ArchiveEntryHeader {
        name: String::from_utf8_lossy(&entry.path_bytes()).into_owned(),
        kind,
        size: entry.size(),
        modified,
        is_executable: header.mode().is_ok_and(|mode| mode & 0o111 != 0),
        unreadable: None,
    }
}
