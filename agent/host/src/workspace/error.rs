//! Errors of the desktop to work on.

use std::{io, path::PathBuf};

use deskhand_desktop::DesktopError;
use deskhand_ui::WindowInfo;

/// A desktop that cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The current desktop was requested, but there is no display.
    #[error("no display to work on: neither WAYLAND_DISPLAY nor DISPLAY is set")]
    NoDisplay,
    /// The desktop did not start, or an operation on it failed.
    #[error("{}", desktop_words(.0))]
    Desktop(DesktopError),
    /// A program started but showed no window.
    #[error("failed to open a window of {program}: {problem}")]
    NoWindowShown {
        /// The program.
        program: String,
        /// The problem.
        problem: String,
    },
    /// A document was not shown by the program for it.
    #[error("failed to open {}: {problem}", document.display())]
    NotOpened {
        /// The document.
        document: PathBuf,
        /// The problem.
        problem: String,
    },
    /// An empty file for a new document could not be made.
    #[error("failed to make {}", path.display())]
    Begin {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// No window matches.
    #[error("no window matches `{wanted}`")]
    NoSuchWindow {
        /// The requested window.
        wanted: String,
        /// The open windows.
        windows: Vec<WindowInfo>,
    },
    /// Several windows match.
    #[error("several windows match `{wanted}`")]
    SeveralWindows {
        /// The requested window.
        wanted: String,
        /// The matching windows.
        windows: Vec<WindowInfo>,
    },
    /// No window is open.
    #[error("no window is open on this desktop")]
    NoWindow,
    /// The note with the address of the desktop could not be written.
    #[error("failed to write {}", path.display())]
    Note {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The keeper was not started by a session.
    #[error("this command is internal to deskhand")]
    Standalone,
    /// The keeper could not detach from the terminal.
    #[error("failed to detach from the terminal")]
    Detach(#[source] io::Error),
    /// A path that is not Unicode cannot be passed to the keeper.
    #[error("failed to pass on how applications are confined")]
    PassConfine(#[source] serde_json::Error),
}

impl From<DesktopError> for WorkspaceError {
    fn from(error: DesktopError) -> Self {
        Self::Desktop(error)
    }
}

impl WorkspaceError {
    /// Returns the suggested next step.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::NoDisplay => "work on a private desktop, or run this in a graphical session",
            Self::Desktop(DesktopError::Start { fix, .. }) => fix,
            Self::Desktop(DesktopError::Gone { .. }) => "start it again",
            Self::Desktop(DesktopError::NoWindow(_)) => "`deskhand windows` lists them",
            Self::NoWindowShown { .. } | Self::NotOpened { .. } => {
                "start it by hand to see why; `deskhand doctor` checks what is installed"
            }
            Self::NoSuchWindow { windows, .. } if !windows.is_empty() => {
                return Some(format!("open windows: {}", labels(windows)));
            }
            Self::SeveralWindows { windows, .. } => {
                return Some(format!("use an id: {}", labels(windows)));
            }
            Self::NoSuchWindow { .. } => "no window is open; start a program first",
            Self::NoWindow => "start a program first",
            Self::Standalone => "`deskhand desktop` starts a desktop",
            Self::Desktop(
                DesktopError::NoElement(_)
                | DesktopError::NotOffered { .. }
                | DesktopError::NotAnswering { .. }
                | DesktopError::Launch { .. }
                | DesktopError::Key { .. }
                | DesktopError::Refused(_)
                | DesktopError::Cancelled { .. }
                | DesktopError::Failed { .. },
            )
            | Self::Begin { .. }
            | Self::Note { .. }
            | Self::Detach(_)
            | Self::PassConfine(_) => return None,
        };
        Some(help.to_owned())
    }

    /// Returns `true` if the caller asked for something impossible.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Standalone)
    }
}

fn labels(windows: &[WindowInfo]) -> String {
    windows.iter().map(WindowInfo::label).collect::<Vec<_>>().join(", ")
}

fn desktop_words(error: &DesktopError) -> String {
    match error {
        DesktopError::Start { what, .. } => format!("failed to start the desktop: {what}"),
        DesktopError::Gone { .. }
        | DesktopError::NoWindow(_)
        | DesktopError::NoElement(_)
        | DesktopError::NotOffered { .. }
        | DesktopError::NotAnswering { .. }
        | DesktopError::Launch { .. }
        | DesktopError::Key { .. }
        | DesktopError::Refused(_)
        | DesktopError::Cancelled { .. }
        | DesktopError::Failed { .. } => format!("failed to {}", error.chain()),
    }
}
