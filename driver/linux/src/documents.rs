//! Documents: which file a window shows, and what is on disk.
//!
//! A title has a name, seldom a path. The path is the one that was given when the program started or a file was saved; else that
//! of a file of this name in the title's folder, among the arguments and open files of the process, among the
//! recently used files, or in its working folder.

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_desktop::{DesktopResult, Documents, FileStamp, FileState};
use deskhand_ui::{
    DocumentInfo, WindowInfo,
    ids::WindowId,
    suggest::{rank, similarity},
};

use crate::{blocking::run_blocking, desktop::LinuxDesktop};

/// The most paths that are remembered; then the oldest is forgotten.
const PATHS_MAX: usize = 256;
/// The most windows that are remembered as ones that show a mark.
const MARKS_MAX: usize = 1_024;
/// The most similar names in a report.
const NEAR_MAX: usize = 5;
/// The most names of a folder that are compared.
const NAMES_MAX: usize = 10_000;
/// The longest list of recently used files that is read, in bytes.
const RECENT_MAX: u64 = 8 << 20;

/// Stored information about the documents on this desktop.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownDocuments(Arc<Mutex<DocumentHistory>>);

#[derive(Debug, Default)]
struct DocumentHistory {
    /// Paths that were asked for, the latest last.
    paths: Vec<PathBuf>,
    /// Paths of documents that applications were started to begin: the files come when they are saved.
    begun: Vec<PathBuf>,
    /// Windows that marked unsaved changes: without the mark they have none.
    marking: HashSet<WindowId>,
}

impl KnownDocuments {
    fn memory(&self) -> MutexGuard<'_, DocumentHistory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes those of the arguments of a program that are files it begins: they do not exist, and their folders do.
    pub(crate) fn begin(&self, arguments: &[String]) {
        let is_begun =
            |path: &PathBuf| path.is_absolute() && !path.exists() && path.parent().is_some_and(Path::is_dir);
        let mut memory = self.memory();
        for path in arguments.iter().map(PathBuf::from).filter(is_begun) {
            if memory.begun.len() >= PATHS_MAX {
                memory.begun.remove(0);
            }
            memory.begun.push(path);
        }
    }

    fn keep(&self, path: PathBuf) {
        let mut memory = self.memory();
        memory.paths.retain(|known| *known != path);
        if memory.paths.len() >= PATHS_MAX {
            memory.paths.remove(0);
        }
        memory.paths.push(path);
    }

    /// Returns `true` if a window has unsaved changes, given whether it shows a mark.
    fn modified(&self, window: WindowId, marked: bool) -> Option<bool> {
        let mut memory = self.memory();
        if marked {
            if memory.marking.len() >= MARKS_MAX {
                memory.marking.clear();
            }
            memory.marking.insert(window);
        }
        (marked || memory.marking.contains(&window)).then_some(marked)
    }
}

impl Documents for LinuxDesktop {
    async fn document(&self, window: &WindowInfo) -> DesktopResult<Option<DocumentInfo>> {
        let Some(document) = DocumentInfo::of_title(&window.title) else { return Ok(None) };
        let modified = self.known_documents().modified(window.id, document.modified == Some(true));
        let home = self.home();
        let places = {
            let memory = self.known_documents().memory();
            DocumentPathSearch {
                home,
                pid: window.app.pid,
                known: memory.paths.clone(),
                begun: memory.begun.clone(),
            }
        };
        let DocumentInfo { name, path, .. } = document;
        let wanted = name.clone();
        let path = run_blocking(move || places.find(&wanted, path.as_deref())).await?;
        let path = path.map(|path| path.to_string_lossy().into_owned());
        Ok((path.is_some() || modified.is_some()).then_some(DocumentInfo { name, path, modified }))
    }

    async fn file(&self, path: &str) -> DesktopResult<FileState> {
        let path = absolute(path, self.home().as_deref());
        let state = run_blocking(move || (state_of(&path), path)).await?;
        if !state.0.is_folder {
            self.known_documents().keep(state.1);
        }
        Ok(state.0)
    }
}

impl LinuxDesktop {
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.environment().find("HOME").map(PathBuf::from)
    }
}

/// An absolute path without `.` and `..`; `~` and `file://` are resolved.
fn absolute(path: &str, home: Option<&Path>) -> PathBuf {
    let path = path.trim();
    let decoded = path.strip_prefix("file://").map(decoded);
    let path = decoded.as_deref().unwrap_or(path);
    let path = match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(path),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Resolves `%20` and the like.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let hex = more.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = more.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn state_of(path: &Path) -> FileState {
    let mut state = FileState { path: path.to_string_lossy().into_owned(), ..FileState::default() };
    match fs::metadata(path) {
        Ok(found) => {
            state.is_folder = found.is_dir();
            state.has_folder = true;
            if !found.is_dir() {
                let modified_ns = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
                state.stamp = Some(FileStamp { modified_ns, size: found.size(), inode: found.ino() });
                state.is_written = is_written(found.dev(), found.ino());
            }
        }
        Err(_) => {
            let folder = path.parent().unwrap_or(path);
            state.has_folder = folder.is_dir();
            let wanted = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let names = fs::read_dir(folder).into_iter().flatten().take(NAMES_MAX).flatten();
            let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let shown = names.filter(|name| !name.starts_with('.'));
            let ranked =
                rank(shown, /*similarity_min*/ 0.3, |name| similarity(&wanted, &name.to_lowercase()));
            state.near = ranked.into_iter().take(NEAR_MAX).collect();
        }
    }
    state
}

/// Returns `true` if a process has a file open for writing.
fn is_written(device: u64, inode: u64) -> bool {
    let numbered = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut processes = processes.filter(|entry| entry.file_name().to_str().is_some_and(numbered));
    processes.any(|process| {
        let open = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let mut same = open.filter(|descriptor| {
            let file = fs::metadata(descriptor.path());
            file.is_ok_and(|file| file.is_file() && file.ino() == inode && file.dev() == device)
        });
        same.any(|descriptor| may_write(&process.path().join("fdinfo").join(descriptor.file_name())))
    })
}

/// Returns `true` if the flags of an open file allow writing (`O_WRONLY`, `O_RDWR`).
fn may_write(information: &Path) -> bool {
    const ACCESS: u32 = 0o3;
    let text = fs::read_to_string(information).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & ACCESS != 0)
}

/// Possible places of a file of a name.
struct DocumentPathSearch {
    home: Option<PathBuf>,
    pid: Option<u32>,
    known: Vec<PathBuf>,
    begun: Vec<PathBuf>,
}

impl DocumentPathSearch {
    /// The file of a document.
    fn find(&self, name: &str, path: Option<&str>) -> Option<PathBuf> {
        let home = self.home.as_deref();
        if let Some(path) = path {
            return Some(absolute(path, home)).filter(|path| path.is_file() || self.begun.contains(path));
        }
        let fits = |path: &PathBuf| {
            path.file_name().is_some_and(|last| last.to_string_lossy() == name) && path.is_file()
        };
        if let Some(known) = self.known.iter().rev().find(|path| fits(path)) {
            return Some(known.clone());
        }
        let process = self.pid.map(|pid| PathBuf::from(format!("/proc/{pid}")));
        let folder = process.as_ref().and_then(|process| fs::read_link(process.join("cwd")).ok());
        let arguments = process.as_ref().and_then(|process| fs::read(process.join("cmdline")).ok());
        let arguments = arguments.unwrap_or_default();
        let given = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy).filter_map(|argument| {
            let path = absolute(&argument, home);
            let plain = argument.starts_with(['/', '~']) || argument.starts_with("file://");
            if plain { Some(path) } else { Some(folder.as_ref()?.join(&*argument)) }
        });
        if let Some(given) = given.into_iter().find(fits) {
            return Some(given);
        }
        let open = process.map(|process| fs::read_dir(process.join("fd")));
        let mut open = open.into_iter().flatten().flatten().flatten();
        let opened = open.find_map(|entry| fs::read_link(entry.path()).ok().filter(fits));
        let beside = || folder.as_ref().map(|folder| folder.join(name)).filter(fits);
        let found = opened.or_else(|| self.recently_used().rev().find(fits)).or_else(beside);
        let named = |path: &&PathBuf| path.file_name().is_some_and(|last| last.to_string_lossy() == name);
        found.or_else(|| self.begun.iter().rev().find(named).cloned())
    }

    /// The recently used files, the last one noted last.
    fn recently_used(&self) -> std::vec::IntoIter<PathBuf> {
        let list = self.home.as_ref().map(|home| home.join(".local/share/recently-used.xbel"));
        let list = list.filter(|list| fs::metadata(list).is_ok_and(|found| found.len() <= RECENT_MAX));
        let text = list.and_then(|list| fs::read_to_string(list).ok()).unwrap_or_default();
        let mut marks: Vec<(String, PathBuf)> = text
            .split("<bookmark ")
            .skip(1)
            .filter_map(|mark| {
                let field = |name: &str| Some(mark.split_once(name)?.1.split('"').nth(1)?.to_owned());
                let address = field("href=")?.replace("&amp;", "&").replace("&apos;", "'");
                let path = decoded(address.strip_prefix("file://")?);
                Some((field("modified=")?, PathBuf::from(path)))
            })
            .collect();
        marks.sort();
        marks.into_iter().map(|(_, path)| path).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute() {
        let home = Path::new("/home/a");
        let check = |path: &str, expected: &str| assert_eq!(absolute(path, Some(home)), Path::new(expected));
        check("~/b/../c.txt", "/home/a/c.txt");
        check("~", "/home/a");
        check("file:///tmp/a%20b.txt", "/tmp/a b.txt");
        check("/x/./y", "/x/y");
    }
}
