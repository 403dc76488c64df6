//! Environment variables of the user.

use std::{ffi::OsString, path::PathBuf};

/// A variable that is not empty.
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// An XDG folder; relative paths are ignored, as the specification requires.
pub(super) fn xdg(name: &str, below_home: &str) -> PathBuf {
    variable(name).map(PathBuf::from).filter(|path| path.is_absolute()).unwrap_or_else(|| {
        variable("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from).join(below_home)
    })
}
