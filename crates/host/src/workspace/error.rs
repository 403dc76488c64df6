//! What can go wrong with a desktop to work on.

use std::{io, path::PathBuf};

use deskhand_core::ui::WindowInfo;
use deskhand_desktop::DesktopError;

/// A desktop that cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The current desktop is wanted, and there is none.
    #[error("there is no display to work on: DISPLAY is not set")]
    NoDisplay,
    /// The desktop did not come up, or something on it failed.
    #[error("{}", desktop_words(.0))]
    Desktop(DesktopError),
    /// A program was started and showed no window.
    #[error("failed to open a window of {program}: {problem}")]
    NoWindowShown {
        /// The program.
        program: String,
        /// What was seen.
        problem: String,
    },
    /// No program opens such a document.
    #[error("failed to open {}: no program for it is known", path.display())]
    NoProgram {
        /// The document.
        path: PathBuf,
    },
    /// No window is called so.
    #[error("there is no window `{wanted}`")]
    NoSuchWindow {
        /// What was asked for.
        wanted: String,
        /// The windows that there are.
        windows: Vec<WindowInfo>,
    },
    /// Several windows are called so.
    #[error("several windows match `{wanted}`")]
    SeveralWindows {
        /// What was asked for.
        wanted: String,
        /// Those that match.
        windows: Vec<WindowInfo>,
    },
    /// Nothing is open.
    #[error("there is no window on this desktop")]
    NoWindow,
    /// Where the desktop is could not be noted beside the journal.
    #[error("failed to write {}", path.display())]
    Note {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The keeper was started by something else than a session.
    #[error("this command is for Deskhand itself")]
    Standalone,
    /// The keeper could not leave the terminal.
    #[error("failed to leave the terminal")]
    Detach(#[source] io::Error),
}

impl From<DesktopError> for WorkspaceError {
    fn from(error: DesktopError) -> Self {
        Self::Desktop(error)
    }
}

impl WorkspaceError {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::NoDisplay => "work on a private desktop, or run this in a graphical session",
            Self::Desktop(DesktopError::Start { fix, .. }) => fix,
            Self::Desktop(DesktopError::Gone { .. }) => "start it again",
            Self::Desktop(DesktopError::NoWindow(_)) => "`deskhand windows` lists them",
            Self::NoWindowShown { .. } => {
                "see how it starts by hand; `deskhand doctor` says what is installed"
            }
            Self::NoSuchWindow { windows, .. } if !windows.is_empty() => {
                return Some(format!("the windows are {}", labels(windows)));
            }
            Self::SeveralWindows { windows, .. } => {
                return Some(format!("name one by its id: {}", labels(windows)));
            }
            Self::NoSuchWindow { .. } => "there is none at all; start something first",
            Self::NoWindow => "start something first",
            Self::Standalone => "`deskhand desktop` starts a desktop",
            Self::Desktop(
                DesktopError::NoElement(_)
                | DesktopError::NotOffered { .. }
                | DesktopError::NotAnswering { .. }
                | DesktopError::Launch { .. }
                | DesktopError::Key { .. }
                | DesktopError::Failed { .. },
            )
            | Self::NoProgram { .. }
            | Self::Note { .. }
            | Self::Detach(_) => return None,
        };
        Some(help.to_owned())
    }

    /// Whether it was called in a way that cannot work.
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
        | DesktopError::Failed { .. } => format!("failed to {}", error.chain()),
    }
}
