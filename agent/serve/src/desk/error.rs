//! Errors on a desktop that a client steers.

use std::fmt::Display;

use deskhand_host::HostError;
use deskhand_ui::{ids::WindowId, text::error_chain};

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeskError {
    /// The session cannot start, or failed.
    #[error("{message}")]
    Host {
        /// The failed operation, its cause, and the next step.
        message: String,
    },
    /// There is no such window any more.
    #[error("there is no window {window}; `windows` lists those that are open")]
    Gone {
        /// The window.
        window: WindowId,
    },
    /// The window was not selected.
    #[error("{window} could not be selected:\n{why}")]
    NotSelected {
        /// The window.
        window: WindowId,
        /// Why not, marked as text from outside.
        why: String,
    },
    /// The client sent something that is not an action.
    #[error("{problem}; nothing was done")]
    Malformed {
        /// The problem, and the expected form.
        problem: String,
    },
    /// The session ended.
    #[error("the session is over: {reason}")]
    Over {
        /// Its outcome.
        reason: String,
    },
    /// The session has ended before.
    #[error("the desktop has ended; `start_desktop` starts another one")]
    Ended,
    /// The session takes no pictures.
    #[error("pictures are off: set `view.pictures` in Deskhand's configuration")]
    NoPictures,
    /// Something is broken here.
    #[error("{message}")]
    Broken {
        /// The error message.
        message: String,
    },
}

impl DeskError {
    pub(super) fn broke(error: &dyn Display) -> Self {
        Self::Broken { message: error.to_string() }
    }
}

impl From<DeskError> for String {
    /// The message, for a model.
    fn from(error: DeskError) -> Self {
        error.to_string()
    }
}

impl From<HostError> for DeskError {
    fn from(error: HostError) -> Self {
        let help = error.help().map(|help| format!("; {help}")).unwrap_or_default();
        Self::Host { message: format!("{}{help}", error_chain(&error)) }
    }
}
