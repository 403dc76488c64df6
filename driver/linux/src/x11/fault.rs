//! Errors of requests to the X server.

use deskhand_desktop::DesktopError;
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};

/// Why a request to the X server failed.
#[derive(Debug)]
pub(crate) enum X11RequestError {
    /// The X server, or the connection to it.
    X(ReplyOrIdError),
    /// Anything else, ready for the caller.
    Desktop(DesktopError),
}

impl From<ConnectionError> for X11RequestError {
    fn from(error: ConnectionError) -> Self {
        Self::X(error.into())
    }
}

impl From<ReplyError> for X11RequestError {
    fn from(error: ReplyError) -> Self {
        Self::X(error.into())
    }
}

impl From<ReplyOrIdError> for X11RequestError {
    fn from(error: ReplyOrIdError) -> Self {
        Self::X(error)
    }
}

impl From<DesktopError> for X11RequestError {
    fn from(error: DesktopError) -> Self {
        Self::Desktop(error)
    }
}

impl X11RequestError {
    /// Returns `true` if the X server refused a single request, usually because a window was destroyed.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::X(ReplyOrIdError::X11Error(_)))
    }

    pub(crate) fn into_desktop_error(self, operation: &str, display: &str) -> DesktopError {
        match self {
            Self::Desktop(error) => error,
            Self::X(ReplyOrIdError::ConnectionError(
                ConnectionError::IoError(_) | ConnectionError::UnknownError,
            )) => gone(display),
            Self::X(error) => DesktopError::failed(operation, error),
        }
    }
}

/// The error of a display whose server has ended.
pub(crate) fn gone(display: &str) -> DesktopError {
    DesktopError::Gone { what: format!("the X server of display {display} has ended") }
}

/// The result of a request to the X server.
pub(crate) type WorkResult<T> = Result<T, X11RequestError>;
