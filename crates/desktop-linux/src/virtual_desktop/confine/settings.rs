//! How the applications of a virtual desktop are confined, as the configuration says.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Whether applications are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfineMode {
    /// Always; they are not started otherwise.
    Required,
    /// Where bubblewrap is installed and works.
    #[default]
    IfPossible,
    /// Never.
    Off,
}

/// How the applications of a virtual desktop are confined.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Confine {
    /// Whether they are.
    pub mode: ConfineMode,
    /// Places that are kept from applications and that they may see and change nevertheless; `~/` stands for the home folder.
    pub allow: Vec<PathBuf>,
    /// Files and folders of ours that they cannot see.
    pub hidden: Vec<PathBuf>,
    /// Files and folders of ours that they can read only.
    pub read_only: Vec<PathBuf>,
}

impl Confine {
    /// Applications are not confined.
    pub fn off() -> Self {
        Self { mode: ConfineMode::Off, ..Self::default() }
    }
}
