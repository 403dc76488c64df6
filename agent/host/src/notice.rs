//! Reports of a running session to the caller: journal lines, and notices.

use std::{fmt, path::PathBuf};

use deskhand_machine::record::JournalEntry;
use deskhand_ui::text::{error_chain, one_line};

use crate::config::{DesktopKind, SocketSetting};

/// Observes a session. Methods do nothing by default.
pub trait Observer: Send {
    /// An earlier line of a resumed session.
    fn past(&mut self, _line: &JournalEntry) {}

    /// A journal line that was just written.
    fn record(&mut self, _line: &JournalEntry) {}

    /// Something that is not in the journal.
    fn notice(&mut self, _notice: &Notice) {}
}

/// Observes nothing.
impl Observer for () {}

/// Passes journal lines to a closure.
pub struct Records<F>(pub F);

impl<F: FnMut(&JournalEntry) + Send> Observer for Records<F> {
    fn record(&mut self, line: &JournalEntry) {
        (self.0)(line);
    }
}

/// Something the user should know that does not change the outcome. Its text is a fragment without a full stop.
#[derive(Debug)]
pub enum Notice {
    /// The desktop is ready.
    WorksOn {
        /// The kind of desktop.
        desktop: DesktopKind,
        /// The size of a virtual desktop's screen, `1920x1080`.
        size: String,
        /// Its display, `:99`.
        display: String,
        /// `true` if it is the desktop that was kept after the process of the session died.
        kept: bool,
    },
    /// Nothing confines the applications of the session.
    Unconfined {
        /// Permissions at the control socket nevertheless.
        socket: SocketSetting,
    },
    /// A document of a resumed session could not be opened on the new desktop.
    NotReopened {
        /// The document.
        path: PathBuf,
        /// The cause.
        problem: String,
    },
    /// The desktop cannot be kept and ends with this process.
    NotKept {
        /// The cause.
        problem: String,
    },
    /// The unsaved changes of a document ended with its desktop.
    Lost {
        /// The document, by path or name, or the title of its window.
        what: String,
    },
    /// The session goes on with the request of its last round, which did not finish.
    Again {
        /// The request.
        request: String,
    },
    /// A window could not be closed.
    StaysOpen {
        /// The display name of the window.
        window: String,
    },
    /// The lessons of the session could not be stored.
    NotLearnt {
        /// The cause.
        problem: String,
    },
    /// Who should have been told that the session has ended was not.
    NotTold {
        /// The cause.
        problem: String,
    },
    /// The final screenshot could not be taken or saved.
    NoScreenshot {
        /// The cause.
        problem: String,
    },
}

impl Notice {
    /// Returns `true` if something failed.
    pub const fn is_warning(&self) -> bool {
        match self {
            Self::WorksOn { .. } | Self::Again { .. } => false,
            Self::Unconfined { .. }
            | Self::NotReopened { .. }
            | Self::Lost { .. }
            | Self::NotKept { .. }
            | Self::StaysOpen { .. }
            | Self::NotLearnt { .. }
            | Self::NotTold { .. }
            | Self::NoScreenshot { .. } => true,
        }
    }

    pub(crate) fn not_kept(error: &(dyn std::error::Error + 'static)) -> Self {
        Self::NotKept { problem: error_chain(error) }
    }

    pub(crate) fn no_screenshot(error: &(dyn std::error::Error + 'static)) -> Self {
        Self::NoScreenshot { problem: error_chain(error) }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorksOn { desktop: DesktopKind::Virtual, size, display, kept: false } => {
                write!(f, "working on a private desktop, {size}, display {display}")
            }
            Self::WorksOn { desktop: DesktopKind::Virtual, size, display, kept: true } => {
                write!(f, "working on the private desktop that was kept, {size}, display {display}")
            }
            Self::WorksOn { desktop: DesktopKind::Current, display, .. } => {
                write!(f, "working on the current desktop, display {display}")
            }
            Self::Unconfined { socket } => {
                let socket = match socket {
                    SocketSetting::IfConfined | SocketSetting::Watch => {
                        "approvals and words over the control socket are off"
                    }
                    SocketSetting::Always => {
                        "they can approve and speak as you over the control socket (`people.socket`)"
                    }
                };
                write!(
                    f,
                    "applications are not confined: they run with your permissions and can change files of Deskhand; {socket}; \
                     see `deskhand doctor`"
                )
            }
            Self::NotReopened { path, problem } => {
                write!(f, "failed to reopen {}: {problem}", path.display())
            }
            Self::NotKept { problem } => f.write_str(problem),
            Self::Lost { what } => write!(f, "{what} had unsaved changes, which ended with the desktop"),
            Self::Again { request } => write!(f, "going on with “{}”", one_line(request)),
            Self::StaysOpen { window } => write!(f, "{window} stays open"),
            Self::NotLearnt { problem } => write!(f, "nothing was learnt from this session: {problem}"),
            Self::NotTold { problem } => write!(f, "not told that this has ended: {problem}"),
            Self::NoScreenshot { problem } => write!(f, "failed to take the screenshot: {problem}"),
        }
    }
}
