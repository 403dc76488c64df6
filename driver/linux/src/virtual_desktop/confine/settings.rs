//! Configuration of the confinement of applications on a virtual desktop.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::virtual_desktop::processes::Privileges;

/// Policy for the confinement of applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfineMode {
    /// Always; they are not started otherwise.
    Required,
    /// If bubblewrap is installed and works.
    #[default]
    IfPossible,
    /// Never.
    Off,
}

/// Confinement of the applications of a virtual desktop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Confine {
    /// The policy for their confinement.
    pub mode: ConfineMode,
    /// Places that are kept from applications and that they may see and change nevertheless; `~/` stands for the home folder.
    pub allow: Vec<PathBuf>,
    /// Files and folders of ours that they cannot see.
    pub hidden: Vec<PathBuf>,
    /// Files and folders of ours that they can read only.
    pub read_only: Vec<PathBuf>,
    /// Our own programs, which they can read and run, and cannot replace.
    pub programs: Vec<PathBuf>,
    /// Folders of documents that we put there for them: they can write to what is in one, and cannot put another one in its place.
    pub documents: Vec<PathBuf>,
}

impl Confine {
    /// Returns the privileges of programs of the desktop, also where bubblewrap cannot confine them.
    pub(crate) const fn privileges(&self) -> Privileges {
        match self.mode {
            ConfineMode::Required | ConfineMode::IfPossible => Privileges::Confined,
            ConfineMode::Off => Privileges::OfUser,
        }
    }

    /// Applications are not confined.
    pub fn off() -> Self {
        Self { mode: ConfineMode::Off, ..Self::default() }
    }
}
