//! Commands that may move the keyboard to another field.

use serde_json::Value;

use crate::{command::ToolCommand, intent::Does, policy::element_at};
use deskhand_ui::{
    Element, Role, State, WindowView,
    keys::{ChordKey, NamedKey},
};

/// Returns `true` if the keyboard may go to another field after a command than before it: the command may bring fields that were not there, or it
/// moves on in a form with a password.
pub(super) fn may_move_keyboard(command: &ToolCommand, view: &WindowView) -> bool {
    opens_unnamed(command, view) || (shows_password(view) && moves_keyboard(command))
}

/// Returns `true` if a command may bring fields that were not there: it presses something, or Return.
fn opens_unnamed(command: &ToolCommand, view: &WindowView) -> bool {
    let mut chords = command.intent.chords().peekable();
    match chords.peek() {
        Some(_) => chords.any(|chord| matches!(chord.key, ChordKey::Named(NamedKey::Return))),
        None => command.intent.may_go_on() && !goes_to_text(command, view),
    }
}

/// Returns `true` if a command is aimed at nothing but fields for texts that are shown, so that the keyboard goes there and nothing opens.
fn goes_to_text(command: &ToolCommand, view: &WindowView) -> bool {
    let takes_text = |element: Option<&Element>| {
        element.is_some_and(|one| one.states.has(State::Editable) && one.role != Role::PASSWORD_TEXT)
    };
    let elements = command.intent.elements().map(|id| view.elements().find(|one| one.id == id));
    let places = command.intent.places().map(|(x, y)| element_at(x, y, view));
    let mut aimed = elements.chain(places).peekable();
    aimed.peek().is_some() && aimed.all(takes_text)
}

/// Returns `true` if a command may move the keyboard to another field: by keys, or by a tab in a text.
fn moves_keyboard(command: &ToolCommand) -> bool {
    let types = command.intent.does == Does::Type;
    let tabs = || command.arguments.values().filter_map(Value::as_str).any(|text| text.contains('\t'));
    command.intent.chords().next().is_some() || (types && tabs())
}

/// Returns `true` if a window shows a field for passwords.
pub(super) fn shows_password(view: &WindowView) -> bool {
    view.elements().any(|element| element.role == Role::PASSWORD_TEXT)
}
