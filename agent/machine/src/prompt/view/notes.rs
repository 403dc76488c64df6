//! Notes behind the name of an element: its states, the size of a table.

use deskhand_ui::{Element, ElementCapability, ElementSource, Role, State};

/// Returns `true` if the text merely repeats the element's value: `5.00` says no more than 5.
pub(super) fn repeats_value(element: &Element, text: &str) -> bool {
    let number: Option<f64> = text.trim().parse().ok();
    element.value.zip(number).is_some_and(|(value, number)| (value.current - number).abs() < f64::EPSILON)
}

/// A table with as many rows is a sheet: its size says nothing of what is in it.
const SHEET_ROWS_MIN: u32 = 65_536;

/// The states that are listed where an element has them.
pub(super) const NOTABLE: [State; 8] = [
    State::Focused,
    State::Checked,
    State::Selected,
    State::Expanded,
    State::Pressed,
    State::Busy,
    State::Required,
    State::Modal,
];

/// The notable states; those usual for the role are omitted.
pub(super) fn notes(element: &Element) -> Vec<String> {
    let has = |state| element.states.has(state);
    let mut notes: Vec<String> =
        NOTABLE.iter().filter(|state| has(**state)).map(|state| state.name().to_owned()).collect();
    if has(State::Expandable) && !has(State::Expanded) {
        notes.push("collapsed".to_owned());
    }
    let takes_text =
        [Role::ENTRY, Role::PASSWORD_TEXT, Role::TEXT, Role::SPIN_BUTTON].contains(&element.role);
    if has(State::ReadOnly)
        || (takes_text && element.offers(ElementCapability::Text) && !has(State::Editable))
    {
        notes.push(State::ReadOnly.name().to_owned());
    }
    if element.role.is_interactive() && !element.states.takes_input() {
        notes.push("disabled".to_owned());
    }
    if let Some(shape) = element.table.filter(|shape| shape.rows < SHEET_ROWS_MIN) {
        notes.push(format!("{} rows × {} columns", shape.rows, shape.columns));
    }
    if element.source != ElementSource::AtSpi {
        notes.push(format!("by {}", element.source.word()));
    }
    notes
}
