//! What a caller gets to know while a session runs: lines of the journal, and notices beside it.

use std::{fmt, path::PathBuf};

use deskhand_core::{record::Line, text::error_chain};

use crate::config::DesktopKind;

/// Gets to know what happens in a session. Each method does nothing unless it is written.
pub trait Observer: Send {
    /// A line of a session that is resumed, written before.
    fn past(&mut self, _line: &Line) {}

    /// A line of the journal, right after it was written.
    fn record(&mut self, _line: &Line) {}

    /// Something that the journal does not hold.
    fn notice(&mut self, _notice: &Notice) {}
}

/// Nobody watches.
impl Observer for () {}

/// Watches the lines of the journal with a closure.
pub struct Records<F>(pub F);

impl<F: FnMut(&Line) + Send> Observer for Records<F> {
    fn record(&mut self, line: &Line) {
        (self.0)(line);
    }
}

/// Something that a person should know and that does not change the outcome. Shown as text, it is a fragment without a
/// full stop.
#[derive(Debug)]
pub enum Notice {
    /// The desktop is up, and work begins on it.
    WorksOn {
        /// Which kind of desktop it is.
        desktop: DesktopKind,
        /// The size of a virtual desktop's screen, `1920x1080`.
        size: String,
        /// Its display, `:99`.
        display: String,
        /// Whether it is the one that the session was on before its process died.
        kept: bool,
    },
    /// A document of a resumed session could not be opened on the new desktop.
    NotReopened {
        /// The document.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The desktop ends with this process, because whatever was to keep it cannot.
    NotKept {
        /// Why.
        problem: String,
    },
    /// A window that was to be closed is still open.
    StaysOpen {
        /// The window, as people know it.
        window: String,
    },
    /// The picture of the screen at the end could not be taken or saved.
    NoScreenshot {
        /// Why.
        problem: String,
    },
}

impl Notice {
    /// Whether something did not work.
    pub const fn is_warning(&self) -> bool {
        match self {
            Self::WorksOn { .. } => false,
            Self::NotReopened { .. }
            | Self::NotKept { .. }
            | Self::StaysOpen { .. }
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
                write!(f, "works on a private desktop, {size}, display {display}")
            }
            Self::WorksOn { desktop: DesktopKind::Virtual, size, display, kept: true } => {
                write!(f, "works on the private desktop of before, {size}, display {display}")
            }
            Self::WorksOn { desktop: DesktopKind::Current, display, .. } => {
                write!(f, "works on the current desktop, display {display}")
            }
            Self::NotReopened { path, problem } => {
                write!(f, "{} is not opened again: {problem}", path.display())
            }
            Self::NotKept { problem } => f.write_str(problem),
            Self::StaysOpen { window } => write!(f, "{window} stays open"),
            Self::NoScreenshot { problem } => write!(f, "no screenshot: {problem}"),
        }
    }
}
