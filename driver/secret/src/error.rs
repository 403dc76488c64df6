//! Reasons why a source has no usable secret.

use std::io;

/// The fewest characters of a secret.
pub(crate) const CHARACTERS_MIN: usize = 4;
/// The most characters of a secret.
pub(crate) const CHARACTERS_MAX: usize = 1_000;

/// A source without a usable secret. The message continues the name of the source.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The environment variable is not set, or not Unicode.
    #[error("is not set")]
    NotSet,
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// The path is a folder, a device or a link.
    #[error("is not a regular file")]
    NoFile,
    /// Others could read or change it.
    #[error("can be read or changed by others (mode {mode:03o}); run `chmod 600` on it")]
    Open {
        /// Its permissions.
        mode: u32,
    },
    /// The file belongs to another user.
    #[error("belongs to another user")]
    Foreign,
    /// The secret is empty.
    #[error("is empty")]
    Empty,
    /// The secret cannot be part of a header.
    #[error("contains characters that are invalid in a key")]
    Invalid,
    /// The secret cannot be typed without pressing Return or another key.
    #[error("has a line break or another control character")]
    Control,
    /// The secret is too short to be hidden, or too long to be typed.
    #[error("must have {} to {} characters", CHARACTERS_MIN, CHARACTERS_MAX)]
    Length,
}
