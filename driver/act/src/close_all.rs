//! Closes several windows as a person would, and says which ones ask first.

use std::time::{Duration, Instant};

use deskhand_desktop::{Desktop, DesktopError, DesktopResult};
use deskhand_ui::{DocumentInfo, WindowInfo, WindowKind, ids::WindowId};

use crate::window::question_of;

/// Maximum number of interruptions of the wait for windows.
const CHANGES_MAX: usize = 1_000;
/// Maximum time for windows to close or to show a question. LibreOffice takes half a second for a large
/// document.
const CLOSE_MAX: Duration = Duration::from_secs(5);
/// Maximum time for dialogs to close, before the windows that they belong to are closed.
const DIALOGS_MAX: Duration = Duration::from_secs(1);

/// A window that did not close.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnclosedWindow {
    /// The window.
    pub window: WindowInfo,
    /// The document that it shows, as far as the application tells.
    pub document: Option<DocumentInfo>,
    /// The dialog with which its application asked, such as whether to save. It was cancelled.
    pub question: Option<WindowInfo>,
}

impl UnclosedWindow {
    /// Returns `true` if it has something to lose: the application asked before it closed, or marks unsaved changes.
    pub fn is_unsaved(&self) -> bool {
        self.question.is_some()
            || self.document.as_ref().is_some_and(|document| document.modified == Some(true))
    }
}

/// Asks the windows that `wanted` selects to close, all at once, and returns those that stay. What an application asks then is not
/// answered but cancelled, so that nothing is lost and its window is as before.
///
/// # Errors
/// [`DesktopError::Gone`] if the desktop is gone.
pub async fn close_all<D: Desktop>(
    desktop: &D,
    wanted: impl Fn(&WindowInfo) -> bool + Send,
) -> DesktopResult<Vec<UnclosedWindow>> {
    let windows = desktop.windows().await?;
    let selected = |kind: WindowKind| -> Vec<WindowInfo> {
        windows.iter().filter(|window| window.kind == kind && wanted(window)).cloned().collect()
    };
    let dialogs = selected(WindowKind::Dialog);
    close_each(desktop, &dialogs).await?;
    await_closed(desktop, &dialogs, &windows, DIALOGS_MAX).await?;
    let (closing, known) = (selected(WindowKind::Normal), desktop.windows().await?);
    close_each(desktop, &closing).await?;
    let mut remaining = Vec::new();
    for (window, question) in await_closed(desktop, &closing, &known, CLOSE_MAX).await? {
        let document = desktop.document(&window).await?;
        if let Some(question) = &question {
            close_one(desktop, question.id).await?;
        }
        remaining.push(UnclosedWindow { window, document, question });
    }
    Ok(remaining)
}

async fn close_each<D: Desktop>(desktop: &D, windows: &[WindowInfo]) -> DesktopResult<()> {
    for window in windows {
        close_one(desktop, window.id).await?;
    }
    Ok(())
}

async fn close_one<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<()> {
    match desktop.close(window).await {
        Err(DesktopError::NoWindow(_)) => Ok(()),
        other => other,
    }
}

/// Waits until each window is closed or asks, at most `bound`. Returns those that are left, each with the dialog that came.
async fn await_closed<D: Desktop>(
    desktop: &D,
    closing: &[WindowInfo],
    known: &[WindowInfo],
    bound: Duration,
) -> DesktopResult<Vec<(WindowInfo, Option<WindowInfo>)>> {
    let begun = Instant::now();
    let mut windows = desktop.windows().await?;
    for _ in 0..CHANGES_MAX {
        let left = bound.saturating_sub(begun.elapsed());
        let open = windows.iter().filter(|window| closing.iter().any(|one| one.id == window.id));
        let asked = |window: &WindowInfo| question_of(window, known, &windows).cloned();
        let open: Vec<_> = open.map(|window| (window.clone(), asked(window))).collect();
        if left.is_zero() || open.iter().all(|(_, question)| question.is_some()) {
            return Ok(open);
        }
        windows = desktop.windows_changed(&windows, left).await?;
    }
    Ok(Vec::new())
}
