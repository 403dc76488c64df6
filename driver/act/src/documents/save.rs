//! Saves the document of a window to its own file.

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult,
    keys::{ChordKey, KeyChord, KeyModifier},
};
use deskhand_ui::{
    WindowInfo, WindowKind,
    action::{ActionKind, ActionOutcome, ActionRefusal, ActionRoute, Aim},
    ids::WindowId,
};

use super::{questions::SaveDialogAnswers, saving::DocumentSaveWait};
use crate::{
    report::{ActLimits, ActionReport, Halt, carry_out},
    surfaces::bring_to_front,
};

/// Saves the document of a window by Ctrl+S, and waits until its file is written. If the application asks whether to keep the
/// format of the file, `keep_format` is the answer.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn save<D: Desktop>(
    desktop: &D,
    window: WindowId,
    keep_format: Option<bool>,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    carry_out(ActionKind::Save, save_to_own_file(desktop, window, keep_format, limits)).await
}

async fn save_to_own_file<D: Desktop>(
    desktop: &D,
    window: WindowId,
    keep_format: Option<bool>,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let main = document_window(desktop, window).await?;
    let saving = DocumentSaveWait::begin(desktop, &main).await?;
    if let Some(proof) = saving.saved_already() {
        return Ok(ActionOutcome::new(ActionKind::Save, Aim::window(&main), proof).into());
    }
    desktop.press(&KeyChord { modifiers: vec![KeyModifier::Ctrl], key: ChordKey::Char('s') }).await?;
    let saved = saving
        .finish(desktop, SaveDialogAnswers { keep_format, ..SaveDialogAnswers::default() }, limits)
        .await?;
    let action =
        ActionOutcome::new(ActionKind::Save, Aim::window(&main), saved.evidence).by(ActionRoute::Input);
    Ok(ActionReport::from(action.after(saved.waited_ms)).with_window(saved.asks))
}

/// The window, focused and without a dialog in front.
pub(super) async fn document_window<D: Desktop>(desktop: &D, window: WindowId) -> Result<WindowInfo, Halt> {
    let front = bring_to_front(desktop, window).await?;
    if front.id != window && front.kind == WindowKind::Dialog {
        return Err(ActionRefusal::DialogInFront { dialog: (&front).into(), of: None }.into());
    }
    own_window(desktop, window).await
}

/// The window itself.
pub(super) async fn own_window<D: Desktop>(desktop: &D, window: WindowId) -> Result<WindowInfo, Halt> {
    let windows = desktop.windows().await?;
    let main = windows.into_iter().find(|info| info.id == window);
    Ok(main.ok_or(DesktopError::NoWindow(window))?)
}
