//! Saves the document of a window to another file, by the application's own dialog.

use std::time::Duration;

use deskhand_desktop::{
    Desktop, DesktopResult, QuietLimits,
    keys::{ChordKey, KeyChord, KeyModifier},
};
use deskhand_ui::{
    Element, Role, State, WindowInfo, WindowKind,
    action::{
        ActionKind, ActionOutcome, ActionRefusal, ActionRoute, Aim, Evidence, Shortfall, TEXT_MAX, Verdict,
    },
    belongs_to,
    duration::milliseconds,
    fold_name,
    ids::WindowId,
    names_equal, same_app,
    text::clip,
};

use super::{
    file_dialog::{accept, asks_for_file, enter_name, name_field, still_reads},
    questions::SaveDialogAnswers,
    save::{document_window, own_window},
    saving::DocumentSaveWait,
};
use crate::{
    patience::read_tree,
    report::{ActLimits, ActionReport, Halt, carry_out},
    select::select,
    surfaces::{bring_to_front, surfaces},
    visit::visit,
};

/// The longest wait for the dialog.
const DIALOG_MAX: Duration = Duration::from_secs(8);
/// Maximum number of looks at the windows for the dialog.
const LOOKS_MAX: usize = 200;
/// The names of the menu and of its item.
const FILE_MENU: &str = "File";
const SAVE_AS_ITEM: &str = "Save As…";
/// The names of the button that saves, in the order of preference.
const SAVE_BUTTONS: [&str; 4] = [SAVE_BUTTON, "ok", "save as", EXPORT_BUTTON];
/// Those that tell that a dialog saves or exports.
const SAVE_BUTTON: &str = "save";
const EXPORT_BUTTON: &str = "export";

/// Destination of a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveAsOptions {
    /// The file; `~` stands for the home folder.
    pub path: String,
    /// The format, by its name in the dialog, where the extension does not tell.
    pub format: Option<String>,
    /// The answer if the application asks whether to keep that format.
    pub keep_format: Option<bool>,
    /// `true` if a file that exists may be replaced.
    pub overwrite: bool,
}

/// Saves the document of a window to a file, and waits until it is written: by the dialog to save or to export that is open already,
/// else by the one of the menu.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn save_as<D: Desktop>(
    desktop: &D,
    window: WindowId,
    wanted: &SaveAsOptions,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    let act = ActionKind::SaveAs { path: wanted.path.clone() };
    carry_out(act, save_to(desktop, window, wanted, limits)).await
}

async fn save_to<D: Desktop>(
    desktop: &D,
    window: WindowId,
    wanted: &SaveAsOptions,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let file = desktop.file(&wanted.path).await?;
    if file.is_folder || (file.stamp.is_some() && !wanted.overwrite) {
        return Err(ActionRefusal::FileExists { path: file.path, is_folder: file.is_folder }.into());
    }
    if !file.has_folder {
        return Err(ActionRefusal::NoFile { path: file.path, folder: true, near: Vec::new() }.into());
    }
    let open = saving_dialog(desktop, window).await?;
    let main = match &open {
        Some(_) => own_window(desktop, window).await?,
        None => document_window(desktop, window).await?,
    };
    let act = ActionKind::SaveAs { path: file.path.clone() };
    let done = |evidence: Evidence, waited_ms: u64| {
        ActionOutcome::new(act.clone(), Aim::window(&main), evidence).by(ActionRoute::Input).after(waited_ms)
    };
    let exports = open.as_ref().is_some_and(|(_, exports)| *exports);
    let dialog = match open {
        Some((dialog, _)) => Some(bring_to_front(desktop, dialog.id).await?),
        None => open_dialog(desktop, &main, limits).await?,
    };
    let Some(dialog) = dialog else {
        let nothing = Shortfall::NothingChanged { pixels: false, then: None };
        return Ok(done(nothing.into(), milliseconds(DIALOG_MAX)).into());
    };
    let saving = DocumentSaveWait::to_file(desktop, &main, &file.path).await?.that_exports(exports);
    if let Some(text) = enter_name(desktop, &dialog, &file.path).await? {
        let otherwise = Shortfall::ReadsOtherwise { text: clip(&text, TEXT_MAX), around: None };
        return Ok(ActionReport::from(done(otherwise.into(), 0)).with_window(Some(dialog)));
    }
    if let Some(format) = &wanted.format
        && !choose_format(desktop, &dialog, format, limits).await?
    {
        let missing = Shortfall::NotReached { way: None };
        return Ok(ActionReport::from(done(missing.into(), 0)).with_window(Some(dialog)));
    }
    let answers = SaveDialogAnswers {
        keep_format: wanted.keep_format,
        overwrite: wanted.overwrite,
        accept_options: wanted.keep_format == Some(true) || wanted.format.is_some(),
    };
    accept(desktop, &dialog, &SAVE_BUTTONS, limits).await?;
    let mut saved = saving.finish(desktop, answers, limits).await?;
    // GTK 3 forgets the press when it comes while a folder is still being read: the dialog stays as it was, and a person presses again.
    if saved.is_missing() && still_reads(desktop, &dialog, &file.path).await? {
        accept(desktop, &dialog, &SAVE_BUTTONS, limits).await?;
        let waited_ms = saved.waited_ms;
        saved = saving.finish(desktop, answers, limits).await?;
        saved.waited_ms += waited_ms;
    }
    Ok(ActionReport::from(done(saved.evidence, saved.waited_ms)).with_window(saved.asks))
}

/// The dialog to save that is open already, and whether it exports: the topmost one with a field for a name and a button that saves.
async fn saving_dialog<D: Desktop>(
    desktop: &D,
    window: WindowId,
) -> Result<Option<(WindowInfo, bool)>, Halt> {
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        let is_main = surface.id == window && surface.kind != WindowKind::Dialog;
        if is_main || surface.kind.is_popup() {
            continue;
        }
        let tree = read_tree(desktop, surface.id).await?;
        let has_button = |name: &str| {
            let fits = |one: &Element| one.role == Role::PUSH_BUTTON && fold_name(&one.name) == name;
            tree.elements.iter().any(fits)
        };
        let exports = has_button(EXPORT_BUTTON);
        if asks_for_file(&tree) && (exports || has_button(SAVE_BUTTON)) {
            return Ok(Some((surface, exports)));
        }
    }
    Ok(None)
}

/// Opens the dialog by the menu, if the window has one, else by Ctrl+Shift+S.
async fn open_dialog<D: Desktop>(
    desktop: &D,
    main: &WindowInfo,
    limits: &ActLimits,
) -> Result<Option<WindowInfo>, Halt> {
    let known = desktop.windows().await?;
    let tree = read_tree(desktop, main.id).await?;
    let has_menu = tree.elements.iter().any(|element| {
        element.role == Role::MENU
            && names_equal(&element.name, FILE_MENU)
            && element.states.has(State::Showing)
    });
    if has_menu {
        let path = [FILE_MENU.to_owned(), SAVE_AS_ITEM.to_owned()];
        visit(desktop, main.id, &path, limits).await?;
    } else {
        let modifiers = vec![KeyModifier::Ctrl, KeyModifier::Shift];
        desktop.press(&KeyChord { modifiers, key: ChordKey::Char('s') }).await?;
    }
    let mut waited_ms = 0;
    for _ in 0..LOOKS_MAX {
        let watch = desktop.watch(None).await?;
        let windows = desktop.windows().await?;
        let is_new = |info: &&WindowInfo| {
            !info.kind.is_popup()
                && known.iter().all(|before| before.id != info.id)
                && (belongs_to(&windows, info, main) || same_app(info, main))
        };
        let opened = windows.iter().rev().find(is_new);
        if let Some(dialog) = opened
            && name_field(desktop, dialog).await?.is_some()
        {
            return Ok(Some(dialog.clone()));
        }
        if waited_ms >= milliseconds(DIALOG_MAX) {
            break;
        }
        let left = DIALOG_MAX.saturating_sub(Duration::from_millis(waited_ms));
        let quiet = QuietLimits { first_change: left, ..limits.quiet };
        waited_ms += desktop.settle(watch, quiet).await?.waited_ms.max(1);
    }
    Ok(None)
}

/// Selects the format in one of the dialog's lists; false if none has it.
async fn choose_format<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
    format: &str,
    limits: &ActLimits,
) -> Result<bool, Halt> {
    let tree = read_tree(desktop, dialog.id).await?;
    let lists = tree.elements.iter().filter(|element| element.role == Role::COMBO_BOX);
    for list in lists.filter(|list| list.states.takes_input()) {
        let chosen = select(desktop, dialog.id, list.id, format, limits).await?;
        if chosen.effect() == Verdict::Seen {
            return Ok(true);
        }
    }
    Ok(false)
}
