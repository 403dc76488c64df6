//! Saves the document of a window to its own file.

use deskhand_core::{
    action::{Act, Action, Aim, Refusal},
    command::Route,
    ids::WindowId,
    ui::{WindowInfo, WindowKind},
};
use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult,
    keys::{Key, KeyChord, Modifier},
};

use super::{questions::Answers, saving::Saving};
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
    carry_out(Act::Save, save_to_own_file(desktop, window, keep_format, limits)).await
}

async fn save_to_own_file<D: Desktop>(
    desktop: &D,
    window: WindowId,
    keep_format: Option<bool>,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let main = document_window(desktop, window).await?;
    let saving = Saving::begin(desktop, &main).await?;
    if let Some(proof) = saving.saved_already() {
        return Ok(Action::new(Act::Save, Aim::window(&main), proof).into());
    }
    desktop.press(&KeyChord { modifiers: vec![Modifier::Ctrl], key: Key::Char('s') }).await?;
    let saved = saving.finish(desktop, Answers { keep_format, ..Answers::default() }, limits).await?;
    let action = Action::new(Act::Save, Aim::window(&main), saved.evidence).by(Route::Input);
    Ok(ActionReport::from(action.after(saved.waited_ms)).with_window(saved.asks))
}

/// The window, focused and without a dialog in front.
pub(super) async fn document_window<D: Desktop>(desktop: &D, window: WindowId) -> Result<WindowInfo, Halt> {
    let front = bring_to_front(desktop, window).await?;
    if front.id != window && front.kind == WindowKind::Dialog {
        return Err(Refusal::DialogInFront { dialog: (&front).into(), of: None }.into());
    }
    own_window(desktop, window).await
}

/// The window itself.
pub(super) async fn own_window<D: Desktop>(desktop: &D, window: WindowId) -> Result<WindowInfo, Halt> {
    let windows = desktop.windows().await?;
    let main = windows.into_iter().find(|info| info.id == window);
    Ok(main.ok_or(DesktopError::NoWindow(window))?)
}
