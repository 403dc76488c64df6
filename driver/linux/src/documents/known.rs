//! Paths and windows that a desktop remembers, for the documents that have no path in their titles.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_ui::ids::WindowId;

/// The most paths that are remembered; then the oldest is forgotten.
const PATHS_MAX: usize = 256;
/// The most windows that are remembered as ones that show a mark.
const MARKS_MAX: usize = 1_024;

/// Stored information about the documents on this desktop.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownDocuments(Arc<Mutex<DocumentHistory>>);

#[derive(Debug, Default)]
pub(super) struct DocumentHistory {
    /// Paths that were asked for, the latest last.
    pub(super) paths: Vec<PathBuf>,
    /// Paths of documents that applications were started to begin: the files come when they are saved.
    pub(super) begun: Vec<PathBuf>,
    /// Windows that marked unsaved changes: without the mark they have none.
    marking: HashSet<WindowId>,
}

impl KnownDocuments {
    pub(super) fn memory(&self) -> MutexGuard<'_, DocumentHistory> {
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

    pub(super) fn keep(&self, path: PathBuf) {
        let mut memory = self.memory();
        memory.paths.retain(|known| *known != path);
        if memory.paths.len() >= PATHS_MAX {
            memory.paths.remove(0);
        }
        memory.paths.push(path);
    }

    /// Returns `true` if a window has unsaved changes, given whether it shows a mark.
    pub(super) fn modified(&self, window: WindowId, marked: bool) -> Option<bool> {
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
