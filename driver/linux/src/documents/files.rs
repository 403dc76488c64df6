//! The documents of a desktop, and the state of files.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use deskhand_desktop::{DesktopResult, Documents, FileStamp, FileState};
use deskhand_ui::{
    DocumentInfo, WindowInfo,
    suggest::{rank, similarity},
};

use super::{paths::absolute, search::DocumentPathSearch};
use crate::{blocking::run_blocking, desktop::LinuxDesktop};

/// The most similar names in a report.
const NEAR_MAX: usize = 5;
/// The most names of a folder that are compared.
const NAMES_MAX: usize = 10_000;

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
