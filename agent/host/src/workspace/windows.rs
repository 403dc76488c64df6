//! Which window a text means.

use deskhand_ui::{WindowInfo, WindowKind};

use super::WorkspaceError;

/// The window that a text means: its id, its whole title, else a part of title or application.
pub(super) fn find_window(windows: &[WindowInfo], text: &str) -> Result<WindowInfo, WorkspaceError> {
    let wanted = text.trim();
    let folded = wanted.to_lowercase();
    let holds = |whole: &str| whole.to_lowercase().contains(&folded);
    let by_id = windows.iter().find(|window| window.id.to_string() == wanted);
    let by_title = || windows.iter().find(|window| window.title == wanted);
    if let Some(window) = by_id.or_else(by_title) {
        return Ok(window.clone());
    }
    let matching: Vec<&WindowInfo> =
        windows.iter().filter(|window| holds(&window.title) || holds(&window.app.name)).collect();
    // A dialog is meant by its own title; otherwise the window that it belongs to is.
    let main: Vec<&WindowInfo> =
        matching.iter().copied().filter(|window| window.kind == WindowKind::Normal).collect();
    match (main.as_slice(), matching.as_slice()) {
        ([window], _) | ([], [window]) => Ok((*window).clone()),
        ([], []) => {
            Err(WorkspaceError::NoSuchWindow { wanted: wanted.to_owned(), windows: windows.to_vec() })
        }
        (_, several) => Err(WorkspaceError::SeveralWindows {
            wanted: wanted.to_owned(),
            windows: several.iter().copied().cloned().collect(),
        }),
    }
}
