//! Dialogs that only say something: one button closes them, and there is nothing to decide.

use super::selector::Selector;
use deskhand_ui::{Element, Role, State, Surface, WindowView, fold_name, ids::ElementId};

/// The names of a button that only closes.
const CLOSING: &[&str] = &[
    "ok",
    "close",
    "got it",
    "dismiss",
    "done",
    "schließen",
    "fermer",
    "cerrar",
    "aceptar",
    "chiudi",
    "sluiten",
    "zamknij",
    "fechar",
    "zavřít",
    "关闭",
    "确定",
    "閉じる",
    "закрыть",
];

/// The only button of the dialog in front, if that dialog only says something: it is modal, has nothing to fill in or choose, and its
/// button is one that closes.
pub(super) fn dismissal(view: &WindowView) -> Option<(ElementId, Selector)> {
    let front = view.surfaces.last().filter(|surface| surface.is_modal())?;
    let button = only_button(front)?;
    let selector = Selector::of(view, button.id)?;
    Some((button.id, selector))
}

fn only_button(dialog: &Surface) -> Option<&Element> {
    let shown = || dialog.tree.elements.iter().filter(|element| element.states.has(State::Showing));
    if shown().any(decides) {
        return None;
    }
    let mut buttons =
        shown().filter(|element| element.role == Role::PUSH_BUTTON && element.states.takes_input());
    let first = buttons.next()?;
    let is_only = buttons.next().is_none();
    let closes = CLOSING.contains(&fold_name(&first.name).as_str());
    (is_only && closes).then_some(first)
}

/// Returns `true` if an element asks for something.
fn decides(element: &Element) -> bool {
    let asks =
        [Role::ENTRY, Role::CHECK_BOX, Role::COMBO_BOX, Role::RADIO_BUTTON, Role::PASSWORD_TEXT, Role::LINK];
    asks.contains(&element.role) || element.states.has(State::Editable)
}
