//! Windows and the programs behind them.

use std::{fmt, process::ExitStatus, time::Duration};

use deskhand_ui::{InstalledApplication, WindowInfo, ids::WindowId};

use crate::DesktopResult;

/// A request to start an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchRequest {
    /// The name of a desktop entry (`LibreOffice Calc`, `libreoffice-calc`, `libreoffice-calc.desktop`) or a command
    /// on `PATH`. Empty: the application that is registered for the first argument, as `xdg-open` would choose it.
    pub program: String,
    /// Arguments after those of the desktop entry, usually files to open. Passed unchanged, without a shell.
    pub arguments: Vec<String>,
}

/// A program that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchedProgram {
    /// Its process. The window may belong to another one: some programs hand over to a running instance.
    pub pid: u32,
    /// The name in the desktop entry, or that of the command.
    pub name: String,
    /// The window class in the desktop entry (`StartupWMClass`), lower case.
    pub wm_class: Option<String>,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessExit {
    /// With this status: an exit code, or the signal that killed it.
    Status(ExitStatus),
    /// The operating system did not report a status.
    Unknown,
}

impl ProcessExit {
    /// Returns `true` if it exited with code 0.
    pub fn success(&self) -> bool {
        matches!(self, Self::Status(status) if status.success())
    }
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => status.fmt(f),
            Self::Unknown => f.write_str("unknown exit status"),
        }
    }
}

/// The most characters of what a program has said, from the end.
pub const SAID_CHARS_MAX: usize = 400;

/// Windows and the programs behind them.
pub trait WindowManagement {
    /// Every mapped top-level window, including pop-ups and dialogs, bottom-most first.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] if the display does not answer.
    fn windows(&self) -> impl Future<Output = DesktopResult<Vec<WindowInfo>>> + Send;

    /// Waits until the set of windows, a title or the active window differs from `known`, at most `bound`, and
    /// returns the current windows. Changes between reading `known` and this call are not missed.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] if the display does not answer.
    fn windows_changed(
        &self,
        known: &[WindowInfo],
        bound: Duration,
    ) -> impl Future<Output = DesktopResult<Vec<WindowInfo>>> + Send;

    /// Brings a window to the front and focuses it (`_NET_ACTIVE_WINDOW`); returns once it has the focus.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] if it is gone, `NotAnswering` if it does not take the focus.
    fn activate(&self, window: WindowId) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Asks a window to close (`_NET_CLOSE_WINDOW`). The application may respond with a dialog.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] if it is already gone.
    fn close(&self, window: WindowId) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Starts a program as the current user. Does not wait for its window.
    ///
    /// # Errors
    /// [`crate::DesktopError::Launch`] if there is no such program, with similar names, or nothing opens what is to be opened.
    fn launch(&self, request: &LaunchRequest) -> impl Future<Output = DesktopResult<LaunchedProgram>> + Send;

    /// Starts several programs at once, in the order of the requests. One that keeps all processors busy while it starts may let the
    /// others go first.
    ///
    /// # Errors
    /// Those of [`WindowManagement::launch`], of the first that fails; others may have been started.
    fn launch_all(
        &self,
        requests: &[LaunchRequest],
    ) -> impl Future<Output = DesktopResult<Vec<LaunchedProgram>>> + Send;

    /// The installed applications that a person would start from a menu, sorted by id. Without shells, interpreters and
    /// terminals, which run what they are given.
    fn applications(&self) -> Vec<InstalledApplication>;

    /// Returns how a process that was launched here ended; `None` while it runs and for any other process.
    fn process_ended(&self, pid: u32) -> Option<ProcessExit>;

    /// The last lines that a process that was launched here has written to its standard output and error, up to [`SAID_CHARS_MAX`]
    /// characters; empty if it has written nothing, or that is not kept. Reads a small file.
    fn last_words(&self, pid: u32) -> String;
}
