//! Chooses a file in the dialog in which an application asks for one to open.

use std::time::Duration;

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, QuietLimits,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::{
    Role, Tree, WindowInfo, WindowKind,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, ElementRef, Evidence,
        Shortfall, TEXT_MAX, Uncertainty, WindowRef,
    },
    belongs_to,
    duration::milliseconds,
    ids::{ElementId, WindowId},
    same_app,
    text::clip,
};

use super::file_dialog::{accept, name_field, name_field_in, still_reads, type_name};
use crate::{
    patience::{read_tree, settle_earlier, watch_app},
    report::{ActLimits, ActionReport, Halt, carry_out},
    surfaces::surfaces,
};

/// Maximum time to wait for the dialog to close after each attempt: by Return, and at last by its button.
const ATTEMPTS: [Duration; 4] = [
    Duration::from_millis(700),
    Duration::from_millis(1_500),
    Duration::from_secs(3),
    Duration::from_secs(5),
];
/// The longest wait for the application to show what it has taken.
const SHOWS_MAX: Duration = Duration::from_secs(4);
/// The names of the button that opens, in the order of preference.
const OPEN_BUTTONS: [&str; 4] = ["open", "select", "ok", "choose"];

/// Chooses a file that exists in the open dialog for files, and waits until the application has taken it.
///
/// `seen` if the dialog closed after its field read the path, best with what the application shows of the file; `unknown` if the
/// dialog shows nothing to read, and the application nothing of the file.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn choose_file<D: Desktop>(
    desktop: &D,
    window: WindowId,
    path: &str,
    limits: &ActLimits,
) -> DesktopResult<ActionReport> {
    carry_out(ActionKind::ChooseFile { path: path.to_owned() }, choose(desktop, window, path, limits)).await
}

async fn choose<D: Desktop>(
    desktop: &D,
    window: WindowId,
    path: &str,
    limits: &ActLimits,
) -> Result<ActionReport, Halt> {
    let file = desktop.file(path).await?;
    if file.stamp.is_none() || file.is_folder {
        return Err(
            ActionRefusal::NoFile { path: file.path, folder: !file.has_folder, near: Vec::new() }.into()
        );
    }
    let Some(dialog) = open_dialog(desktop, window).await? else {
        return Err(ActionRefusal::NoFileDialog.into());
    };
    let act = ActionKind::ChooseFile { path: file.path.clone() };
    let done = |evidence: Evidence, waited_ms: u64| {
        ActionOutcome::new(act.clone(), Aim::window(&dialog), evidence)
            .by(ActionRoute::Input)
            .after(waited_ms)
    };
    if !dialog.active {
        desktop.activate(dialog.id).await?;
    }
    let name = file.path.rsplit('/').next().unwrap_or(&file.path).to_owned();
    let before = FileDisplayBaseline::of(desktop, (window, &dialog), &name).await?;
    settle_earlier(desktop, dialog.id).await?;
    let field = reach_field(desktop, &dialog, limits).await?;
    if field == FileNameField::Missing {
        return Ok(ActionReport::from(done(Shortfall::StillOpen.into(), 0)).with_window(Some(dialog)));
    }
    let is_read = field == FileNameField::Reads;
    if !is_read {
        // It tells nothing of itself: a path that is typed goes to its field. A completion is selected behind the caret.
        desktop.enter(&file.path, &[NamedKey::Delete.into()]).await?;
    } else if let Some(text) = type_name(desktop, &dialog, &file.path).await? {
        let text = clip(&text, TEXT_MAX);
        let otherwise = Shortfall::ReadsOtherwise { text, around: None };
        return Ok(ActionReport::from(done(otherwise.into(), 0)).with_window(Some(dialog)));
    }
    let known: Vec<WindowId> = before.windows.iter().map(|info| info.id).collect();
    let mut waited_ms = 0;
    let mut closed = FileDialogOutcome::No;
    // GTK 3 forgets a key that comes while a folder is still being read, and one that comes while it looks for the file: the dialog
    // stays as it was, and a person presses again.
    for (attempt, bound) in ATTEMPTS.into_iter().enumerate() {
        // One that reads something else by now is about to close.
        let asks_again = attempt == 0 || !is_read || still_reads(desktop, &dialog, &file.path).await?;
        if asks_again && attempt + 1 < ATTEMPTS.len() {
            desktop.press(&NamedKey::Return.into()).await?;
        } else if asks_again && is_read {
            accept(desktop, &dialog, &OPEN_BUTTONS, limits).await?;
        }
        closed = closes(desktop, &dialog, (&known, bound), &mut waited_ms).await?;
        if !matches!(closed, FileDialogOutcome::No) {
            break;
        }
    }
    match closed {
        FileDialogOutcome::Yes => {}
        FileDialogOutcome::Asks(asks) => {
            let evidence = Shortfall::Asks { dialog: WindowRef::from(&asks) };
            return Ok(ActionReport::from(done(evidence.into(), waited_ms)).with_window(Some(asks)));
        }
        FileDialogOutcome::No => {
            return Ok(
                ActionReport::from(done(Shortfall::StillOpen.into(), waited_ms)).with_window(Some(dialog))
            );
        }
    }
    let evidence = match before.news(desktop, (window, &dialog), &name, &mut waited_ms).await? {
        Some(proof) => proof.into(),
        None if is_read => ActionProof::WindowClosed { window: WindowRef::from(&dialog) }.into(),
        None => Uncertainty::NothingShown.into(),
    };
    Ok(done(evidence, waited_ms).into())
}

/// The topmost dialog for a file of the window: one with a field for a name, one that lists files, or one that tells nothing of itself.
async fn open_dialog<D: Desktop>(desktop: &D, window: WindowId) -> Result<Option<WindowInfo>, Halt> {
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        if surface.kind.is_popup() || surface.id == window {
            continue;
        }
        let tree = read_tree(desktop, surface.id).await?;
        let is_dialog = surface.kind == WindowKind::Dialog;
        let seems_so = is_dialog && (tree.lists_files() || tree.has_no_controls());
        if says_so(&tree) || seems_so || name_field_in(&tree).is_some() {
            return Ok(Some(surface));
        }
    }
    Ok(None)
}

/// Returns `true` if a dialog says that it is for files.
fn says_so(tree: &Tree) -> bool {
    tree.elements.iter().any(|one| one.role == Role::FILE_CHOOSER)
}

/// The field for the name.
#[derive(Debug, PartialEq, Eq)]
enum FileNameField {
    /// The field can be read.
    Reads,
    /// The dialog does not tell whether it has one.
    Hidden,
    /// The dialog has none: it is for something else.
    Missing,
}

/// Finds the field for the name; GTK shows it after Ctrl+L. The list of recent files of GTK 2 knows no such key: a slash leaves it, and the next one
/// shows the field.
async fn reach_field<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
    limits: &ActLimits,
) -> Result<FileNameField, Halt> {
    let tree = read_tree(desktop, dialog.id).await?;
    if name_field_in(&tree).is_some() {
        return Ok(FileNameField::Reads);
    }
    if tree.has_no_controls() {
        return Ok(FileNameField::Hidden);
    }
    let key =
        |modifiers: &[KeyModifier], key| KeyChord { modifiers: modifiers.to_vec(), key: ChordKey::Char(key) };
    let location = key(&[KeyModifier::Ctrl], 'l');
    let (keys, without) = match says_so(&tree) {
        true => (vec![location], FileNameField::Hidden),
        false => (vec![location, key(&[], '/'), key(&[], '/')], FileNameField::Missing),
    };
    for key in &keys {
        let watch = watch_app(desktop, dialog.id).await?;
        desktop.press(key).await?;
        desktop.settle(watch, limits.quiet).await?;
        if name_field(desktop, dialog).await?.is_some() {
            return Ok(FileNameField::Reads);
        }
    }
    Ok(without)
}

/// Outcome of closing the dialog.
enum FileDialogOutcome {
    Yes,
    /// Another one asks something first.
    Asks(WindowInfo),
    No,
}

/// Waits until the dialog is closed, at most so long.
async fn closes<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
    (known, bound): (&[WindowId], Duration),
    waited_ms: &mut u64,
) -> Result<FileDialogOutcome, Halt> {
    let bound_ms = *waited_ms + milliseconds(bound);
    loop {
        let watch = desktop.watch(None).await?;
        let windows = desktop.windows().await?;
        if windows.iter().all(|info| info.id != dialog.id) {
            return Ok(FileDialogOutcome::Yes);
        }
        let asks = |info: &&WindowInfo| {
            info.kind == WindowKind::Dialog
                && !known.contains(&info.id)
                && (belongs_to(&windows, info, dialog) || same_app(info, dialog))
        };
        if let Some(asks) = windows.iter().find(asks) {
            return Ok(FileDialogOutcome::Asks(asks.clone()));
        }
        if *waited_ms >= bound_ms {
            return Ok(FileDialogOutcome::No);
        }
        let left = Duration::from_millis(bound_ms - *waited_ms);
        let quiet = QuietLimits { quiet: Duration::ZERO, first_change: left, bound: left };
        *waited_ms += desktop.settle(watch, quiet).await?.waited_ms.max(1);
    }
}

/// Windows and elements in which the application shows a file, before it was chosen.
struct FileDisplayBaseline {
    windows: Vec<WindowInfo>,
    elements: Vec<(ElementId, String)>,
}

impl FileDisplayBaseline {
    async fn of<D: Desktop>(desktop: &D, of: (WindowId, &WindowInfo), name: &str) -> DesktopResult<Self> {
        let windows = desktop.windows().await?;
        let elements = mentions(desktop, &windows, of, name).await?;
        let elements = elements.into_iter().map(|(element, text)| (element.id, text)).collect();
        Ok(Self { windows, elements })
    }

    /// Waits until the application shows the name of the file where it did not before.
    async fn news<D: Desktop>(
        &self,
        desktop: &D,
        of: (WindowId, &WindowInfo),
        name: &str,
        waited_ms: &mut u64,
    ) -> Result<Option<ActionProof>, Halt> {
        let bound_ms = *waited_ms + milliseconds(SHOWS_MAX);
        loop {
            let watch = desktop.watch(None).await?;
            let windows = desktop.windows().await?;
            let before = |info: &WindowInfo| self.windows.iter().find(|one| one.id == info.id);
            let titled = |info: &&WindowInfo| {
                info.title.contains(name)
                    && takes_part(info, of, &windows)
                    && before(info).is_none_or(|before| before.title != info.title)
            };
            if let Some(info) = windows.iter().find(titled) {
                return Ok(Some(ActionProof::TitleChanged { title: info.title.clone() }));
            }
            let is_new = |(element, text): &(ElementRef, String)| {
                self.elements.iter().all(|(id, known)| (*id, known) != (element.id, text))
            };
            let now = mentions(desktop, &windows, of, name).await?;
            if let Some((element, text)) = now.into_iter().find(is_new) {
                return Ok(Some(ActionProof::Says { element, text: clip(&text, TEXT_MAX) }));
            }
            if *waited_ms >= bound_ms {
                return Ok(None);
            }
            let left = Duration::from_millis(bound_ms - *waited_ms);
            let quiet = QuietLimits { quiet: Duration::ZERO, first_change: left, bound: left };
            *waited_ms += desktop.settle(watch, quiet).await?.waited_ms.max(1);
        }
    }
}

/// Returns `true` if a window is one of the application that gets the file. Its dialog may be that of another program, as of a portal.
fn takes_part(info: &WindowInfo, (window, dialog): (WindowId, &WindowInfo), windows: &[WindowInfo]) -> bool {
    let main = windows.iter().find(|info| info.id == window);
    info.id != dialog.id && (same_app(info, dialog) || main.is_some_and(|main| same_app(info, main)))
}

/// The elements of the application's other windows that name a file, with what they say.
async fn mentions<D: Desktop>(
    desktop: &D,
    windows: &[WindowInfo],
    of: (WindowId, &WindowInfo),
    name: &str,
) -> DesktopResult<Vec<(ElementRef, String)>> {
    let mut found = Vec::new();
    for info in windows.iter().filter(|info| takes_part(info, of, windows)) {
        let tree = match read_tree(desktop, info.id).await {
            Err(DesktopError::NoWindow(_)) => continue,
            other => other?,
        };
        for element in &tree.elements {
            let texts = [Some(element.name.as_str()), element.text.as_deref()];
            if let Some(text) = texts.into_iter().flatten().find(|text| text.contains(name)) {
                found.push((element.into(), text.to_owned()));
            }
        }
    }
    Ok(found)
}
