//! The dialog in which an application asks for a file: its field for the name, and the button that takes it.

use deskhand_desktop::{
    Desktop, DesktopError, DesktopResult, ElementAction, QuietLimits,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::{Element, ElementCapability, Role, State, Tree, WindowInfo, action::TEXT_MAX, fold_name};

use super::questions::buttons;
use crate::{
    click::{Click, click_once},
    patience::{patiently, read_tree},
    report::{ActLimits, ActionTarget, Halt},
};

/// The field for the name in a dialog; `None` also if the dialog is gone.
pub(super) async fn name_field<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
) -> DesktopResult<Option<Element>> {
    match read_tree(desktop, dialog.id).await {
        Err(DesktopError::NoWindow(_)) => Ok(None),
        tree => Ok(name_field_in(&tree?).cloned()),
    }
}

/// Returns `true` if a dialog asks for a file: its application says so, or labels a field for its name.
pub(super) fn asks_for_file(tree: &Tree) -> bool {
    let says_so =
        |one: &Element| one.role == Role::FILE_CHOOSER || (one.role == Role::LABEL && means_name(&one.name));
    tree.elements.iter().any(says_so) && name_field_in(tree).is_some()
}

fn means_name(label: &str) -> bool {
    let name = fold_name(label);
    ["name", "file name", "filename"].contains(&name.trim_end_matches(':'))
}

/// The field for the name: the one that is named so, else the one with the focus, else the only one. Names in lists may be editable, too.
pub(super) fn name_field_in(tree: &Tree) -> Option<&Element> {
    let takes_text = |element: &&Element| {
        element.offers(ElementCapability::EditableText)
            && element.states.takes_input()
            && element.role != Role::COMBO_BOX
    };
    let fields: Vec<&Element> = tree.elements.iter().filter(takes_text).collect();
    let focused = fields.iter().find(|element| element.states.has(State::Focused));
    let only = || {
        let mut entries = fields.iter().filter(|one| [Role::ENTRY, Role::TEXT].contains(&one.role));
        entries.next().filter(|_| entries.next().is_none())
    };
    fields.iter().find(|one| means_name(&one.name)).or(focused).or_else(only).copied()
}

/// Puts the path into the name field; returns what it reads if that is something else.
pub(super) async fn enter_name<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
    path: &str,
) -> Result<Option<String>, Halt> {
    let Some(field) = name_field(desktop, dialog).await? else { return Ok(Some(String::new())) };
    let read = || patiently(|| desktop.text(field.id, path.len().saturating_add(TEXT_MAX)));
    match desktop.perform(field.id, &ElementAction::SetText(path.to_owned())).await {
        Ok(()) if read().await? == path => return Ok(None),
        Ok(()) | Err(DesktopError::NotOffered { .. } | DesktopError::Failed { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    type_name(desktop, dialog, path).await
}

/// Types the path into the name field, in place of what is there; returns what it reads if that is something else. GTK completes a
/// path only where it was typed; what it adds is selected behind the caret.
pub(super) async fn type_name<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
    path: &str,
) -> Result<Option<String>, Halt> {
    let Some(field) = name_field(desktop, dialog).await? else { return Ok(Some(String::new())) };
    if !desktop.element(field.id).await?.states.has(State::Focused) {
        desktop.perform(field.id, &ElementAction::Focus).await?;
    }
    desktop.press(&KeyChord { modifiers: vec![KeyModifier::Ctrl], key: ChordKey::Char('a') }).await?;
    let watch = desktop.watch(Some(dialog.id)).await?;
    desktop.enter(path, &[NamedKey::Delete.into()]).await?;
    desktop.settle(watch, QuietLimits::default()).await?;
    let text = patiently(|| desktop.text(field.id, path.len().saturating_add(TEXT_MAX))).await?;
    Ok((text != path).then_some(text))
}

/// Returns `true` if the dialog is still there with this path in its name field.
pub(super) async fn still_reads<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
    path: &str,
) -> Result<bool, Halt> {
    let Some(field) = name_field(desktop, dialog).await? else { return Ok(false) };
    Ok(patiently(|| desktop.text(field.id, path.len().saturating_add(TEXT_MAX))).await? == path)
}

/// Presses the first button of these names, or Return where there is none.
pub(super) async fn accept<D: Desktop>(
    desktop: &D,
    dialog: &WindowInfo,
    names: &[&str],
    limits: &ActLimits,
) -> Result<(), Halt> {
    let buttons = buttons(desktop, dialog).await?;
    let named = |name: &&str| buttons.iter().find(|button| fold_name(&button.name) == **name);
    match names.iter().find_map(named) {
        Some(button) => {
            let target = ActionTarget::Element { id: button.id, name: Some(button.name.clone()) };
            click_once(desktop, dialog.id, &Click::once(target), limits).await?;
        }
        None => {
            desktop.press(&NamedKey::Return.into()).await?;
        }
    }
    Ok(())
}
