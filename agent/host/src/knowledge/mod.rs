//! Knowledge for agents: help of this machine, experiences, and pages of the web.
//!
//! [`Knowledge`] is the folder with the index and the experiences. A session queries them by a closure
//! ([`retrieve`](retrievers)), and its lessons are added to them when one of its requests was evaluated
//! ([`lessons`]).

mod engine;
mod error;
mod lessons;
mod pages;
mod retrievers;

use std::path::{Path, PathBuf};

pub use deskhand_knowledge::{
    experience::{Experience, ExperienceKind, ExperienceOutcome, ExperienceStore, FailedApproach, Forget},
    help::{
        HelpFolders, HelpIndex, HelpIndexUpdate, HelpSource, IndexedHelpSource, Languages, SkippedHelpFile,
    },
};

pub use error::KnowledgeError;
pub(crate) use lessons::{Lessons, what_was_done};
pub(crate) use retrievers::{Retrievers, retrievers};

/// The folder of the index of help and of the experiences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knowledge {
    folder: PathBuf,
}

impl Knowledge {
    /// The knowledge in a folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The index of help, which is made if it is missing. Blocking.
    ///
    /// # Errors
    /// It cannot be made or read.
    pub fn help(&self) -> Result<HelpIndex, KnowledgeError> {
        Ok(HelpIndex::open(&self.help_folder())?)
    }

    /// The experiences; their folder is made if it is missing. Blocking.
    ///
    /// # Errors
    /// They cannot be read, or the folder cannot be made.
    pub fn experiences(&self) -> Result<ExperienceStore, KnowledgeError> {
        Ok(ExperienceStore::open(&self.experience_folder())?)
    }

    fn help_folder(&self) -> PathBuf {
        self.folder.join("help")
    }

    fn experience_folder(&self) -> PathBuf {
        self.folder.join("experience")
    }

    /// Returns `true` if help was ever added. Nothing is made.
    pub(crate) fn has_help(&self) -> bool {
        self.help_folder().is_dir()
    }

    /// Returns `true` if there was ever an experience. Nothing is made.
    pub(crate) fn has_experiences(&self) -> bool {
        self.experience_folder().is_dir()
    }
}
