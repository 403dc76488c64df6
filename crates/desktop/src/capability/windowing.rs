//! Windows and the programs behind them.

use std::{fmt, process::ExitStatus, time::Duration};

use deskhand_core::{ids::WindowId, ui::WindowInfo};

use crate::DesktopResult;

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchRequest {
    /// The name of a desktop entry (`LibreOffice Calc`, `libreoffice-calc`, `libreoffice-calc.desktop`) or a
    /// command that is found on `PATH`.
    pub program: String,
    /// Arguments after the ones of the desktop entry, most often files to open. Passed as they are; no shell.
    pub arguments: Vec<String>,
}

/// A program that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// Its process. The window may come from another one: some programs hand over to a running instance.
    pub pid: u32,
    /// The application that the desktop entry names, where there is one.
    pub name: String,
    /// The window class that the desktop entry announces (`StartupWMClass`), lower case.
    pub wm_class: Option<String>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With this status: an exit code, or the signal that killed it.
    Status(ExitStatus),
    /// The operating system did not report a status.
    Unknown,
}

impl Ended {
    /// Whether it exited with code 0.
    pub fn success(&self) -> bool {
        matches!(self, Self::Status(status) if status.success())
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => status.fmt(f),
            Self::Unknown => f.write_str("unknown exit status"),
        }
    }
}

/// Windows and the programs behind them.
pub trait Windowing {
    /// Every top-level window that is mapped, pop-ups and dialogs included, bottom-most first.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn windows(&self) -> impl Future<Output = DesktopResult<Vec<WindowInfo>>> + Send;

    /// Waits until the set of windows, a title or the active window differs from `known`, at most `bound`, and
    /// returns the windows as they are then. Changes between `known` being read and this call are not missed.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn windows_changed(
        &self,
        known: &[WindowInfo],
        bound: Duration,
    ) -> impl Future<Output = DesktopResult<Vec<WindowInfo>>> + Send;

    /// Brings a window to the front and gives it the focus (`_NET_ACTIVE_WINDOW`); returns when it has it.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] when it is gone, `NotAnswering` when it does not take the focus.
    fn activate(&self, window: WindowId) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Asks a window to close (`_NET_CLOSE_WINDOW`). The application may answer with a question.
    ///
    /// # Errors
    /// [`crate::DesktopError::NoWindow`] when it is gone already.
    fn close(&self, window: WindowId) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Starts a program as the calling user. Does not wait for its window.
    ///
    /// # Errors
    /// [`crate::DesktopError::Launch`] when there is no such program, with the nearest names.
    fn launch(&self, request: &LaunchRequest) -> impl Future<Output = DesktopResult<Launched>> + Send;

    /// How a process that was launched here ended; `None` while it runs and for any other process.
    fn process_ended(&self, pid: u32) -> Option<Ended>;
}
