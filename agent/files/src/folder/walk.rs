//! Goes through a folder in the order of names, without following symbolic links.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::error::FileReadError;

/// The most names that are gone through.
const NAMES_MAX: usize = 500_000;
/// The most levels of folders.
const DEPTH_MAX: usize = 100;
/// The most problems that are reported.
const PROBLEMS_MAX: usize = 20;

/// A file, folder or link that was found.
pub(crate) struct FolderWalkEntry {
    pub(crate) path: PathBuf,
    /// The path inside the folder.
    pub(crate) inside: PathBuf,
    /// Of the link itself, if it is one.
    pub(crate) metadata: Metadata,
}

/// The entries of a folder and of those in it.
pub(crate) struct FolderWalk {
    root: PathBuf,
    depth_max: usize,
    has_hidden: bool,
    /// The paths still to visit, the next one last, each with its depth.
    pending: Vec<(PathBuf, usize)>,
    names_left: usize,
    /// The paths left out, together with their content.
    without: Vec<PathBuf>,
    /// `true` if only files and folders that every user may read are visible.
    public_only: bool,
    /// Folders that could not be read, and what was left out.
    pub(crate) problems: Vec<String>,
}

impl FolderWalk {
    /// `depth_max` 1: only what is directly in the folder. The folder itself may be a link.
    pub(crate) fn new(root: &Path, depth_max: usize, has_hidden: bool) -> Result<Self, FileReadError> {
        let metadata = fs::metadata(root).map_err(|error| FileReadError::file("list", root, error))?;
        if !metadata.is_dir() {
            return Err(FileReadError::Kind {
                path: root.to_owned(),
                found: "no folder",
                next: "read it instead",
            });
        }
        let mut walk = Self {
            root: root.to_owned(),
            depth_max: depth_max.clamp(1, DEPTH_MAX),
            has_hidden,
            pending: Vec::new(),
            names_left: NAMES_MAX,
            without: Vec::new(),
            public_only: false,
            problems: Vec::new(),
        };
        walk.enter(root, 1).map_err(|error| FileReadError::file("list", root, error))?;
        Ok(walk)
    }

    /// The same without these files and folders, and without what not everybody may read if `public_only`.
    pub(crate) fn sparing(mut self, without: &[PathBuf], public_only: bool) -> Self {
        // They may be written by other names than the folder.
        let real = without.iter().filter_map(|place| place.canonicalize().ok());
        self.without = without.iter().cloned().chain(real).collect();
        self.public_only = public_only;
        self
    }

    /// Why something is left out.
    fn spared(&self, path: &Path, metadata: &Metadata) -> Option<&'static str> {
        let wanted = if metadata.is_dir() { 0o005 } else { 0o004 };
        let is_link = metadata.file_type().is_symlink();
        if self.without.iter().any(|place| path == place) {
            Some("left out, as a place of secrets")
        } else {
            let is_private = self.public_only && !is_link && metadata.mode() & wanted != wanted;
            is_private.then_some("left out, as not everybody may read it")
        }
    }

    /// Returns `true` if there were more names than are gone through.
    pub(crate) fn is_over(&self) -> bool {
        self.names_left == 0
    }

    fn enter(&mut self, folder: &Path, depth: usize) -> std::io::Result<()> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)?.flatten() {
            let name = entry.file_name();
            if !self.has_hidden && name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let Some(left) = self.names_left.checked_sub(1) else { break };
            self.names_left = left;
            names.push(entry.path());
        }
        names.sort_unstable_by(|one, other| other.cmp(one));
        self.pending.extend(names.into_iter().map(|path| (path, depth)));
        Ok(())
    }
}

impl Iterator for FolderWalk {
    type Item = FolderWalkEntry;

    fn next(&mut self) -> Option<FolderWalkEntry> {
        loop {
            let (path, depth) = self.pending.pop()?;
            // It may have gone since.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if let Some(why) = self.spared(&path, &metadata) {
                if self.problems.len() < PROBLEMS_MAX {
                    self.problems.push(format!("{}: {why}", path.display()));
                }
                continue;
            }
            if metadata.is_dir()
                && depth < self.depth_max
                && let Err(error) = self.enter(&path, depth + 1)
                && self.problems.len() < PROBLEMS_MAX
            {
                self.problems.push(format!("{}: {error}", path.display()));
            }
            let inside = path.strip_prefix(&self.root).unwrap_or(&path).to_owned();
            return Some(FolderWalkEntry { path, inside, metadata });
        }
    }
}
