//! Goes through a folder in the order of names, without following symbolic links.

use std::{
    fs::{self, Metadata},
    path::{Path, PathBuf},
};

use crate::error::ReadError;

/// The most names that are gone through.
const NAMES_MAX: usize = 500_000;
/// The most levels of folders.
const DEPTH_MAX: usize = 100;

/// A file, folder or link that was found.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// The path inside the folder.
    pub(crate) inside: PathBuf,
    /// Of the link itself, if it is one.
    pub(crate) metadata: Metadata,
}

/// The entries of a folder and of those in it.
pub(crate) struct Walk {
    root: PathBuf,
    depth_max: usize,
    has_hidden: bool,
    /// What is still to come, the next one last, with its depth.
    pending: Vec<(PathBuf, usize)>,
    names_left: usize,
    /// Folders that could not be read.
    pub(crate) problems: Vec<String>,
}

impl Walk {
    /// `depth_max` 1: only what is directly in the folder. The folder itself may be a link.
    pub(crate) fn new(root: &Path, depth_max: usize, has_hidden: bool) -> Result<Self, ReadError> {
        let metadata = fs::metadata(root).map_err(|error| ReadError::file("list", root, error))?;
        if !metadata.is_dir() {
            return Err(ReadError::Kind {
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
            problems: Vec::new(),
        };
        walk.enter(root, 1).map_err(|error| ReadError::file("list", root, error))?;
        Ok(walk)
    }

    /// Whether there were more names than are gone through.
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

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let (path, depth) = self.pending.pop()?;
            // It may have gone since.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if metadata.is_dir()
                && depth < self.depth_max
                && let Err(error) = self.enter(&path, depth + 1)
                && self.problems.len() < 20
            {
                self.problems.push(format!("{}: {error}", path.display()));
            }
            let inside = path.strip_prefix(&self.root).unwrap_or(&path).to_owned();
            return Some(Found { path, inside, metadata });
        }
    }
}
